"""Sweeps: a plan, read from a YAML file, and its cells, which run side by side in processes.

A plan is sources × memories × settings × profiles × seeds. A cell is one of the combinations.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.answers import CONTEXT, answering_model, judge_prompts
from keepsake.lab.benchmarks import VAULT, Trial, read_trials
from keepsake.lab.conversation import fault_of
from keepsake.lab.evaluate import RECALLED, Evaluation, Row, evaluated, limited
from keepsake.lab.probes import LOADS, probe_trials
from keepsake.models.embedders import named_embedder
from keepsake.models.profiles import EMBEDDED
from keepsake.paths import Places

NONE = "none"
"""The profile of a cell in which nobody answers: what the memory finds is all that is measured."""
ENDED = "Its process was ended from outside: is there memory for it?"
_GUIDE = 'docs/evaluation.md, "Sweeps", has the form of a plan'
_embedder = cache(named_embedder)  # one a process

# -- the form of a plan


_AS_LIST = BeforeValidator(lambda value: value if isinstance(value, list | tuple) else [value])
type _Scalar = bool | int | float | str
type _OneOrMore[T] = Annotated[tuple[T, ...], _AS_LIST, Field(min_length=1)]
type _Count = Annotated[int, Field(strict=True, ge=0)]
type _Axes = dict[str, _OneOrMore[_Scalar]]
"""Settings, each with the values that it has in turn."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Probes(_Form):
    """Lives that a seed makes up; see :func:`probe_trials`."""

    loads: _OneOrMore[int] = LOADS
    held_out: bool = False


class TrialSource(_Form):
    """Where trials come from: a file (or a folder of files, or ``vault:NAME``), or probes."""

    file: Path | None = None
    probes: Probes | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.file is None) == (self.probes is None):
            raise ValueError("it is one of `file: PATH` and `probes: {}`")
        return self

    @property
    def name(self) -> str:
        """What tables call it."""
        if self.probes is None:
            return Path(str(self.file)).stem
        loads = "/".join(map(str, self.probes.loads))
        return f"probes, {loads} a day, {'not ' * (not self.probes.held_out)}held out"

    def trials(self, seed: int) -> list[Trial]:
        """The lives with their questions.

        Raises:
            KeepsakeError: The file cannot be read.
        """
        if self.probes is None:
            return read_trials(Path(str(self.file)))
        return probe_trials(seed, **dict(self.probes))


class _MemoryForm(_Form):
    name: str
    set: _Axes = {}


class _Shared(_Form):
    """What a plan and its cells have in common."""

    judge: str = ""  # which profile of llm.md judges the answers; empty for none
    judges: str = ""  # a YAML file of the judge's prompts; empty for ours
    writer: str = ""  # which one writes the memory's summaries; empty for rules
    embedder: str = EMBEDDED  # see :func:`named_embedder`
    parallel: Annotated[int, Field(strict=True, ge=1, le=64)] = 1  # answers asked for at once
    # dollars of a million tokens, asked and answered
    prices: tuple[float, float] = (0.0, 0.0)
    questions: _Count = 0  # in all; 0 for all there are
    budget: _Count = 0  # tokens of the lines of a prompt; 0 for what the profile has room for
    recalled: _Count = 0  # lines that the memory may give for a question; 0 for 100


class _PlanFile(_Shared):
    sources: _OneOrMore[TrialSource]
    memories: _OneOrMore[_MemoryForm | str]
    name: str = ""
    set: _Axes = {}
    seeds: _OneOrMore[_Count] = (1,)
    profiles: _OneOrMore[str] = (NONE,)


class TrialCell(_Shared):
    """The exact configuration of one run."""

    source: TrialSource
    memory: str  # by its name
    settings: tuple[tuple[str, str], ...] = ()  # the memory's own
    seed: int = 1
    profile: str = ""  # which profile of llm.md answers; empty where only recall is measured

    @property
    def name(self) -> str:
        """Memory and settings; without an embedder, too, by which ``rag`` is BM25."""
        own = self.settings + (("embedder", NONE),) * (self.embedder == NONE)
        return " ".join((self.memory, *(f"{key}={value}" for key, value in own)))

    @property
    def arm(self) -> str:
        """What a sweep compares: memory, settings, and the profile that answers."""
        return f"{self.name}, {self.profile}" if self.profile else self.name

    def as_json(self) -> dict[str, Any]:
        """The configuration for files."""
        own = {"source": self.source.name, "settings": dict(self.settings)}
        return self.model_dump() | own


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """A plan as it was read."""

    name: str  # what the report calls it
    text: str  # the file, word for word
    cells: tuple[TrialCell, ...]  # in the order of the plan, none twice


def read_plan(path: Path) -> SweepPlan:
    """Read a plan; files that it names are looked for beside it.

    Raises:
        KeepsakeError: It cannot be read, or names what there cannot be.
    """
    with refusing(f"{path} cannot be read", _GUIDE, yaml.YAMLError, UnicodeDecodeError):
        text = path.read_text(encoding="utf-8")
        read = yaml.safe_load(text)
    try:
        found = _PlanFile.model_validate(read)
    except ValidationError as error:
        raise KeepsakeError(f"{path}: {fault_of(error)}", _GUIDE) from error
    sources = []
    for source in found.sources:
        file = source.file
        if file is not None and not str(file).startswith(VAULT):
            file = path.parent.resolve() / file
            if not file.exists():
                told = f"{path}: there is no file {file}"
                raise KeepsakeError(told, "Name one from where the plan lies")
        sources.append(source.model_copy(update={"file": file}))
    cells = tuple(dict.fromkeys(_cells(found, sources)))
    return SweepPlan(found.name or path.stem, text, cells)


