"""Sweeps: a plan is read from a YAML file, and its cells run in parallel processes.

A plan is sources × memories × settings × profiles × seeds. A cell is one combination.
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
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.answers import CONTEXT, answering_model, judge_prompts
from keepsake.lab.benchmarks import VAULT, Trial, read_trials
from keepsake.lab.conversation import first_error
from keepsake.lab.evaluate import MOST_RECALLED, Evaluation, Row, evaluate, limit_questions
from keepsake.lab.measures import MEASURES
from keepsake.lab.probes import LOADS, probe_trials
from keepsake.logs import Subsystem, get_logger
from keepsake.models.embedders import named_embedder
from keepsake.models.profiles import EMBEDDED
from keepsake.paths import Places

log = get_logger(Subsystem.LAB)

NONE = "none"
"""The profile of a cell in which no model answers: only the memory's retrieval is measured."""
KILLED = "Its process was killed. Check that the machine has enough memory"
_GUIDE = 'See docs/evaluation.md, "Sweeps", for the form of a plan'
_embedder = cache(named_embedder)  # one per process

# -- the keys of a plan


_AS_LIST = BeforeValidator(lambda value: value if isinstance(value, list | tuple) else [value])
type _Scalar = bool | int | float | str
type _OneOrMore[T] = Annotated[tuple[T, ...], _AS_LIST, Field(min_length=1)]
type _Count = Annotated[int, Field(strict=True, ge=0)]
type _Axes = dict[str, _OneOrMore[_Scalar]]
"""Settings, each with the list of values to try."""


class _PlanModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Probes(_PlanModel):
    """Transcripts generated from a seed; see :func:`probe_trials`."""

    loads: _OneOrMore[int] = LOADS
    held_out: bool = False


class TrialSource(_PlanModel):
    """The source of trials: a file (or a folder of files, or ``vault:NAME``), or probes."""

    file: Path | None = None
    probes: Probes | None = None

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if (self.file is None) == (self.probes is None):
            raise ValueError("a source needs either `file: PATH` or `probes: {}`")
        return self

    @property
    def name(self) -> str:
        """The source's name in tables."""
        if self.probes is None:
            return Path(str(self.file)).stem
        loads = "/".join(map(str, self.probes.loads))
        return f"probes, {loads} a day, {'not ' * (not self.probes.held_out)}held out"

    def trials(self, seed: int) -> list[Trial]:
        """Return the trials with their questions.

        Raises:
            KeepsakeError: The file cannot be read.
        """
        if self.probes is None:
            return read_trials(Path(str(self.file)))
        return probe_trials(seed, **dict(self.probes))


class _PlanMemory(_PlanModel):
    name: str
    set: _Axes = {}


class _Shared(_PlanModel):
    """The settings that a plan and its cells share."""

    judge: str = ""  # the profile of llm.md that judges the answers; empty for none
    judges: str = ""  # a YAML file with the judge's prompts; empty for ours
    writer: str = ""  # the profile that writes the memory's summaries; empty for rules
    decompose: str = ""  # the profile that picks lines and searches further; empty for none
    embedder: str = EMBEDDED  # see :func:`named_embedder`
    parallel: Annotated[int, Field(strict=True, ge=1, le=64)] = 1  # answers requested at once
    # dollars per million tokens, input and output
    prices: tuple[float, float] = (0.0, 0.0)
    questions: _Count = 0  # the size of a random sample of questions; 0 for all
    budget: _Count = 0  # tokens of memory lines in a prompt; 0 for what the profile has room for
    recalled: _Count = 0  # the most lines recalled for a question; 0 for 100


class _PlanFile(_Shared):
    sources: _OneOrMore[TrialSource]
    memories: _OneOrMore[_PlanMemory | str]
    name: str = ""
    set: _Axes = {}
    seeds: _OneOrMore[_Count] = (1,)
    profiles: _OneOrMore[str] = (NONE,)
    # the measures that memories are compared by, chosen before the run; empty for the headlines
    compare: tuple[str, ...] = ()

    @field_validator("compare")
    @classmethod
    def _check_measures(cls, named: tuple[str, ...]) -> tuple[str, ...]:
        unknown = [name for name in named if name not in MEASURES]
        if unknown:
            raise ValueError(f"there is no measure {unknown[0]}; there are {', '.join(MEASURES)}")
        return named


class TrialCell(_Shared):
    """The exact configuration of one run."""

    source: TrialSource
    memory: str  # the memory's name
    settings: tuple[tuple[str, str], ...] = ()  # the memory's settings
    seed: int = 1
    profile: str = ""  # the profile of llm.md that answers; empty if only recall is measured

    @property
    def name(self) -> str:
        """Memory and settings; also ``embedder=none``, which turns ``rag`` into BM25."""
        own = self.settings + (("embedder", NONE),) * (self.embedder == NONE)
        return " ".join((self.memory, *(f"{key}={value}" for key, value in own)))

    @property
    def arm(self) -> str:
        """The unit that a sweep compares: memory, settings, and the profile that answers."""
        return f"{self.name}, {self.profile}" if self.profile else self.name

    def as_json(self) -> dict[str, Any]:
        """Return the configuration as JSON data."""
        own = {"source": self.source.name, "settings": dict(self.settings)}
        return self.model_dump() | own


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """A plan read from a file."""

    name: str  # its title in the report
    text: str  # the file's text, unchanged
    cells: tuple[TrialCell, ...]  # in the order of the plan, without duplicates
    compare: tuple[str, ...] = ()  # the measures that memories are compared by; empty for the usual


