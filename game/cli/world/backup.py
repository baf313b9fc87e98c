"""``keepsake backup``: database, vault and secrets of one moment, in one file with checksums.

The world may run. First comes what agents and people write beside the archives, then the
archives up to one moment, and the database as of the same moment. So no file tells of a memory
that is not in its archive; what is a little older catches up at the next start, as after a crash.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from game.cli.world import client, home, processes
from game.cli.world.formats import of_vault
from game.cli.world.processes import Component
from game.server import database_rows, databases, vault_lock
from keepsake.archive.log import segment_sizes
from keepsake.errors import KeepsakeError
from keepsake.paths import DATABASE_URL, Places
from keepsake.records.files import sync

MANIFEST = "manifest.json"
"""The last of a backup: what is in it, each with its size and SHA-256."""
FORM = 1
"""Of the backup file itself."""
ARCHIVE = "archive"
_SNAPSHOT_SECONDS = 600.0
_STAMPED = re.compile(r"keepsake-\d{8}-\d{6}\.tar\.gz")

type Progress = Callable[[int, int], None]
"""Told how many bytes are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A backup that was made."""

    path: Path
    files: int  # how many it holds
    size: int  # their bytes, not compressed
    removed: tuple[Path, ...] = ()  # older ones that were removed


def backup(here: Places, target: Path, progress: Progress, keep: int = 0) -> Kept:
    """Make a backup of the copy, whether it runs or not.

    Args:
        here: The copy.
        target: The file; in a folder that exists, one is named after the time.
        progress: See :data:`Progress`.
        keep: How many of the files so named stay there, the newest ones; 0 for all.

    Raises:
        KeepsakeError: There is nothing to keep, or something cannot be read or written.
            There is no new file then, and no old one was removed.
    """
    if keep and not target.is_dir():
        raise KeepsakeError(f"--keep needs a folder, and {target} is none", "Make it first")
    stamp = datetime.now(UTC).strftime("keepsake-%Y%m%d-%H%M%S.tar.gz")
    path = target / stamp if target.is_dir() else target
    if path.exists():
        raise KeepsakeError(f"{path} exists already", "Choose another name, or remove it")
    with home.alone(here):
        here = processes.actual(here)
        databases.refuse_another(here)
        if not (here.database_url or here.database.exists()):
            raise KeepsakeError(
                f"There is no world to keep: {here.database} does not exist",
                f"Set KEEPSAKE_HOME to its home; {DATABASE_URL} as well if it is on PostgreSQL",
            )
        if processes.one(processes.running(here), Component.SERVER) is None:
            return of_stopped(here, path, progress, keep)
        return _written(here, path, progress, _asked, keep)


def of_stopped(
    here: Places, path: Path, progress: Progress = lambda *_: None, keep: int = 0
) -> Kept:
    """The same of a copy that does not run, by who keeps others from starting it."""
    held = vault_lock.take(here)
    try:
        return _written(here, path, progress, _at_rest, keep)
    finally:
        held.release()


# -- the moment


type _Snapshot = Callable[[Places, Path], dict[str, dict[str, int]]]
"""Puts the database, and what waits for archives, into an empty folder; gives the bytes of each
archive's segments, by agent."""


def _asked(here: Places, folder: Path) -> dict[str, dict[str, int]]:
    found = client.ask(here, "snapshot", seconds=_SNAPSHOT_SECONDS, folder=str(folder))
    archives: dict[str, dict[str, int]] = found["archives"]
    return archives


def _at_rest(here: Places, folder: Path) -> dict[str, dict[str, int]]:
    if here.database_url:
        with database_rows.moment(here) as reader:
            database_rows.to_sqlite(reader, folder / here.database.name)
    elif here.database.exists():
        with (
            closing(sqlite3.connect(here.database, timeout=30)) as reader,
            closing(sqlite3.connect(folder / here.database.name)) as copy,
        ):
            reader.backup(copy)
    if here.spill.exists():
        shutil.copyfile(here.spill, folder / here.spill.name)
    return {each.parent.name: segment_sizes(each) for each in here.agents.glob(f"*/{ARCHIVE}")}


# -- the file


