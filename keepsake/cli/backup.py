"""``keepsake backup`` and ``restore``: database, vault and secrets in one tar file.

The world may run. First comes the database as of one moment, then the files beside the archives,
then the archives. So no file tells of a memory that is not in its archive; what is a little older
catches up at the next start, as after a crash.

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
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepsake import database, vault_lock
from keepsake.cli import processes
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import DATABASE_URL, Places

MANIFEST = "manifest.json"
"""The last of a backup: when it was made, and in which form."""
FORM = 1
"""Of the backup file itself."""
_STAGE = ".restoring"
_BLOCK = 1 << 20
_CURE = "Free some disk space or mend the permissions, and try again"


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made."""

    path: Path
    files: int  # how many it holds
    size: int  # their bytes, not compressed


@dataclass(frozen=True, slots=True)
class Restored:
    """A world that was brought back."""

    files: int  # how many
    made: str  # when the backup was
    aside: tuple[Path, ...]  # where what was there before is now; empty if there was nothing


# -- backup


def backup(here: Places, target: Path) -> Backup:
    """Make a backup of the copy, whether it runs or not.

    Args:
        here: The copy.
        target: The file; in a folder that exists, one is named after the time.

    Raises:
        KeepsakeError: There is nothing to back up, or something cannot be read or written.
            There is no new file then.
    """
    stamp = datetime.now(UTC).strftime("keepsake-%Y%m%d-%H%M%S.tar.gz")
    path = target / stamp if target.is_dir() else target
    if path.exists():
        raise KeepsakeError(f"{path} exists already", "Choose another name, or remove it")
    with processes.alone(here):
        here = processes.actual(here)
        database.refuse_another(here)
        if not (here.database_url or here.database.exists()):
            raise KeepsakeError(
                f"There is no world to back up: {here.database} does not exist",
                f"Set KEEPSAKE_HOME to its home; {DATABASE_URL} as well if it is on PostgreSQL",
            )
        return Backup(path, *_write(here, path))


def _write(here: Places, path: Path) -> tuple[int, int]:
    """Write the file, whole or not at all; how many files are in it, and their bytes."""
    draft = path.with_name(f".{path.name}.part")
    files = total = 0
    try:
        with refusing(f"No backup could be written to {path}", _CURE, tarfile.TarError):
            path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)  # it holds secrets
            with os.fdopen(fd, "wb") as file, tempfile.TemporaryDirectory(dir=here.home) as scratch:
                with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as tar:
                    database.copy_into(here, Path(scratch))
                    for source, name in _sources(here, Path(scratch)):
                        with contextlib.suppress(FileNotFoundError):  # renamed or removed just now
                            total += _add(tar, source, name)
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


def _sources(here: Places, scratch: Path) -> Iterator[tuple[Path, str]]:
    """Each file, and its name in the backup; drafts and locks begin with a dot."""
    for path in (*sorted(scratch.iterdir()), here.secret_key, here.admin_password, here.spill):
        yield path, f"home/{path.name}"
    found = [*here.config.rglob("*"), *here.agents.rglob("*")]
    named = {path: path.relative_to(here.vault) for path in sorted(found) if path.is_file()}
    archives = {path for path, name in named.items() if name.parent.name == "archive"}
    for path in (*(path for path in named if path not in archives), *sorted(archives)):
        if not any(part.startswith(".") for part in named[path].parts):
            yield path, f"vault/{named[path].as_posix()}"


