"""Checkpoints of a simulation: whole or not there, and quick where little has changed.

A checkpoint is a copy of home and vault (without the configuration, which is the user's, and
without the recall index, which is made anew). A file that has not changed since the checkpoint
before is linked to that one's copy, so an hour costs what was written in it. Files of the world
itself are never linked: they go on being written.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from game.lab.plan import PROGRESS, Lab
from game.mind.errors import KeepsakeError

_LEFT_OUT = ("vault/config", "home/index", "home/models", "home/control.sock", "home/cache")
_PART = ".part"


def take(lab: Lab) -> None:
    """Keep the world as it is now; nobody may write in it meanwhile. Blocks.

    Raises:
        KeepsakeError: There is no room for it; the one before stays.
    """
    newest, name = _newest(lab), f"{round(lab.lived()):010d}"
    target, part = lab.checkpoints / name, lab.checkpoints / f"{name}{_PART}"
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for path in _files(lab.folder):
            _keep(lab.folder / path, part / path, newest / path if newest else None)
        if target.exists():
            shutil.rmtree(target)
        part.rename(target)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise KeepsakeError(
            f"No checkpoint could be written in {lab.checkpoints} ({error.strerror})",
            "Free some disk space, then go on with `keepsake simulate --resume`",
        ) from error
    for old in _all(lab):
        if old != target:
            shutil.rmtree(old, ignore_errors=True)


def go_back(lab: Lab) -> bool:
    """Make the world what it was at the last checkpoint; False if there is none.

    Killed on the way it is simply done again.

    Raises:
        KeepsakeError: The disk refused.
    """
    newest = _newest(lab)
    if newest is None:
        return False
    try:
        kept = set(_files(newest))
        for path in list(_files(lab.folder)):
            if path not in kept:
                (lab.folder / path).unlink()
        for path in kept:
            _restore(newest / path, lab.folder / path)
        shutil.rmtree(lab.home / "index", ignore_errors=True)
    except OSError as error:
        raise KeepsakeError(
            f"The checkpoint {newest} could not be gone back to ({error.strerror})",
            "Free some disk space or mend the permissions, then try again",
        ) from error
    return True


def _keep(source: Path, target: Path, before: Path | None) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if before is not None and _same(source, before):
        os.link(before, target)
    else:
        shutil.copy2(source, target)


def _restore(source: Path, target: Path) -> None:
    if not _same(source, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _same(one: Path, other: Path) -> bool:
    """Whether they are the same by size and time; a copy has the time of its source."""
    try:
        first, second = one.stat(), other.stat()
    except FileNotFoundError:
        return False
    return (first.st_size, first.st_mtime_ns) == (second.st_size, second.st_mtime_ns)


def _files(folder: Path) -> Iterator[Path]:
    """What belongs to a checkpoint, by its path within the folder."""
    if (folder / PROGRESS).exists():
        yield Path(PROGRESS)
    for top in ("home", "vault"):
        for parent, folders, names in os.walk(folder / top):
            inside = Path(parent).relative_to(folder)
            folders[:] = [each for each in folders if str(inside / each) not in _LEFT_OUT]
            yield from (inside / name for name in names if str(inside / name) not in _LEFT_OUT)


def _all(lab: Lab) -> list[Path]:
    """Checkpoints, oldest first; those that never became whole are not among them."""
    found = lab.checkpoints.iterdir() if lab.checkpoints.exists() else ()
    return sorted(path for path in found if path.is_dir() and path.suffix != _PART)


def _newest(lab: Lab) -> Path | None:
    found = _all(lab)
    return found[-1] if found else None