@dataclass(slots=True)
class _Packer:
    """Writes files into a backup and remembers what they are."""

    tar: tarfile.TarFile
    progress: Progress
    total: int
    done: int = 0
    files: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, path: Path, name: str, size: int | None = None) -> None:
        """Pack a file, or its first ``size`` bytes."""
        with path.open("rb") as source:
            status = os.fstat(source.fileno())
            info = tarfile.TarInfo(name)
            info.size = status.st_size if size is None else size
            info.mtime, info.mode = int(status.st_mtime), status.st_mode & 0o777
            if status.st_size < info.size:
                raise OSError(f"{path} is shorter than it was a moment ago")
            reader = _Reader(source, self)
            self.tar.addfile(info, reader)
        self.files[name] = {"bytes": info.size, "sha256": reader.digest.hexdigest()}

    def finish(self, facts: dict[str, Any]) -> None:
        """Pack the manifest, which makes it whole."""
        text = json.dumps(facts | {"files": self.files}, indent=1, ensure_ascii=False).encode()
        info = tarfile.TarInfo(MANIFEST)
        info.size, info.mode = len(text), 0o600
        self.tar.addfile(info, io.BytesIO(text))


class _Reader:
    """A file that is hashed while it is read."""

    def __init__(self, source: IO[bytes], packer: _Packer) -> None:
        self._source, self._packer = source, packer
        self.digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self._source.read(size)
        self.digest.update(data)
        self._packer.done += len(data)
        self._packer.progress(self._packer.done, max(self._packer.total, self._packer.done))
        return data


def _written(
    here: Places,
    path: Path,
    progress: Progress,
    snapshot: _Snapshot,
    keep: int,
) -> Kept:
    draft = path.with_name(f".{path.name}.part")
    made = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)  # it holds secrets
        with os.fdopen(fd, "wb") as file, tempfile.TemporaryDirectory(dir=here.home) as scratch:
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as tar:
                packer = _Packer(tar, progress, _size_of(here))
                _pack(here, packer, snapshot, Path(scratch))
                packer.finish({"form": FORM, "world": of_vault(here), "made": made})
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        sync(path.parent)
        return Kept(path, len(packer.files), packer.done, _removed(path, keep))
    except (OSError, sqlite3.Error, tarfile.TarError) as error:
        raise KeepsakeError(
            f"No backup could be written to {path} ({error})",
            "Free some disk space there or mend the permissions, and try again",
        ) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _pack(here: Places, packer: _Packer, snapshot: _Snapshot, scratch: Path) -> None:
    for path in _books(here):
        with contextlib.suppress(FileNotFoundError):  # taken away, or renamed, just now
            packer.add(path, _name(here, path))
    for secret in (here.secret_key, here.admin_password):
        if secret.exists():
            packer.add(secret, f"home/{secret.name}")
    for agent, segments in sorted(snapshot(here, scratch).items()):
        for segment, size in sorted(segments.items()):
            path = here.agents / agent / ARCHIVE / segment
            packer.add(path, _name(here, path), size)
    for path in sorted(scratch.iterdir()):
        packer.add(path, f"home/{path.name}")


def _books(here: Places) -> Iterator[Path]:
    """What the vault holds beside its archives; drafts and locks begin with a dot."""
    for top in (here.config, here.agents):
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            inside = Path(folder)
            if inside.name == ARCHIVE and inside.parent.parent == here.agents:
                continue
            for name in sorted(names):
                path = inside / name
                if not name.startswith(".") and path.is_file():
                    yield path


def _name(here: Places, path: Path) -> str:
    return f"vault/{path.relative_to(here.vault).as_posix()}"


def _size_of(here: Places) -> int:
    paths = [*_books(here), here.database]
    books = sum(path.stat().st_size for path in paths if path.exists())
    return books + sum(
        sum(segment_sizes(each).values()) for each in here.agents.glob(f"*/{ARCHIVE}")
    )


def _removed(path: Path, keep: int) -> tuple[Path, ...]:
    """Remove all but the newest ``keep`` of the backups beside ``path``; 0 keeps them all."""
    there = sorted(each for each in path.parent.iterdir() if _STAMPED.fullmatch(each.name))
    old = tuple(there[:-keep]) if keep else ()
    for each in old:
        each.unlink(missing_ok=True)
    return old
