"""Finds a memory by its name: a shipped one, one that a package brings, or ``package:Class``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

from game.memories.protocol import MemorySystem, Surroundings
from game.mind.errors import KeepsakeError

GROUP = "keepsake.memories"
"""The group of entry points in which packages name their memories."""
KEEPSAKE = "keepsake"
"""Ours."""
OURS = frozenset({"", KEEPSAKE})
"""What a profile says of its memory where a world's own is meant."""

type Maker = Callable[[Surroundings], MemorySystem]


def names() -> list[str]:
    """The memories that are known by name, in alphabetical order."""
    return sorted(entry_points(group=GROUP).names)


def maker(name: str) -> Maker:
    """The class of that name: an entry point of :data:`GROUP`, or ``package.module:Class``.

    Raises:
        KeepsakeError: There is none, or it cannot be imported; says which there are.
    """
    known = entry_points(group=GROUP)
    if name in known.names:
        return _loaded(known[name])
    if ":" not in name:
        told = f"There is no memory {name!r}"
        raise KeepsakeError(told, f"There are: {', '.join(names())}; or name a package:Class")
    return _loaded(EntryPoint(name, name, GROUP))


def _loaded(point: EntryPoint) -> Maker:
    cure = "Install its package beside Keepsake, and see that `python -c` can import it"
    try:
        importlib.invalidate_caches()
        found: Maker = point.load()
    except Exception as error:  # whatever somebody's module does when it is imported
        raise KeepsakeError(
            f"The memory {point.name!r} cannot be loaded ({error!r})", cure
        ) from error
    if not callable(found):
        raise KeepsakeError(f"{point.value} is no class", "Name the class itself: package:Class")
    return found


def opened(name: str, surroundings: Surroundings) -> MemorySystem:
    """A memory of that name, made for its surroundings.

    Raises:
        KeepsakeError: There is none, or what it gives lacks a method of :class:`MemorySystem`.
    """
    made = maker(name)(surroundings)
    if not isinstance(made, MemorySystem):
        wanted = "newest, perceive, context, recall, rest, state, close"
        raise KeepsakeError(f"{name} is no memory", f"It needs {wanted}; see docs/memories.md")
    return made
