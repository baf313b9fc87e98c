"""What a sweep runs, read from a YAML file: sources × memories × settings × profiles × seeds."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from keepsake.errors import KeepsakeError
from keepsake.lab.trials.cell import FILE, PROBES, WORLD, TrialCell, TrialSource

NONE = "none"
"""The profile of a cell in which nobody answers: what the memory finds is all that is measured."""
MOST_CELLS = 10_000
_GUIDE = 'docs/evaluation.md, "Sweeps", has the form of a plan'
_OPTIONS = {
    PROBES: {"loads", "lives", "days"},
    WORLD: {"agents", "villages", "hours", "visitors", "model", "start", "zone"},
}
"""By kind of source, what can be said of it."""
_KEYS = (
    *("name", "sources", "memories", "set", "seeds", "profiles"),
    *("judge", "writer", "questions", "budget", "recalled"),
)


class PlanError(KeepsakeError):
    """A plan that cannot be used."""


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """A plan as it was read."""

    name: str  # what the report calls it
    text: str  # the file, word for word
    cells: tuple[TrialCell, ...]  # in the order of the plan, none twice


def read_plan(path: Path) -> SweepPlan:
    """Read a plan; files that it names are looked for beside it.

    Raises:
        PlanError: It cannot be read, or names what there cannot be.
    """
    try:
        text = path.read_text(encoding="utf-8")
        data = yaml.safe_load(text)
    except OSError as error:
        told = f"{path} cannot be read ({error.strerror or error})"
        raise PlanError(told, "Name a file that is there") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PlanError(f"{path} is no YAML ({error})", _GUIDE) from error
    try:
        return SweepPlan(str(_of(data, path).get("name", path.stem)), text, _cells(data, path))
    except PlanError as error:
        raise PlanError(f"{path}: {error.what}", error.cure) from error


def _of(data: Any, path: Path) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise PlanError("it is no mapping of keys to values", _GUIDE)
    if unknown := [str(key) for key in data if key not in _KEYS]:
        cure = f"There are: {', '.join(_KEYS)}; {_GUIDE}"
        raise PlanError(f"it has the unknown key {unknown[0]!r}", cure)
    return data


def _cells(data: dict[str, Any], path: Path) -> tuple[TrialCell, ...]:
    sources = [_source(each, path.parent) for each in _list(data, "sources")]
    memories = [arm for each in _list(data, "memories") for arm in _arms(each, data.get("set"))]
    profiles = [str(each) for each in _list(data, "profiles", [NONE])]
    seeds = [_whole(each, "seeds") for each in _list(data, "seeds", [1])]
    same = {
        "judge": str(data.get("judge") or ""),
        "writer": str(data.get("writer") or ""),
        "limit": _whole(data.get("questions", 0), "questions"),
        "budget": _whole(data.get("budget", 0), "budget"),
        "recalled": _whole(data.get("recalled", 0), "recalled"),
    }
    found = [
        TrialCell(
            source=source, memory=memory, settings=settings, seed=seed, **_asked(profile, same)
        )
        for source, (memory, settings), profile in itertools.product(sources, memories, profiles)
        for seed in _seeds(seeds, source, profile)
    ]
    if len(found) > MOST_CELLS:
        told = f"it has {len(found):,} cells, more than {MOST_CELLS:,}"
        raise PlanError(told, "Give fewer values")
    return tuple(dict.fromkeys(found))


def _asked(profile: str, same: Mapping[str, Any]) -> dict[str, Any]:
    if profile == NONE:  # where nobody answers there is nothing to judge
        return {**same, "judge": ""}
    return {**same, "profile": profile}


def _seeds(seeds: Sequence[int], source: TrialSource, profile: str) -> Sequence[int]:
    """A file that no model answers is the same with every seed: one is enough."""
    return seeds if source.seeded or profile != NONE else seeds[:1]


def _list(data: Mapping[str, Any], name: str, default: list[Any] | None = None) -> list[Any]:
    found = data.get(name, default)
    found = found if isinstance(found, list) else [found]
    if not found or found == [None]:
        raise PlanError(f"it has no {name!r}", _GUIDE)
    return found


def _whole(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise PlanError(f"{name}: {value!r} is no whole number from 0", _GUIDE)
    return value


def _source(data: Any, folder: Path) -> TrialSource:
    if isinstance(data, dict) and set(data) == {FILE} and isinstance(data[FILE], str):
        path = folder / Path(data[FILE]).expanduser()
        if not path.exists():
            raise PlanError(f"there is no file {path}", "Name one from where the plan lies")
        return TrialSource(FILE, str(path.resolve()))
    kind, options = next(iter(data.items())) if isinstance(data, dict) and data else (data, {})
    alone = not isinstance(data, dict) or len(data) == 1
    if alone and kind in (PROBES, WORLD) and isinstance(options or {}, dict):
        own = {str(key): _frozen(value) for key, value in (options or {}).items()}
        if unlike := sorted(own.keys() - _OPTIONS[kind]):
            cure = f"There are: {', '.join(sorted(_OPTIONS[kind]))}; {_GUIDE}"
            raise PlanError(f"{kind} has no {unlike[0]!r}", cure)
        if "loads" in own and not isinstance(own["loads"], tuple):
            own["loads"] = (own["loads"],)
        return TrialSource(kind, options=tuple(own.items()))
    cure = f"Write `file: PATH`, `probes: {{}}` or `world: {{}}`; {_GUIDE}"
    raise PlanError(f"the source {data!r:.60} cannot be read", cure)


def _frozen(value: Any) -> Any:
    several = isinstance(value, list)
    for each in value if several else [value]:
        if isinstance(each, dict | list):
            raise PlanError(f"a source's {each!r:.60} is no value", _GUIDE)
    return tuple(value) if several else value


def _arms(data: Any, common: Any) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """A memory with each combination of its settings and of those for all memories."""
    name, own = (data.get("name"), data.get("set")) if isinstance(data, dict) else (data, None)
    if not isinstance(name, str) or (isinstance(data, dict) and set(data) - {"name", "set"}):
        cure = f"Write a name, or `name: …` and `set: …`; {_GUIDE}"
        raise PlanError(f"the memory {data!r:.60} cannot be read", cure)
    axes = {**_axes(common), **_axes(own)}
    for values in itertools.product(*axes.values()):
        yield name, tuple(zip(axes, values, strict=True))


def _axes(data: Any) -> dict[str, list[str]]:
    if not isinstance(data or {}, dict):
        raise PlanError(f"set: {data!r:.60} is no mapping", _GUIDE)
    return {str(key): list(_values(value)) for key, value in (data or {}).items()}


def _values(value: Any) -> Iterable[str]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict | list) or each is None:
            raise PlanError(f"set: {each!r:.60} is no value", _GUIDE)
        yield str(each).lower() if isinstance(each, bool) else str(each)