def read_plan(path: Path) -> SweepPlan:
    """Read a plan. Relative paths in it start at the plan's folder.

    Raises:
        KeepsakeError: The plan cannot be read, has wrong entries, or names a missing file.
    """
    with refusing(f"{path} cannot be read", _GUIDE, yaml.YAMLError, UnicodeDecodeError):
        text = path.read_text(encoding="utf-8")
        read = yaml.safe_load(text)
    try:
        found = _PlanFile.model_validate(read)
    except ValidationError as error:
        raise KeepsakeError(f"{path}: {first_error(error)}", _GUIDE) from error
    sources = []
    for source in found.sources:
        file = source.file
        if file is not None and not str(file).startswith(VAULT):
            file = path.parent.resolve() / file
            if not file.exists():
                what = f"{path}: there is no file {file}"
                raise KeepsakeError(what, "Relative paths start at the plan's folder")
        sources.append(source.model_copy(update={"file": file}))
    cells = tuple(dict.fromkeys(_cells(found, sources)))
    return SweepPlan(found.name or path.stem, text, cells, found.compare)


def _cells(plan: _PlanFile, sources: Sequence[TrialSource]) -> Iterator[TrialCell]:
    """Yield every combination of a plan's parts."""
    memories = [_PlanMemory(name=e) if isinstance(e, str) else e for e in plan.memories]
    arms = [(each.name, own) for each in memories for own in _settings({**plan.set, **each.set})]
    shared = plan.model_dump(include={*_Shared.model_fields})
    for source, (memory, own), profile in itertools.product(sources, arms, plan.profiles):
        cell = TrialCell(source=source, memory=memory, settings=own, profile=profile, **shared)
        if profile == NONE:  # without answers there is nothing to judge
            cell = cell.model_copy(update={"profile": "", "judge": ""})
        # Without a model, a file gives the same result with every seed: one is enough.
        once = source.file is not None and not cell.profile
        for seed in plan.seeds[:1] if once else plan.seeds:
            yield cell.model_copy(update={"seed": seed})


def _settings(axes: _Axes) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield each combination of the settings' values."""
    for values in itertools.product(*axes.values()):
        written = (str(v).lower() if isinstance(v, bool) else str(v) for v in values)
        yield tuple(zip(axes, written, strict=True))


# -- run


@dataclass(frozen=True, slots=True)
class CellRecord:
    """The result of one cell."""

    cell: TrialCell
    problem: str = ""  # why there are no rows; empty if there are
    seconds: float = 0.0  # run time
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
        jobs: Parallel processes; None for one per core.
        done: Called with the record of each finished cell.
        ray: Run the cells on a Ray cluster: that of ``RAY_ADDRESS``, else one on this machine. All
            its machines need Keepsake, and the plan's and configuration's files at the same paths.

    Returns:
        The records of all cells, in the order of the plan; a failed one has a ``problem``.

    Raises:
        KeepsakeError: Ray is not installed, or the cluster does not answer.
    """
    found = dict[TrialCell, CellRecord]()
    jobs = min(jobs or os.cpu_count() or 1, len(plan.cells))
    with _cluster() if ray else _processes(jobs) as submit:
        waiting = {submit(run_cell, here, cell): cell for cell in plan.cells}
        for future in as_completed(waiting):
            cell = waiting[future]
            broken = future.exception()  # one killed process fails all cells
            found[cell] = CellRecord(cell, KILLED) if broken else future.result()
            done(found[cell])
    return [found[cell] for cell in plan.cells]


type _Submit = Callable[..., Future[CellRecord]]


@contextmanager
def _processes(jobs: int) -> Iterator[_Submit]:
    # Spawn, because a forked process inherits locks held by threads that it does not have. Ctrl-C
    # ends the processes at once, without a traceback.
    spawned = multiprocessing.get_context("spawn")
    end = (signal.SIGINT, signal.SIG_DFL)
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


def run_cell(
    here: Places,
    cell: TrialCell,
    trials: Sequence[Trial] | None = None,
    done: Callable[[], None] = lambda: None,
    threads: int = 1,
) -> CellRecord:
    """Run one cell; blocks. An error is recorded in its result, not raised.

    Args:
        done: Called after each question.
        threads: How many texts an embedder in this process embeds at once.
    """
    began = time.perf_counter()
    problem = ""
    rows = list[Row]()
    try:
        chosen = limit_questions(trials or cell.source.trials(cell.seed), cell.questions, cell.seed)
        names = {cell.profile, cell.judge, cell.writer, cell.decompose} - {""}
        models = {name: answering_model(here, name, cell.seed) for name in names}
        answerer = models.get(cell.profile)
        config = Evaluation(
            memory=cell.memory,
            settings=dict(cell.settings),
            embedder=_embedder(cell.embedder, threads),
            writer=models.get(cell.writer),
            answerer=answerer,
            judge=models.get(cell.judge),
            decomposer=models.get(cell.decompose),
            judge_prompts=judge_prompts(cell.judges),
            parallel=cell.parallel,
            prices=cell.prices,
            budget=cell.budget or (answerer.budget if answerer else CONTEXT),
            recalled=cell.recalled or MOST_RECALLED,
        )
        rows = evaluate(chosen, config, done)
    except KeepsakeError as error:
        problem = str(error)
    except Exception as error:  # a third-party memory may raise anything; other cells still count
        log.error("A cell failed", memory=cell.memory, exc_info=error)
        place = traceback.extract_tb(error.__traceback__)[-1]
        problem = f"The cell failed: {error!r} ({place.filename}, line {place.lineno})"
    return CellRecord(cell, problem, round(time.perf_counter() - began, 3), rows)
