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
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from game.cli.world import client, home, processes
from game.cli.world.processes import Component
from game.server import database_copy, databases, vault_lock
from keepsake.archive.log import segment_sizes
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import DATABASE_URL, Places

MANIFEST = "manifest.json"
"""The last of a backup: what is in it, each with its size and SHA-256."""
FORM = 1
"""Of the backup file itself."""
ARCHIVE = "archive"
_SNAPSHOT_SECONDS = 600.0
_STAMPED = f"keepsake-{'[0-9]' * 8}-{'[0-9]' * 6}.tar.gz"

type Progress = Callable[[int], None]
"""Told how many bytes are done."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A backup that was made."""

    path: Path
    files: int  # how many it holds
    size: int  # their bytes, not compressed
    removed: tuple[Path, ...] = ()  # older ones that were removed


def backup(here: Places, target: Path, progress: Progress = lambda _: None, keep: int = 0) -> Kept:
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
        runs = any(each.component is Component.SERVER for each in processes.running(here))
        held = None if runs else vault_lock.take(here)
        try:
            files, size = _written(here, path, progress, _asked if runs else _at_rest)
        finally:
            if held is not None:
                held.release()
    return Kept(path, files, size, _removed(path, keep))


type _Snapshot = Callable[[Places, Path], dict[str, dict[str, int]]]
"""Puts the database, and what waits for archives, into an empty folder; gives the bytes of each
archive's segments, by agent."""


def _asked(here: Places, folder: Path) -> dict[str, dict[str, int]]:
    found = client.ask(here, "snapshot", seconds=_SNAPSHOT_SECONDS, folder=str(folder))
    archives: dict[str, dict[str, int]] = found["archives"]
    return archives


def _at_rest(here: Places, folder: Path) -> dict[str, dict[str, int]]:
    database_copy.reader(here).copy_into(folder)
    if here.spill.exists():
        shutil.copyfile(here.spill, folder / here.spill.name)
    return {each.parent.name: segment_sizes(each) for each in here.agents.glob(f"*/{ARCHIVE}")}


def _written(here: Places, path: Path, progress: Progress, snapshot: _Snapshot) -> tuple[int, int]:
    """Write the file, whole or not at all; how many files are in it, and their bytes."""
    draft = path.with_name(f".{path.name}.part")
    made = datetime.now(UTC).isoformat(timespec="seconds")
    listed: dict[str, dict[str, Any]] = {}
    cure = "Free some disk space there or mend the permissions, and try again"
    try:
        with refusing(f"No backup could be written to {path}", cure, tarfile.TarError):
            path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)  # it holds secrets
            with os.fdopen(fd, "wb") as file, tempfile.TemporaryDirectory(dir=here.home) as scratch:
                with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as tar:
                    for source, name, size in _sources(here, snapshot, Path(scratch)):
                        try:
                            listed[name] = _add(tar, source, name, size)
                        except FileNotFoundError:
                            if size is not None:
                                raise
                            continue  # a book that was renamed or taken away just now
                        progress(sum(each["bytes"] for each in listed.values()))
                    facts = {"form": FORM, "made": made, "world": 1, "files": listed}
                    text = json.dumps(facts, indent=1, ensure_ascii=False).encode()
                    info = tarfile.TarInfo(MANIFEST)
                    info.size, info.mode = len(text), 0o600
                    tar.addfile(info, io.BytesIO(text))
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
    return len(listed), sum(each["bytes"] for each in listed.values())


def _sources(
    here: Places, snapshot: _Snapshot, scratch: Path
) -> Iterator[tuple[Path, str, int | None]]:
    """Each file, its name in the backup, and how many of its bytes; None for all."""
    for path in (*_books(here), here.secret_key, here.admin_password):
        if path.exists():  # it may have been taken away, or renamed, just now
            yield path, _name(here, path), None
    for agent, segments in sorted(snapshot(here, scratch).items()):
        for segment, size in sorted(segments.items()):
            path = here.agents / agent / ARCHIVE / segment
            yield path, _name(here, path), size
    for path in sorted(scratch.iterdir()):
        yield path, f"home/{path.name}", None


def _books(here: Places) -> Iterator[Path]:
    """What the vault holds beside its archives; drafts and locks begin with a dot."""
    for top in (here.config, here.agents):
        for folder, folders, names in top.walk():
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            if folder.name == ARCHIVE and folder.parent.parent == here.agents:
                continue
            found = (folder / name for name in sorted(names) if not name.startswith("."))
            yield from (path for path in found if path.is_file())


def _name(here: Places, path: Path) -> str:
    if path.is_relative_to(here.vault):
        return f"vault/{path.relative_to(here.vault).as_posix()}"
    return f"home/{path.name}"


def _add(tar: tarfile.TarFile, path: Path, name: str, size: int | None) -> dict[str, Any]:
    """Pack a file, or its first ``size`` bytes; its size and checksum."""
    with path.open("rb") as source:
        info = tar.gettarinfo(arcname=name, fileobj=source)
        info.type, info.uid, info.gid, info.uname, info.gname = tarfile.REGTYPE, 0, 0, "", ""
        info.size = os.fstat(source.fileno()).st_size if size is None else size
        reader = _Reader(source)
        tar.addfile(info, reader)  # type: ignore[arg-type]  # it needs no more than to read
    return {"bytes": info.size, "sha256": reader.digest.hexdigest()}


class _Reader:
    """A file that is hashed while it is read."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self.digest = hashlib.sha256()

    def read(self, size: int) -> bytes:
        data = self._source.read(size)
        self.digest.update(data)
        return data


def _removed(path: Path, keep: int) -> tuple[Path, ...]:
    """Remove all but the newest ``keep`` of the backups beside ``path``; 0 keeps them all."""
    there = sorted(path.parent.glob(_STAMPED))
    old = tuple(there[:-keep]) if keep else ()
    for each in old:
        each.unlink(missing_ok=True)
    return old
