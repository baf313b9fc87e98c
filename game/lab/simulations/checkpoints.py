"""Checkpoints of a simulation: whole or not there, and quick where little has changed.

A checkpoint is a copy of home and vault (without the configuration, which is the user's, and
without the recall index, which is made anew). A file that has not changed since the checkpoint
before is linked to that one's copy, so an hour costs what was written in it. Files of the world
itself are never linked: they go on being written.

All of them are kept, each with the configuration that the hour behind it was begun with: whoever
forks a simulation lives on from one of them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from game.lab.simulations.plan import CONFIG, PROGRESS, Lab
from keepsake.errors import refusing
from keepsake.records.files import sync

_LEFT_OUT = ("vault/config", "home/index", "home/models", "home/control.sock", "home/cache")
_PART = ".part"


@contextmanager
def held(lab: Lab, *, by_reader: bool) -> Iterator[None]:
    """Keep world and checkpoints as they are, as long as somebody copies them; blocks.

    Who copies a simulation holds it as a reader. Who lives in it holds it otherwise, for as long
    as it takes to begin an hour or to put a checkpoint in its place.

    Raises:
        OSError: There is no such folder, or it cannot be read.
    """
    descriptor = os.open(lab.folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH if by_reader else fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def all_of(lab: Lab) -> list[Lab]:
    """The checkpoints, oldest first, each to be read as a simulation is.

    Those that never became whole are not among them.
    """
    found = lab.checkpoints.iterdir() if lab.checkpoints.exists() else ()
    return [Lab(path) for path in sorted(found) if path.is_dir() and path.suffix != _PART]


def newest(lab: Lab) -> Lab | None:
    """The last checkpoint; None if there is none."""
    return next(reversed(all_of(lab)), None)


def begin(lab: Lab) -> None:
    """Mark the world as half made or half lived, before anything in it is written.

    Raises:
        KeepsakeError: The disk refused.
    """
    with _marking(lab), held(lab, by_reader=False):
        lab.unsettled.touch()
        sync(lab.folder)


def settle(lab: Lab) -> None:
    """Take that mark away, once the world is what its last checkpoint is, on the disk as well.

    Raises:
        KeepsakeError: The disk refused.
    """
    if not lab.unsettled.exists():
        return
    os.sync()
    with _marking(lab), held(lab, by_reader=False):
        lab.unsettled.unlink()


def take(lab: Lab) -> None:
    """Keep the world as it is now; nobody may write in it meanwhile. Blocks.

    Raises:
        KeepsakeError: There is no room for it; the one before stays.
    """
    before, name = newest(lab), f"{round(lab.lived()):010d}"
    target, part = lab.checkpoints / name, lab.checkpoints / f"{name}{_PART}"
    cure = f"Free some disk space, then go on: {lab.resume}"
    with refusing(f"No checkpoint could be written in {lab.checkpoints}", cure):
        try:
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            for path in _files(lab.folder):
                _keep(lab.folder / path, part / path, before.folder / path if before else None)
            _sync_folders(part)
            _put_in_place(lab, part, target)
        finally:
            shutil.rmtree(part, ignore_errors=True)  # not there any more if all went well


def keep_config(lab: Lab) -> None:
    """Keep the configuration that the next hour is lived with, beside the last checkpoint. Blocks.

    Raises:
        KeepsakeError: The disk refused.
    """
    *earlier, kept = all_of(lab)
    part = kept.begun_with.with_suffix(_PART)
    cure = f"Free some disk space, then go on: {lab.resume}"
    with refusing(f"The configuration could not be kept in {kept.folder}", cure):
        shutil.rmtree(part, ignore_errors=True)
        for path in _walk(source := lab.vault / CONFIG):
            _keep(source / path, part / path, earlier[-1].begun_with / path if earlier else None)
        shutil.rmtree(kept.begun_with, ignore_errors=True)
        part.rename(kept.begun_with)


def link(kept: Lab, lab: Lab, left_out: Collection[Path]) -> None:
    """Give another simulation a checkpoint, without those files; nothing of it is copied."""
    target = lab.checkpoints / kept.folder.name
    for path in _files(kept.folder):
        if path not in left_out:
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            os.link(kept.folder / path, target / path)


def _put_in_place(lab: Lab, part: Path, target: Path) -> None:
    with held(lab, by_reader=False):
        if target.exists():
            shutil.rmtree(target)
        part.rename(target)
        sync(lab.checkpoints)


def go_back(lab: Lab) -> bool:
    """Make the world what it was at the last checkpoint; False if there is none.

    Without one it was killed while it was made: what there is of it is removed, to be made anew.
    Killed on the way all this is simply done again.

    Raises:
        KeepsakeError: The disk refused.
    """
    last = newest(lab)
    if last is None and lab.lived():
        return False  # a life is never thrown away for want of a copy of it
    cure = "Free some disk space or mend the permissions, then try again"
    with refusing(f"The last checkpoint of {lab.folder} could not be gone back to", cure):
        kept = {path: last.folder / path for path in _files(last.folder)} if last else {}
        for path in list(_files(lab.folder)):
            if path not in kept:
                (lab.folder / path).unlink(missing_ok=True)  # a log may just be put in order
        for path, source in kept.items():
            _restore(source, lab.folder / path)
        shutil.rmtree(lab.home / "index", ignore_errors=True)
    return last is not None


def _marking(lab: Lab) -> AbstractContextManager[None]:
    cure = f"Free some disk space or mend the permissions, then go on: {lab.resume}"
    return refusing(f"{lab.unsettled} could not be written", cure)


def _keep(source: Path, target: Path, before: Path | None) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if before is not None and _same(source, before):
        os.link(before, target)
    else:
        shutil.copy2(source, target)
        sync(target)


def _sync_folders(folder: Path) -> None:
    for parent, _, _ in os.walk(folder):
        sync(Path(parent))


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
        yield from _walk(folder, top)


def _walk(folder: Path, top: str = "") -> Iterator[Path]:
    for parent, folders, names in os.walk(folder / top):
        inside = Path(parent).relative_to(folder)
        folders[:] = [each for each in folders if str(inside / each) not in _LEFT_OUT]
        yield from (inside / name for name in names if str(inside / name) not in _LEFT_OUT)
