"""What is run: one run is a cell (trials of a source, a memory with its settings, a seed).

A plan, read from a YAML file, is sources × memories × settings × profiles × seeds.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.benchmarks import read_trials
from keepsake.lab.conversation import fault_of
from keepsake.lab.evaluating import limited
from keepsake.lab.probes import probe_trials
from keepsake.lab.trial import Trial

FILE, PROBES = "file", "probes"

type Pairs = tuple[tuple[str, Any], ...]
"""A mapping that can be compared: names and values."""


@dataclass(frozen=True, slots=True)
class TrialSource:
    """Where trials come from."""

    kind: str  # :data:`FILE` or :data:`PROBES`
    path: str = ""  # of a file
    options: Pairs = ()  # of probes: ``loads``, ``lives``, ``days``

    @property
    def name(self) -> str:
        """What tables call it."""
        if self.kind == FILE:
            return Path(self.path).stem
        shown = ((n, "/".join(map(str, v)) if isinstance(v, tuple) else v) for n, v in self.options)
        return ", ".join((self.kind, *(f"{name} {value}" for name, value in shown)))

    def trials(self, seed: int) -> list[Trial]:
        """The lives with their questions.

        Raises:
            KeepsakeError: The file cannot be read.
        """
        if self.kind == FILE:
            return read_trials(Path(self.path))
        return probe_trials(seed, **dict(self.options))

    def fingerprint(self) -> str:
        """What changes when a file's content does; empty for what a seed makes.

        Raises:
            KeepsakeError: The file cannot be read.
        """
        if self.kind != FILE:
            return ""
        path = Path(self.path)
        with refusing(f"{path} cannot be read", "Name a file that is there"):
            files = sorted(path.iterdir()) if path.is_dir() else [path]
            digests = [_digest(each, each.stat().st_mtime_ns) for each in files]
        return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]


@cache
def _digest(file: Path, _changed: int) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCell:
    """The exact configuration of one run."""

    source: TrialSource
    memory: str  # by its name
    settings: tuple[tuple[str, str], ...] = ()  # the memory's own
    seed: int = 1
    profile: str = ""  # which profile of llm.md answers; empty where only recall is measured
    judge: str = ""  # which one judges the answers; empty for none
    writer: str = ""  # which one writes the memory's summaries; empty for rules
    limit: int = 0  # questions in all; 0 for all there are
    budget: int = 0  # tokens of the lines of a prompt; 0 for what the profile has room for
    recalled: int = 0  # lines that the memory may give for a question; 0 for what is usual
    models: Pairs = ()  # what its profiles say, a digest each; see :func:`pinned_down`
    code: str = ""  # a digest of the memory's code, where that is not ours; the same

    @property
    def name(self) -> str:
        """Memory and settings: what is compared."""
        return " ".join((self.memory, *(f"{key}={value}" for key, value in self.settings)))

    def as_json(self) -> dict[str, Any]:
        """The configuration for files, with what identifies the content of its source."""
        source = asdict(self.source) | {"options": dict(self.source.options)}
        source["fingerprint"] = self.source.fingerprint()
        own = {"settings": dict(self.settings), "models": dict(self.models)}
        return asdict(self) | {"source": source, **own}

    def key(self) -> str:
        """A name for its files: the same configuration has the same one."""
        told = self.as_json()
        del told["source"]["path"]  # its content counts, wherever it lies
        text = json.dumps(told, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def questions(self) -> list[Trial]:
        """Its trials, with as many questions as it may have."""
        return limited(self.source.trials(self.seed), self.limit)


# -- a plan

NONE = "none"
"""The profile of a cell in which nobody answers: what the memory finds is all that is measured."""
MOST_CELLS = 10_000
_GUIDE = 'docs/evaluation.md, "Sweeps", has the form of a plan'


class PlanError(KeepsakeError):
    """A plan that cannot be used."""


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """A plan as it was read."""

    name: str  # what the report calls it
    text: str  # the file, word for word
    cells: tuple[TrialCell, ...]  # in the order of the plan, none twice


# -- the form of the file


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _mapped(value: Any) -> Any:
    return {} if value is None else value


def _source(written: Any) -> Any:
    return {PROBES: {}} if written == PROBES else written


def _memory(written: Any) -> Any:
    return {"name": written} if isinstance(written, str) else written


type _Scalar = bool | int | float | str
type _OneOrMore[T] = Annotated[tuple[T, ...], BeforeValidator(_listed), Field(min_length=1)]
type _Count = Annotated[int, Field(strict=True, ge=0)]
type _Axes = Annotated[dict[str, _OneOrMore[_Scalar]], BeforeValidator(_mapped)]
"""Settings, each with the values that it has in turn."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _ProbesForm(_Form):
    loads: _OneOrMore[int] = ()
    lives: int = 1
    days: int = 0


