"""The configurations of a grid: the present one, and all that the options name."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from keepsake.compaction.config import CompactionConfig
from keepsake.errors import ConfigError, KeepsakeError
from keepsake.paths import REPOSITORY
from keepsake.summaries.strategy import Strategies, Strategy

FILE = "memory_compaction.md"
TEMPLATES = "compaction"
CURRENT = "as it is"
MOST_CELLS = 400
"""A larger grid is a slip of the pen: each cell is a life."""
_KEYS = tuple(field.name for field in fields(CompactionConfig))
_SHORT = {"immediate_window": "window", "recent_window": "recent"}

type Changes = tuple[tuple[str, str], ...]
"""Settings and their values as they would be written in the file."""

type Axis = tuple[tuple[str, Changes], ...]
"""What one option varies: each value is a set of changes under a name."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One configuration of the grid."""

    name: str  # what tables and charts call it
    changes: Changes = ()  # what it has otherwise than the vault


def cells(axes: Sequence[Axis]) -> list[Cell]:
    """The present configuration, then the product of the axes.

    Raises:
        KeepsakeError: There are more than :data:`MOST_CELLS`.
    """
    found = [Cell(CURRENT)]
    if axes:
        for values in itertools.product(*axes):
            name = " ".join(name for name, _ in values)
            found.append(Cell(name, tuple(change for _, changes in values for change in changes)))
    if len(found) > MOST_CELLS:
        raise KeepsakeError(
            f"The grid has {len(found):,} configurations, more than {MOST_CELLS}",
            "Give fewer values",
        )
    return found


def axes(
    strategies: str = "",
    windows: str = "",
    high: str = "",
    low: str = "",
    settings: Iterable[str] = (),
) -> list[Axis]:
    """The axes that options name; values are parted by commas.

    Raises:
        KeepsakeError: An option cannot be read; says how it is written.
    """
    found: list[Axis] = []
    if strategies:
        found.append(tuple((n, (("strategy", n),)) for n in _parts("--strategy", strategies)))
    if windows:
        found.append(tuple(map(_windows, _parts("--windows", windows))))
    for key, written in (("high", high), ("low", low)):
        if written:
            found.append(_axis(key, _parts(f"--{key}", written)))
    for setting in settings:
        key, equals, values = setting.partition("=")
        key = key.strip()
        if not equals or key not in _KEYS:
            raise KeepsakeError(
                f"--set {setting!r} names no setting of {FILE}",
                f"Write --set key=value, with one of {', '.join(_KEYS)}",
            )
        found.append(_axis(key, _parts(f"--set {key}", values)))
    return found


def _axis(key: str, values: Iterable[str]) -> Axis:
    shown = _SHORT.get(key, key)
    return tuple((f"{shown} {value}", ((key, value),)) for value in values)


def _windows(written: str) -> tuple[str, Changes]:
    first, slash, second = (part.strip() for part in written.partition("/"))
    second = second if slash else first
    if not (first.isdecimal() and second.isdecimal()):
        raise KeepsakeError(
            f"--windows {written!r} is no pair of numbers",
            "Write immediate/recent, such as 32/32, several parted by commas",
        )
    name = f"{int(first)}/{int(second)}"
    return name, (("immediate_window", first), ("recent_window", second))


def _parts(option: str, written: str) -> list[str]:
    parts = [part.strip() for part in written.split(",")]
    if not all(parts):
        raise KeepsakeError(f"{option} {written!r} has an empty value", "Part values by one comma")
    return list(dict.fromkeys(parts))


@dataclass(frozen=True, slots=True)
class CellSettings:
    """What one configuration comes to."""

    config: CompactionConfig  # marks, windows and so on
    strategy: Strategy  # how summaries are written


def settings_of(cell: Cell, folder: Path) -> CellSettings:
    """The settings of a cell over those in ``vault/config``.

    Raises:
        KeepsakeError: A value is wrong, or two do not go together.
    """
    ways = Strategies(folder / TEMPLATES, REPOSITORY / "vault" / "config" / TEMPLATES)
    wanted = dict(cell.changes).get("strategy")
    if wanted is not None and wanted not in ways.names:
        raise KeepsakeError(
            f"There is no template {wanted!r} in {folder / TEMPLATES}",
            f"There are: {', '.join(ways.names)}",
        )
    config = _config_of(cell, folder)
    return CellSettings(config, ways.get(config.strategy))


def _config_of(cell: Cell, folder: Path) -> CompactionConfig:
    try:
        return CompactionConfig.load(_file(folder), dict(cell.changes))
    except ConfigError as error:
        if not cell.changes:
            raise
        # The line of the file is not to blame: its value was replaced.
        raise KeepsakeError(error.reason, error.cure) from error


def _file(folder: Path) -> Path:
    """The vault's file; the shipped one where a vault has none yet."""
    own = folder / FILE
    return own if own.exists() else REPOSITORY / "vault" / "config" / FILE


def lived_for(
    found: Sequence[Cell], folder: Path
) -> tuple[dict[Cell, Cell], dict[Cell, KeepsakeError]]:
    """For each cell the one that is lived, itself or the first that comes to the same.

    Beside them those that cannot be used, with the reason; such a one stands for itself.
    """
    first: dict[CompactionConfig, Cell] = {}
    lived, problems = {}, {}
    for cell in found:
        lived[cell] = cell
        try:
            lived[cell] = first.setdefault(settings_of(cell, folder).config, cell)
        except KeepsakeError as error:
            problems[cell] = error
    return lived, problems
