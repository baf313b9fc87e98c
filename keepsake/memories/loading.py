"""Finds a memory by its name: a shipped one, one that a package brings, or ``package:Class``."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from keepsake.errors import KeepsakeError
from keepsake.memories.protocol import MemorySystem, Surroundings

GROUP = "keepsake.memories"
"""The group of entry points in which packages name their memories."""
KEEPSAKE = "keepsake"
"""Ours."""
OURS = frozenset({"", KEEPSAKE})
"""What a profile says of its memory where a world's own is meant."""

METHODS = ("newest", "perceive", "context", "recall", "rest", "state", "close")
"""What a :class:`MemorySystem` has."""

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
    # As with `python -m`: what is nowhere else is found where one stands.
    sys.path += [""] * ("" not in sys.path)
    return _loaded(EntryPoint(name, name, GROUP))


def code_of(name: str) -> str:
    """A digest of the code behind a memory that is not ours: of its package, or its one file.

    Empty for ours, which the version of the program tells, and for one that cannot be loaded.
    """
    try:
        module = sys.modules[maker(name).__module__]
    except (KeepsakeError, AttributeError, KeyError):
        return ""
    top = sys.modules[module.__name__.partition(".")[0]]
    if top.__name__ == "keepsake" or not module.__file__:
        return ""
    folders = [Path(each) for each in getattr(top, "__path__", ())]
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    told = hashlib.sha256()
    for file in files or [Path(module.__file__)]:
        told.update(file.read_bytes())
    return told.hexdigest()[:16]


def _loaded(point: EntryPoint) -> Maker:
    try:
        importlib.invalidate_caches()
        found: Maker = point.load()
    except AttributeError as error:
        told = f"The memory {point.name!r} cannot be loaded ({error})"
        raise KeepsakeError(
            told, f"Name a class of {point.module}: package.module:Class"
        ) from error
    except Exception as error:  # whatever somebody's module does when it is imported
        told = f"The memory {point.name!r} cannot be loaded ({error!r})"
        cure = (
            f"Start `keepsake` in the folder where {point.module.partition('.')[0]} lies, or "
            f"install its package beside Keepsake: `{sys.executable} -m pip install -e FOLDER`"
        )
        raise KeepsakeError(told, cure) from error
    if not callable(found):
        raise KeepsakeError(f"{point.value} is no class", "Name the class itself: package:Class")
    if isinstance(found, type):  # ``newest`` may be set where it is made
        _check(point.name, found, METHODS[1:])
    return found


def _check(name: str, found: object, wanted: Sequence[str] = METHODS) -> None:
    if missing := [each for each in wanted if inspect.getattr_static(found, each, None) is None]:
        told = f"{name} is no memory: it lacks {', '.join(missing)}"
        raise KeepsakeError(told, f"It needs {', '.join(METHODS)}; see docs/research.md")


def opened(name: str, surroundings: Surroundings) -> MemorySystem:
    """A memory of that name, made for its surroundings.

    Raises:
        KeepsakeError: There is none, or what it gives lacks a method of :class:`MemorySystem`.
    """
    made = maker(name)(surroundings)
    _check(name, made)
    return made