def _add(tar: tarfile.TarFile, path: Path, name: str) -> int:
    """Pack a file, as long as it is now; how many bytes that are."""
    with path.open("rb") as source:
        info = tar.gettarinfo(arcname=name, fileobj=source)
        info.type, info.uid, info.gid, info.uname, info.gname = tarfile.REGTYPE, 0, 0, "", ""
        info.size = os.fstat(source.fileno()).st_size
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
            What was there is as it was.
    """
    here.agents.mkdir(parents=True, exist_ok=True)
    stages = {"home": here.home / _STAGE, "vault": here.vault / _STAGE}
    with processes.alone(here):
        if processes.running(here):
            raise KeepsakeError(f"The world of {here.home} runs", "Stop it with `keepsake stop`")
        with vault_lock.take(here):
            try:
                with refusing(f"{source} could not be restored", _CURE, sqlite3.Error):
                    if not replace:
                        _refuse_a_world(here)
                    files, made = _unpack(source, stages)
                    _check_database(here, stages["home"])
                    aside = _put_in_place(here, stages)
            finally:
                for stage in stages.values():
                    shutil.rmtree(stage, ignore_errors=True)
    return Restored(files, made, aside)


def _has_world(here: Places) -> bool:
    """Whether the database holds a world."""
    if here.database_url:
        return bool(database.ask(here, "SELECT to_regclass('objects_objectdb') IS NOT NULL"))
    return here.database.exists()


def _refuse_a_world(here: Places) -> None:
    there: object = next(here.agents.glob("*/archive/*.jsonl"), None)
    if here.database.exists() or _has_world(here):
        there = database.shown(here)
    if there is not None:
        raise KeepsakeError(
            f"There is a world already ({there})",
            "Set KEEPSAKE_HOME and KEEPSAKE_VAULT to empty folders, or let it be moved aside: "
            "`keepsake restore FILE --replace`",
        )


def _unpack(source: Path, stages: dict[str, Path]) -> tuple[int, str]:
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
        if "made" not in manifest:
            raise ValueError("its end is missing")
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, ValueError) as error:
        what = f"{source} is damaged, and nothing was changed: {error}"
        raise KeepsakeError(what, "Take another backup") from error
    if manifest.get("form") != FORM:
        raise KeepsakeError(
            f"{source} is a backup of form {manifest.get('form')}, and this Keepsake knows {FORM}",
            "Restore it with the version of Keepsake that made it, or a later one",
        )
    return files, str(manifest["made"])


def _check_database(here: Places, stage: Path) -> None:
    """The backup's database is whole, and of the kind that this copy uses."""
    dump, file = stage / database.DUMP, stage / here.database.name
    if not (dump if here.database_url else file).exists():
        kind = "PostgreSQL" if dump.exists() else "SQLite"
        raise KeepsakeError(
            f"The backup is of a world on {kind}, and this copy is not",
            f"Set {DATABASE_URL} for PostgreSQL, or unset it for SQLite",
        )
    if not here.database_url and (said := database.damage(file)):
        what = f"The database in the backup is damaged ({said})"
        raise KeepsakeError(what, "Take another backup")


def _put_in_place(here: Places, stages: dict[str, Path]) -> tuple[Path, ...]:
    """Move what is there aside and what is new to its place; where that went."""
    stamp = datetime.now(UTC).strftime("before-restore-%Y%m%d-%H%M%S-%f")
    if here.database_url:
        if _has_world(here):
            (here.home / stamp).mkdir()
            database.copy_into(here, here.home / stamp)
        dump = stages["home"] / database.DUMP
        database.load_dump(here, dump)  # one transaction: if it fails all is as it was
        dump.unlink()
    old = [here.database.with_name(here.database.name + end) for end in ("", "-wal", "-shm")]
    old += [here.elsewhere, here.secret_key, here.admin_password, here.spill, here.index]
    # The folder of the agents itself holds the lock, and stays.
    agents = [each for each in here.agents.iterdir() if not each.name.startswith(".in-use")]
    for paths, folder in (
        (old, here.home / stamp),
        ([here.config], here.vault / stamp),
        (agents, here.vault / stamp / here.agents.name),
    ):
        for path in filter(Path.exists, paths):
            folder.mkdir(parents=True, exist_ok=True)
            path.rename(folder / path.name)
    for staged, place in (
        (stages["home"], here.home),
        (stages["vault"] / here.config.name, here.config),
        (stages["vault"] / here.agents.name, here.agents),
    ):
        place.mkdir(exist_ok=True)
        for new in sorted(staged.iterdir()) if staged.exists() else ():
            new.rename(place / new.name)
    os.sync()
    return tuple(top / stamp for top in (here.home, here.vault) if (top / stamp).exists())