def _cells(plan: _PlanFile, sources: Sequence[TrialSource]) -> Iterator[TrialCell]:
    """The product of the parts of a plan."""
    memories = [_MemoryForm(name=e) if isinstance(e, str) else e for e in plan.memories]
    arms = [(each.name, own) for each in memories for own in _settings({**plan.set, **each.set})]
    shared = plan.model_dump(include={*_Shared.model_fields})
    for source, (memory, own), profile in itertools.product(sources, arms, plan.profiles):
        cell = TrialCell(source=source, memory=memory, settings=own, profile=profile, **shared)
        if profile == NONE:  # where nobody answers there is nothing to judge
            cell = cell.model_copy(update={"profile": "", "judge": ""})
        # A file that no model answers is the same with every seed: one is enough.
        once = source.file is not None and not cell.profile
        for seed in plan.seeds[:1] if once else plan.seeds:
            yield cell.model_copy(update={"seed": seed})


def _settings(axes: _Axes) -> Iterator[tuple[tuple[str, str], ...]]:
    """Each combination of the values of some settings."""
    for values in itertools.product(*axes.values()):
        written = (str(v).lower() if isinstance(v, bool) else str(v) for v in values)
        yield tuple(zip(axes, written, strict=True))


# -- run


@dataclass(frozen=True, slots=True)
class CellRecord:
    """One cell that was run."""

    cell: TrialCell
    problem: str = ""  # why there are no rows; empty where there are
    seconds: float = 0.0  # that it took
    rows: list[Row] = field(default_factory=list)


def sweep(
    here: Places,
    plan: SweepPlan,
    jobs: int | None = None,
    done: Callable[[CellRecord], None] = lambda _: None,
    *,
    ray: bool = False,
) -> list[CellRecord]:
    """Run all cells of a plan; blocks.

    Args:
        here: Whose configuration and whose models.
        plan: What is run.
        jobs: Processes side by side; None for one a core.
        done: Told of each cell that came to an end.
        ray: Whether a Ray cluster runs them: that of ``RAY_ADDRESS``, else one of this machine. All
            its machines have Keepsake, and the files of plan and configuration at the same paths.

    Returns:
        The records of all cells, in the order of the plan; a failed one says why it failed.

    Raises:
        KeepsakeError: Ray is not installed, or no such cluster answers.
    """
    found, jobs = dict[TrialCell, CellRecord](), min(jobs or os.cpu_count() or 1, len(plan.cells))
    with _cluster() if ray else _processes(jobs) as submit:
        waiting = {submit(recorded, here, cell): cell for cell in plan.cells}
        for future in as_completed(waiting):
            cell, broken = waiting[future], future.exception()  # a kill ends those of all
            found[cell] = CellRecord(cell, ENDED) if broken else future.result()
            done(found[cell])
    return [found[cell] for cell in plan.cells]


type _Submit = Callable[..., Future[CellRecord]]


@contextmanager
def _processes(jobs: int) -> Iterator[_Submit]:
    # Spawned, not forked: a fork would take over the locks of threads that it has not. Ctrl-C ends
    # them at once, without a word.
    spawned, end = multiprocessing.get_context("spawn"), (signal.SIGINT, signal.SIG_DFL)
    with ProcessPoolExecutor(jobs, spawned, initializer=signal.signal, initargs=end) as pool:
        try:
            yield pool.submit
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _cluster() -> Iterator[_Submit]:
    refusals = (ImportError, ConnectionError, RuntimeError, ValueError)
    with refusing("Ray cannot be used", "`pip install ray`, then `ray status`", *refusals):
        ray = import_module("ray")
        ray.init(log_to_driver=False, logging_level="WARNING")
    try:
        yield lambda work, *args: ray.remote(work).remote(*args).future()
    finally:
        ray.shutdown()


def recorded(
    here: Places,
    cell: TrialCell,
    trials: Sequence[Trial] | None = None,
    done: Callable[[], None] = lambda: None,
) -> CellRecord:
    """Run one cell; blocks. An error in it is its own.

    Args:
        here: Whose configuration and whose models.
        cell: What is run.
        trials: Those of the cell, where they are read already.
        done: Called after each question.
    """
    began, problem, rows = time.perf_counter(), "", list[Row]()
    try:
        lives = limited(trials or cell.source.trials(cell.seed), cell.questions)
        names = {cell.profile, cell.judge, cell.writer} - {""}
        models = {name: answering_model(here, name, cell.seed) for name in names}
        answerer = models.get(cell.profile)
        how = Evaluation(
            memory=cell.memory,
            settings=dict(cell.settings),
            embedder=_embedder(cell.embedder),
            writer=models.get(cell.writer),
            answerer=answerer,
            judge=models.get(cell.judge),
            judging=judge_prompts(cell.judges),
            parallel=cell.parallel,
            prices=cell.prices,
            budget=cell.budget or (answerer.budget if answerer else CONTEXT),
            recalled=cell.recalled or RECALLED,
        )
        rows = evaluated(lives, how, done)
    except KeepsakeError as error:
        problem = str(error)
    except Exception as error:  # whatever breaks in somebody's memory; the other cells count
        place = traceback.extract_tb(error.__traceback__)[-1]
        problem = f"It failed: {error!r} ({place.filename}, line {place.lineno})"
    return CellRecord(cell, problem, round(time.perf_counter() - began, 3), rows)