class _SourceForm(_Form):
    file: str | None = None
    probes: Annotated[_ProbesForm, BeforeValidator(_mapped)] | None = None

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("it is one of `file: PATH` and `probes: {}`")
        return self

    def source(self, folder: Path) -> TrialSource:
        """Where trials come from; files are looked for in ``folder``."""
        if self.file is not None:
            path = folder / Path(self.file).expanduser()
            if not path.exists():
                raise PlanError(f"there is no file {path}", "Name one from where the plan lies")
            return TrialSource(FILE, str(path.resolve()))
        options = (self.probes or _ProbesForm()).model_dump(exclude_unset=True)
        return TrialSource(PROBES, options=(*options.items(),))


class _MemoryForm(_Form):
    name: str
    set: _Axes = {}


class _PlanFile(_Form):
    sources: _OneOrMore[Annotated[_SourceForm, BeforeValidator(_source)]]
    memories: _OneOrMore[Annotated[_MemoryForm, BeforeValidator(_memory)]]
    name: str = ""
    set: _Axes = {}
    seeds: _OneOrMore[_Count] = (1,)
    profiles: _OneOrMore[str] = (NONE,)
    judge: str = ""
    writer: str = ""
    questions: _Count = 0
    budget: _Count = 0
    recalled: _Count = 0

    def cells(self, folder: Path) -> Iterator[TrialCell]:
        """The product of its parts."""
        sources = [each.source(folder) for each in self.sources]
        arms = [(each.name, own) for each in self.memories for own in self._settings(each)]
        for source, (memory, settings), profile in itertools.product(sources, arms, self.profiles):
            silent = profile == NONE  # where nobody answers there is nothing to judge
            # A file that no model answers is the same with every seed: one is enough.
            once = silent and source.kind == FILE
            for seed in self.seeds[:1] if once else self.seeds:
                yield TrialCell(
                    source=source,
                    memory=memory,
                    settings=settings,
                    seed=seed,
                    profile="" if silent else profile,
                    judge="" if silent else self.judge,
                    writer=self.writer,
                    limit=self.questions,
                    budget=self.budget,
                    recalled=self.recalled,
                )

    def _settings(self, memory: _MemoryForm) -> Iterator[tuple[tuple[str, str], ...]]:
        """Each combination of a memory's settings and of those for all memories."""
        axes: Mapping[str, Sequence[_Scalar]] = {**self.set, **memory.set}
        for values in itertools.product(*axes.values()):
            written = (str(v).lower() if isinstance(v, bool) else str(v) for v in values)
            yield tuple(zip(axes, written, strict=True))


# -- read


def read_plan(path: Path) -> SweepPlan:
    """Read a plan; files that it names are looked for beside it.

    Raises:
        PlanError: It cannot be read, or names what there cannot be.
    """
    try:
        text = path.read_text(encoding="utf-8")
        found = _PlanFile.model_validate(yaml.safe_load(text))
        cells = tuple(dict.fromkeys(found.cells(path.parent)))
    except OSError as error:
        told = f"{path} cannot be read ({error.strerror or error})"
        raise PlanError(told, "Name a file that is there") from error
    except ValidationError as error:
        raise PlanError(f"{path}: {fault_of(error)}", _GUIDE) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PlanError(f"{path} is no YAML ({error})", _GUIDE) from error
    except PlanError as error:
        raise PlanError(f"{path}: {error.what}", error.cure) from error
    if len(cells) > MOST_CELLS:
        told = f"{path}: it has {len(cells):,} cells, more than {MOST_CELLS:,}"
        raise PlanError(told, "Give fewer values")
    return SweepPlan(found.name or path.stem, text, cells)
