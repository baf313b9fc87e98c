"""``keepsake backup`` and ``restore``: database, vault and secrets in one tar file.

The world may run during a backup. The database is written first, as of one moment, then the other
files, then the archives. So no file mentions a memory that is missing in its archive. Files that
are a little older than the archive catch up at the next start, as after a crash.

A restore unpacks the backup into a temporary folder and checks it before it changes anything. The
existing files are moved aside, not removed.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepsake import database, vault_lock
from keepsake.cli import processes
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import DATABASE_URL, Places

MANIFEST = "manifest.json"
"""The last file in a backup, with its time and format version."""
FORMAT = 1
"""The version of the backup file's format."""
_STAGE = ".restoring"
_CURE = "Free some disk space or fix the permissions, and try again"


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made or restored."""

    path: Path
    files: int  # number of files in it
    made: str  # when it was made
    aside: tuple[Path, ...] = ()  # folders with the files that a restore replaced


# -- backup


def backup(here: Places, target: Path) -> Backup:
    """Make a backup of the copy, whether it runs or not.

    Args:
        target: The new file, or an existing folder for a file named after the time.

    Raises:
        KeepsakeError: There is nothing to back up, or something cannot be read or written.
            Then no new file is left.
    """
    now = datetime.now(UTC)
    path = target / f"keepsake-{now:%Y%m%d-%H%M%S}.tar.gz" if target.is_dir() else target
    if path.exists():
        raise KeepsakeError(f"{path} exists already", "Choose another name, or remove it")
    with processes.command_lock(here):
        here = processes.running_places(here)
        database.check_world(here)
        if not (here.database_url or here.database.exists()):
            raise KeepsakeError(
                f"There is no world to back up: {here.database} does not exist",
                f"Set KEEPSAKE_HOME to its home; {DATABASE_URL} as well if it is on PostgreSQL",
            )
        draft = path.with_name(f".{path.name}.part")
        try:
            with refusing(f"No backup could be written to {path}", _CURE, tarfile.TarError):
                path.parent.mkdir(parents=True, exist_ok=True)
                made = _write(here, draft, now.isoformat(timespec="seconds"))
                draft.replace(path)
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        return Backup(path, made["files"], made["made"])


def _write(here: Places, path: Path, made: str) -> dict[str, Any]:
    """Write the backup file; return its manifest."""
    files = 0
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)  # it holds secrets
    with os.fdopen(fd, "wb") as file, tempfile.TemporaryDirectory(dir=here.home) as scratch:
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as tar:
            database.copy_into(here, Path(scratch))
            for source, name in _sources(here, Path(scratch)):
                with suppress(FileNotFoundError):  # removed since it was listed
                    tar.add(source, name)
                    files += 1
            manifest = {"form": FORMAT, "made": made, "files": files}
            (last := Path(scratch) / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
            tar.add(last, MANIFEST)
        file.flush()
        os.fsync(file.fileno())
    return manifest


def _sources(here: Places, scratch: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file and its name in the backup, without drafts and locks (dot files)."""
    for path in (*sorted(scratch.iterdir()), here.secret_key, here.admin_password, here.spill):
        yield path, f"home/{path.name}"
    found = [path for top in (here.config, here.agents) for path in sorted(top.rglob("*"))]
    found.sort(key=lambda path: path.parent.name == "archive")
    for path in filter(Path.is_file, found):
        name = path.relative_to(here.vault)
        if not any(part.startswith(".") for part in name.parts):
            yield path, f"vault/{name.as_posix()}"


# -- restore


