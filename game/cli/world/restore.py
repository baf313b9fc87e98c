"""``keepsake restore``: a backup becomes the world of this home and vault.

Everything is unpacked beside its place and checked before anything that is there is touched.
What was there is moved aside, not removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import tarfile
import zlib
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from game.cli.world import home, processes
from game.cli.world.backup import FORM, MANIFEST, Progress
from game.server import database_copy, databases, vault_lock
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import DATABASE_URL, Places

UNFINISHED = "restore-unfinished"
"""A file in the home, while some of what was there is replaced and some is not."""
_STAGE = ".restoring"


@dataclass(frozen=True, slots=True)
class Restored:
    """A world that was brought back."""

    files: int  # how many
    made: str  # when the backup was
    aside: tuple[Path, ...]  # where what was there before is now; empty if there was nothing


def restore(
    here: Places, source: Path, progress: Progress = lambda _: None, *, replace: bool = False
) -> Restored:
    """Bring a backup back.

    Args:
        here: The copy that is to become it; it must not run.
        source: The backup.
        progress: Told how many bytes of ``source`` are read.
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
        cure = "Free some disk space or mend the permissions, and try again"
        try:
            with refusing(f"{source} could not be restored", cure, sqlite3.Error):
                if not replace:
                    _refuse_another(here)
                facts = _unpacked(source, stages, progress)
                _check_database(here, stages["home"])
                aside = _put_in_place(here, stages)
        finally:
            for stage in stages.values():
                shutil.rmtree(stage, ignore_errors=True)
            held.release()
    return Restored(len(facts["files"]), str(facts["made"]), aside)


def refuse_unfinished(here: Places) -> None:
    """Raise where a restore was killed while it put things in place.

    Raises:
        KeepsakeError: It was.
    """
    if (here.home / UNFINISHED).exists():
        raise KeepsakeError(
            f"A restore into {here.home} was cut off: vault and database may not belong together",
            "Do it once more: `keepsake restore FILE --replace`",
        )


def damage(path: Path) -> str:
    """What SQLite finds wrong with a database; empty for nothing."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
            found = str(database.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else found


def _refuse_another(here: Places) -> None:
    refuse_unfinished(here)
    there: object = next(here.agents.glob("*/archive/*.jsonl"), None)
    if database_copy.has_world(here) or here.database.exists():
        there = databases.shown(here)
    if there is not None:
        raise KeepsakeError(
            f"There is a world already ({there})",
            "Set KEEPSAKE_HOME and KEEPSAKE_VAULT to empty folders, or let it be moved aside: "
            "`keepsake restore FILE --replace`",
        )


def _unpacked(source: Path, stages: dict[str, Path], progress: Progress) -> dict[str, Any]:
    """Unpack a backup into the stages, by what its names begin with, and return its manifest."""
    manifest: dict[str, Any] = {}
    found: dict[str, dict[str, Any]] = {}
    try:
        with source.open("rb") as file, tarfile.open(fileobj=file, mode="r|gz") as tar:
            for member in tar:
                progress(file.tell())
                top, _, name = member.name.partition("/")
                if member.name == MANIFEST and (packed := tar.extractfile(member)):
                    manifest = json.load(packed)
                elif member.isreg() and top in stages and name:
                    tar.extract(member.replace(name=name), stages[top], filter="data")
                    found[member.name] = _facts(stages[top] / name)
                else:
                    raise ValueError(f"it holds {member.name!r}, which no backup does")
    except (tarfile.TarError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        # A TypeError is what tarfile itself makes of a file that ends in gzip's own header.
        raise _damaged(source, str(error)) from error
    if not isinstance(listed := manifest.get("files"), dict):
        raise _damaged(source, "its end is missing")
    if manifest.get("form") != FORM:
        raise KeepsakeError(
            f"{source} is a backup of form {manifest.get('form')}, and this Keepsake knows {FORM}",
            "Restore it with the version of Keepsake that made it, or a later one",
        )
    if found != listed:
        differing = sorted(
            name for name in {*found, *listed} if found.get(name) != listed.get(name)
        )
        raise _damaged(source, f"{differing[0]} is not what was packed")
    return manifest


def _facts(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        os.fsync(file.fileno())
    return {"bytes": path.stat().st_size, "sha256": digest}


def _damaged(source: Path, why: str) -> KeepsakeError:
    return KeepsakeError(
        f"{source} is damaged, and nothing was changed: {why}", "Take another backup"
    )


def _check_database(here: Places, stage: Path) -> None:
    """The backup's database is whole, and of the kind that this copy uses."""
    dump, file = stage / database_copy.DUMP, stage / here.database.name
    wanted = dump if here.database_url else file
    if not wanted.exists():
        kind = "PostgreSQL" if dump.exists() else "SQLite"
        raise KeepsakeError(
            f"The backup is of a world on {kind}, and this copy is not",
            f"Set {DATABASE_URL} for PostgreSQL, or unset it for SQLite",
        )
    if wanted == file and (said := damage(file)):
        raise KeepsakeError(
            f"The database in the backup is damaged ({said})", "Take another backup"
        )


def _put_in_place(here: Places, stages: dict[str, Path]) -> tuple[Path, ...]:
    """Move what is there aside and what is new to its place; killed on the way it is done again."""
    stamp = datetime.now(UTC).strftime("before-restore-%Y%m%d-%H%M%S-%f")
    marker, dump = here.home / UNFINISHED, stages["home"] / database_copy.DUMP
    if here.database_url and database_copy.has_world(here):
        (here.home / stamp).mkdir()
        database_copy.reader(here).copy_into(here.home / stamp)
    cut_off_before = marker.exists()
    marker.touch()
    os.sync()
    if here.database_url:
        try:
            database_copy.load_dump(here, dump)
        except KeepsakeError:  # one transaction: all is as it was
            if not cut_off_before:
                marker.unlink()
            raise
        dump.unlink()
    old = [here.database.with_name(here.database.name + end) for end in ("", "-wal", "-shm")]
    old += [here.elsewhere, here.secret_key, here.admin_password, here.spill, here.index]
    # The folder of the agents itself is locked and stays.
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
