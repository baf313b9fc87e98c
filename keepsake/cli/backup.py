"""``keepsake backup`` and ``restore``: database, vault and secrets of one moment, in one tar file.

The world may run. First come the files beside the archives, then the archives up to one moment, and
the database as of the same moment. So no file tells of a memory that is not in its archive; what is
a little older catches up at the next start, as after a crash.

A restore unpacks everything beside its place and checks it before it touches anything that is
there; that is moved aside, not removed.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepsake import database, vault_lock
from keepsake.archive.log import segment_sizes
from keepsake.cli import client, home, processes
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import DATABASE_URL, Places

MANIFEST = "manifest.json"
"""The last of a backup: when it was made, and in which form."""
FORM = 1
"""Of the backup file itself."""
UNFINISHED = "restore-unfinished"
"""A file in the home, while some of what was there is replaced and some is not."""
ARCHIVE = "archive"
_STAGE = ".restoring"
_SNAPSHOT_SECONDS = 600.0
_BLOCK = 1 << 20
_CURE = "Free some disk space or mend the permissions, and try again"

type Sizes = dict[str, dict[str, int]]
"""The bytes of each archive's segments, by agent."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made."""

    path: Path
    files: int  # how many it holds
    size: int  # their bytes, not compressed
    removed: tuple[Path, ...] = ()  # older ones that were removed


@dataclass(frozen=True, slots=True)
class Restored:
    """A world that was brought back."""

    files: int  # how many
    made: str  # when the backup was
    aside: tuple[Path, ...]  # where what was there before is now; empty if there was nothing


# -- backup


def backup(here: Places, target: Path, keep: int = 0) -> Backup:
    """Make a backup of the copy, whether it runs or not.

    Args:
        here: The copy.
        target: The file; in a folder that exists, one is named after the time.
        keep: How many of the files so named stay there, the newest ones; 0 for all.

    Raises:
        KeepsakeError: There is nothing to back up, or something cannot be read or written.
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
        database.refuse_another(here)
        if not (here.database_url or here.database.exists()):
            raise KeepsakeError(
                f"There is no world to back up: {here.database} does not exist",
                f"Set KEEPSAKE_HOME to its home; {DATABASE_URL} as well if it is on PostgreSQL",
            )
        server = processes.one(processes.running(here), processes.Component.SERVER)
        held = None if server else vault_lock.take(here)
        try:
            files, size = _written(here, path, _at_rest if held else _asked)
        finally:
            if held is not None:
                held.release()
    stamped = sorted(path.parent.glob("keepsake-????????-??????.tar.gz"))
    old = tuple(stamped[:-keep]) if keep else ()
    for each in old:
        each.unlink(missing_ok=True)
    return Backup(path, files, size, old)


def moment(here: Places, folder: Path) -> tuple[Callable[[], None], Sizes]:
    """The present moment of a world: what copies its database into a folder, and its archives.

    The copy may be made later, and blocks: it is of this moment all the same.

    Raises:
        KeepsakeError: Something cannot be read.
    """
    copy = database.reader(here)
    with refusing("The world could not be read"):
        if here.spill.exists():
            shutil.copyfile(here.spill, folder / here.spill.name)
        archives = here.agents.glob(f"*/{ARCHIVE}")
        sizes = {each.parent.name: segment_sizes(each) for each in archives}
    return lambda: copy(folder), sizes


def _at_rest(here: Places, folder: Path) -> Sizes:
    copy, sizes = moment(here, folder)
    copy()
    return sizes


def _asked(here: Places, folder: Path) -> Sizes:
    sizes: Sizes = client.ask(here, "snapshot", seconds=_SNAPSHOT_SECONDS, folder=str(folder))
    return sizes


def _written(
    here: Places, path: Path, snapshot: Callable[[Places, Path], Sizes]
) -> tuple[int, int]:
    """Write the file, whole or not at all; how many files are in it, and their bytes."""
    draft = path.with_name(f".{path.name}.part")
    files = total = 0
    try:
        with refusing(f"No backup could be written to {path}", _CURE, tarfile.TarError):
            path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)  # it holds secrets
            with os.fdopen(fd, "wb") as file, tempfile.TemporaryDirectory(dir=here.home) as scratch:
                with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as tar:
                    for source, name, size in _sources(here, snapshot, Path(scratch)):
                        try:
                            total += _add(tar, source, name, size)
                        except FileNotFoundError:
                            if size is not None:
                                raise
                            continue  # a book that was renamed or taken away just now
                        files += 1
                    made = datetime.now(UTC).isoformat(timespec="seconds")
                    manifest = json.dumps({"form": FORM, "made": made, "files": files}).encode()
                    info = tarfile.TarInfo(MANIFEST)
                    info.size, info.mode = len(manifest), 0o600
                    tar.addfile(info, io.BytesIO(manifest))
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
    return files, total


def _sources(
    here: Places, snapshot: Callable[[Places, Path], Sizes], scratch: Path
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


def _add(tar: tarfile.TarFile, path: Path, name: str, size: int | None) -> int:
    """Pack a file, or its first ``size`` bytes; how many that are."""
    with path.open("rb") as source:
        info = tar.gettarinfo(arcname=name, fileobj=source)
        info.type, info.uid, info.gid, info.uname, info.gname = tarfile.REGTYPE, 0, 0, "", ""
        info.size = os.fstat(source.fileno()).st_size if size is None else size
        tar.addfile(info, source)
    return info.size


# -- restore


def restore(here: Places, source: Path, *, replace: bool = False) -> Restored:
    """Bring a backup back.

    Args:
        here: The copy that is to become it; it must not run.
        source: The backup.
        replace: Whether a world that is there may be moved aside.

    Raises:
        KeepsakeError: The backup is damaged, or of a later version, or there is a world already.
            What was there is as it was, unless the message says otherwise.
    """
    here.agents.mkdir(parents=True, exist_ok=True)
    with home.alone(here):
        if processes.running(here):
            raise KeepsakeError(f"The world of {here.home} runs", "Stop it with `keepsake stop`")
        held = vault_lock.take(here)
        stages = {"home": here.home / _STAGE, "vault": here.vault / _STAGE}
        try:
            with refusing(f"{source} could not be restored", _CURE, sqlite3.Error):
                if not replace:
                    _refuse_a_world(here)
                files, made = _unpacked(source, stages)
                _check_database(here, stages["home"])
                aside = _put_in_place(here, stages)
        finally:
            for stage in stages.values():
                shutil.rmtree(stage, ignore_errors=True)
            held.release()
    return Restored(files, made, aside)


def refuse_unfinished(here: Places) -> None:
    """Refuse a start where a restore was killed while it put things in place.

    Raises:
        KeepsakeError: It was.
    """
    if (here.home / UNFINISHED).exists():
        raise KeepsakeError(
            f"A restore into {here.home} was cut off: vault and database may not belong together",
            "Do it once more: `keepsake restore FILE --replace`",
        )


def _refuse_a_world(here: Places) -> None:
    refuse_unfinished(here)
    there: object = next(here.agents.glob("*/archive/*.jsonl"), None)
    if here.database.exists() or database.has_world(here):
        there = database.shown(here)
    if there is not None:
        raise KeepsakeError(
            f"There is a world already ({there})",
            "Set KEEPSAKE_HOME and KEEPSAKE_VAULT to empty folders, or let it be moved aside: "
            "`keepsake restore FILE --replace`",
        )


def _unpacked(source: Path, stages: dict[str, Path]) -> tuple[int, str]:
    """Unpack a backup into the stages, by what its names begin with: how many files, and when made.

    Gzip's own checksum is over all of it.
    """
    manifest: dict[str, Any] = {}
    files = 0
    try:
        with gzip.open(source) as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
            for member in tar:
                top, _, name = member.name.partition("/")
                if member.name == MANIFEST and (last := tar.extractfile(member)):
                    manifest = json.load(last)
                elif member.isreg() and top in stages and name:
                    tar.extract(member.replace(name=name), stages[top], filter="data")
                    files += 1
                else:
                    raise ValueError(f"it holds {member.name!r}, which no backup does")
            while packed.read(_BLOCK):  # the checksum is behind its end
                pass
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, ValueError) as error:
        raise _damaged(source, str(error)) from error
    if "made" not in manifest:
        raise _damaged(source, "its end is missing")
    if manifest.get("form") != FORM:
        raise KeepsakeError(
            f"{source} is a backup of form {manifest.get('form')}, and this Keepsake knows {FORM}",
            "Restore it with the version of Keepsake that made it, or a later one",
        )
    return files, str(manifest["made"])


def _damaged(source: Path, why: str) -> KeepsakeError:
    what = f"{source} is damaged, and nothing was changed: {why}"
    return KeepsakeError(what, "Take another backup")


def _check_database(here: Places, stage: Path) -> None:
    """The backup's database is whole, and of the kind that this copy uses."""
    dump, file = stage / database.DUMP, stage / here.database.name
    wanted = dump if here.database_url else file
    if not wanted.exists():
        kind = "PostgreSQL" if dump.exists() else "SQLite"
        raise KeepsakeError(
            f"The backup is of a world on {kind}, and this copy is not",
            f"Set {DATABASE_URL} for PostgreSQL, or unset it for SQLite",
        )
    if wanted == file and (said := database.damage(file)):
        what = f"The database in the backup is damaged ({said})"
        raise KeepsakeError(what, "Take another backup")