def restore(here: Places, source: Path, *, replace: bool = False) -> Backup:
    """Restore a backup.

    Args:
        here: The copy to restore into; it must not run.
        replace: Whether an existing world may be moved aside.

    Raises:
        KeepsakeError: The backup is damaged, or of a later version, or there is a world already.
            Then nothing has changed.
    """
    here.agents.mkdir(parents=True, exist_ok=True)
    stage = here.home / _STAGE
    with processes.command_lock(here):
        if processes.running(here):
            raise KeepsakeError(f"The world of {here.home} runs", "Stop it with `keepsake stop`")
        with vault_lock.take(here):
            try:
                with refusing(f"{source} could not be restored", _CURE, sqlite3.Error):
                    has_world = _has_world(here)
                    if not replace and (has_world or [*here.agents.glob("*/archive/*.jsonl")]):
                        raise KeepsakeError(
                            f"There is a world already ({database.address(here)}, {here.agents})",
                            "Set KEEPSAKE_HOME and KEEPSAKE_VAULT to empty folders, or let it be "
                            "moved aside: `keepsake restore FILE --replace`",
                        )
                    manifest = _unpack(source, stage)
                    _check_database(here, stage / "home")
                    aside = _put_in_place(here, stage, keep_tables=has_world)
            finally:
                shutil.rmtree(stage, ignore_errors=True)
    return Backup(source, manifest["files"], manifest["made"], aside)


def _has_world(here: Places) -> bool:
    """Return whether the database holds a world."""
    asked = "SELECT to_regclass('objects_objectdb') IS NOT NULL"
    return here.database.exists() or bool(here.database_url and database.query(here, asked))


def _unpack(source: Path, stage: Path) -> dict[str, Any]:
    """Unpack a backup; return its manifest."""
    try:
        with gzip.open(source) as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
            tar.extractall(stage, filter="data")
            while packed.read(1 << 20):  # gzip's checksum comes after the end of the tar data
                pass
        if not (stage / MANIFEST).exists():
            raise ValueError("the end of the file is missing")
        manifest: dict[str, Any] = json.loads((stage / MANIFEST).read_text(encoding="utf-8"))
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, ValueError) as error:
        what = f"{source} is damaged, and nothing was changed: {error}"
        raise KeepsakeError(what, "Use another backup") from error
    if (form := manifest.get("form")) != FORMAT:
        what = f"{source} has backup format {form}; this Keepsake reads format {FORMAT}"
        raise KeepsakeError(what, "Restore it with the version of Keepsake that made it")
    return manifest


def _check_database(here: Places, stage: Path) -> None:
    """Check that the backup's database is intact, and of the kind that this copy uses."""
    dump = stage / database.DUMP
    file = stage / here.database.name
    if not (dump if here.database_url else file).exists():
        kind = "PostgreSQL" if dump.exists() else "SQLite"
        raise KeepsakeError(
            f"The backup is of a world on {kind}, but this copy is not",
            f"Set {DATABASE_URL} for PostgreSQL, or unset it for SQLite",
        )
    if not here.database_url and (said := database.damage(file)):
        what = f"The database in the backup is damaged ({said})"
        raise KeepsakeError(what, "Use another backup")


def _put_in_place(here: Places, stage: Path, *, keep_tables: bool) -> tuple[Path, ...]:
    """Move old files aside and new ones into place; return the folders of the old ones."""
    stamp = datetime.now(UTC).strftime("before-restore-%Y%m%d-%H%M%S-%f")
    if here.database_url:
        if keep_tables:
            (here.home / stamp).mkdir()
            database.copy_into(here, here.home / stamp)
        dump = stage / "home" / database.DUMP
        database.load_dump(here, dump)  # one transaction: a failure changes nothing
        dump.unlink()
    old = [here.database.with_name(here.database.name + end) for end in ("", "-wal", "-shm")]
    old += [here.elsewhere, here.secret_key, here.admin_password, here.spill, here.index]
    # The agents' folder itself stays, because it holds the lock.
    agents = [each for each in here.agents.iterdir() if not each.name.startswith(".in-use")]
    for path in filter(Path.exists, [*old, here.config, *agents]):
        top = here.home if path in old else here.vault
        aside = top / stamp / path.relative_to(top)
        aside.parent.mkdir(parents=True, exist_ok=True)
        path.rename(aside)
    for place, name in (
        (here.home, "home"),
        (here.config, "vault/config"),
        (here.agents, "vault/agents"),
    ):
        place.mkdir(exist_ok=True)
        for new in sorted((stage / name).glob("*")):
            shutil.move(new, place)
    os.sync()
    return tuple(top / stamp for top in (here.home, here.vault) if (top / stamp).exists())
