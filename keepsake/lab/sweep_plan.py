"""What a sweep runs, read from a YAML file: sources × memories × settings × profiles × seeds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from keepsake.errors import KeepsakeError
from keepsake.lab.cell import FILE, PROBES, TrialCell, TrialSource

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

    @model_validator(mode="before")
    @classmethod
    def _alone(cls, data: Any) -> Any:
        return {data: {}} if data == PROBES else data

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

    @model_validator(mode="before")
    @classmethod
    def _alone(cls, data: Any) -> Any:
        return {"name": data} if isinstance(data, str) else data


class _PlanFile(_Form):
    sources: _OneOrMore[_SourceForm]
    memories: _OneOrMore[_MemoryForm]
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
            for seed in self._seeds(source, silent=silent):
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
            yield tuple(zip(axes, map(_written, values), strict=True))

    def _seeds(self, source: TrialSource, *, silent: bool) -> Sequence[int]:
        """A file that no model answers is the same with every seed: one is enough."""
        return self.seeds if source.seeded or not silent else self.seeds[:1]


def _written(value: _Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


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
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PlanError(f"{path} is no YAML ({error})", _GUIDE) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise PlanError(f"{path}: {where}: {first['msg']}", _GUIDE) from error
    except PlanError as error:
        raise PlanError(f"{path}: {error.what}", error.cure) from error
    if len(cells) > MOST_CELLS:
        told = f"{path}: it has {len(cells):,} cells, more than {MOST_CELLS:,}"
        raise PlanError(told, "Give fewer values")
    return SweepPlan(found.name or path.stem, text, cells)