def _put_in_place(here: Places, stages: dict[str, Path]) -> tuple[Path, ...]:
    """Move what is there aside and what is new to its place; killed on the way it is done again."""
    stamp = datetime.now(UTC).strftime("before-restore-%Y%m%d-%H%M%S-%f")
    marker, dump = here.home / UNFINISHED, stages["home"] / database.DUMP
    if here.database_url and database.has_world(here):
        (here.home / stamp).mkdir()
        database.reader(here)(here.home / stamp)
    cut_off_before = marker.exists()
    marker.touch()
    os.sync()
    if here.database_url:
        try:
            database.load_dump(here, dump)
        except KeepsakeError:  # one transaction: all is as it was
            if not cut_off_before:
                marker.unlink()
            raise
        dump.unlink()
    old = [here.database.with_name(here.database.name + end) for end in ("", "-wal", "-shm")]
    old += [here.elsewhere, here.secret_key, here.admin_password, here.spill, here.index]
    # The folder of the agents itself holds the lock, and stays.
    agents = [each for each in here.agents.iterdir() if not each.name.startswith(".in-use")]
    moved = (
        _move(old, here.home / stamp),
        _move([here.config], here.vault / stamp),
        _move(agents, here.vault / stamp / here.agents.name),
    )
    for new in sorted(stages["home"].iterdir()):
        new.rename(here.home / new.name)
    for top in (here.config, here.agents):
        top.mkdir(exist_ok=True)
        staged = stages["vault"] / top.name
        for new in sorted(staged.iterdir()) if staged.exists() else ():
            new.rename(top / new.name)
    os.sync()
    marker.unlink()
    return tuple(dict.fromkeys(folder for folder in moved if folder.exists()))


def _move(paths: list[Path], folder: Path) -> Path:
    """Move what there is of ``paths`` into ``folder``, which is made if there is something."""
    for path in paths:
        if path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            path.rename(folder / path.name)
    return folder
