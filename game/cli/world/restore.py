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
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any

from game.cli.world import formats, home, processes
from game.cli.world.backup import FORM, MANIFEST, Progress
from game.server import database_rows, databases, vault_lock
from keepsake.errors import KeepsakeError
from keepsake.paths import Places
from keepsake.records.files import sync

UNFINISHED = "restore-unfinished"
"""A file in the home, while some of what was there is replaced and some is not."""
_STAGE = ".restoring"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Restored:
    """A world that was brought back."""

    files: int  # how many
    made: str  # when the backup was
    aside: tuple[Path, ...]  # where what was there before is now; empty if there was nothing


def restore(here: Places, source: Path, progress: Progress, *, replace: bool) -> Restored:
    """Bring a backup back.

    Args:
        here: The copy that is to become it; it must not run.
        source: The backup.
        progress: Told how many bytes of ``source`` are read, and of how many.
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
            if not replace:
                _refuse_another(here)
            facts = _unpacked(source, stages, progress)
            _check(facts, stages, here)
            _mark(stages["vault"] / here.agents.name, facts)
            aside = _put_in_place(here, stages)
        except (OSError, sqlite3.Error) as error:
            raise KeepsakeError(
                f"{source} could not be restored ({error})",
                "Free some disk space or mend the permissions, and try again",
            ) from error
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


def _refuse_another(here: Places) -> None:
    refuse_unfinished(here)
    there = next(here.agents.glob("*/archive/*.jsonl"), None)
    if here.database.exists() or _has_tables(here):
        there = databases.shown(here)
    if there is not None:
        raise KeepsakeError(
            f"There is a world already ({there})",
            "Set KEEPSAKE_HOME and KEEPSAKE_VAULT to empty folders, or let it be moved aside: "
            "`keepsake restore FILE --replace`",
        )


def _has_tables(here: Places) -> bool:
    """Whether there is a world in PostgreSQL's database."""
    return bool(here.database_url) and database_rows.there(here)


# -- unpacking and checking


def _unpacked(source: Path, stages: dict[str, Path], progress: Progress) -> dict[str, Any]:
    """Unpack a backup into the stages, by what its names begin with, and return its manifest."""
    found: dict[str, dict[str, Any]] = {}
    manifest: dict[str, Any] = {}
    try:
        total = source.stat().st_size
        with source.open("rb") as file, tarfile.open(fileobj=file, mode="r|gz") as tar:
            for member in tar:
                if member.name == MANIFEST:
                    manifest = json.load(_opened(tar, member))
                else:
                    found[member.name] = _unpack(tar, member, stages)
                progress(file.tell(), total)
    except (tarfile.TarError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        # A TypeError is what tarfile itself makes of a file that ends in gzip's own header.
        raise _damaged(source, str(error)) from error
    if not manifest:
        raise _damaged(source, "its end is missing")
    if manifest.get("form", 0) > FORM:
        raise KeepsakeError(
            f"{source} is a backup of form {manifest['form']}, and this Keepsake knows form {FORM}",
            "Restore it with the version of Keepsake that made it, or a later one",
        )
    _compare(source, found, manifest)
    return manifest


def _unpack(
    tar: tarfile.TarFile, member: tarfile.TarInfo, stages: dict[str, Path]
) -> dict[str, Any]:
    top, *parts = PurePosixPath(member.name).parts
    if not member.isreg() or top not in stages or not parts or ".." in parts:
        raise ValueError(f"it holds {member.name!r}, which no backup does")
    path = stages[top].joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    packed = _opened(tar, member)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "wb") as target:
        while data := packed.read(_BLOCK):
            digest.update(data)
            size += len(data)
            target.write(data)
        os.fchmod(target.fileno(), member.mode & 0o777)
        target.flush()
        os.fsync(target.fileno())
    os.utime(path, (member.mtime, member.mtime))
    return {"bytes": size, "sha256": digest.hexdigest()}


def _opened(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    packed = tar.extractfile(member)
    if packed is None:
        raise ValueError(f"it holds nothing under {member.name!r}")
    return packed


def _compare(source: Path, found: dict[str, dict[str, Any]], manifest: dict[str, Any]) -> None:
    listed = manifest.get("files")
    if not isinstance(listed, dict):
        raise _damaged(source, "its list of files is missing")
    if missing := sorted(listed.keys() - found.keys()):
        raise _damaged(source, f"{missing[0]} is missing")
    for name, facts in found.items():
        if listed.get(name) != facts:
            raise _damaged(source, f"{name} is not what was packed")


def _check(facts: dict[str, Any], stages: dict[str, Path], here: Places) -> None:
    formats.refuse_newer(int(facts.get("world", 0)), "The backup")
    database = stages["home"] / here.database.name
    if not database.exists():
        raise KeepsakeError("The backup holds no database", "It is of a world that never started")
    if said := formats.damage(database):
        raise KeepsakeError(
            f"The database in the backup is damaged ({said})", "Take another backup"
        )


def _mark(agents: Path, facts: dict[str, Any]) -> None:
    """Write down the form of the vault; a backup leaves out what begins with a dot."""
    agents.mkdir(parents=True, exist_ok=True)
    (agents / formats.MARK).write_text(f"{facts['world']}\n", encoding="ascii")


def _damaged(source: Path, why: str) -> KeepsakeError:
    return KeepsakeError(
        f"{source} is damaged, and nothing was changed: {why}", "Take another backup"
    )


# -- putting in place


def _put_in_place(here: Places, stages: dict[str, Path]) -> tuple[Path, ...]:
    """Move what is there aside and what is new to its place; killed on the way it is done again."""
    stamp = datetime.now(UTC).strftime("before-restore-%Y%m%d-%H%M%S-%f")
    if here.database_url:
        _keep_rows(here, here.home / stamp)
    marker = here.home / UNFINISHED
    cut_off_before = marker.exists()
    marker.touch()
    sync(here.home)
    if here.database_url:
        staged = stages["home"] / here.database.name
        try:
            database_rows.from_sqlite(staged, here)
        except (KeepsakeError, OSError, sqlite3.Error):  # one transaction: all is as it was
            if not cut_off_before:
                marker.unlink()
            raise
        staged.unlink()
    old = [here.database.with_name(here.database.name + end) for end in ("", "-wal", "-shm")]
    old += [here.elsewhere, here.secret_key, here.admin_password, here.spill, here.index]
    # The folder of the agents itself is locked and stays.
    agents = [each for each in here.agents.iterdir() if not each.name.startswith(".in-use")]
    moved = [
        _move(old, here.home / stamp),
        _move([here.config], here.vault / stamp),
        _move(agents, here.vault / stamp / here.agents.name),
    ]
    for new in sorted(stages["home"].iterdir()):
        new.rename(here.home / new.name)
    for top in ("config", "agents"):
        (here.vault / top).mkdir(exist_ok=True)
        for new in sorted((stages["vault"] / top).iterdir()):
            new.rename(here.vault / top / new.name)
    for folder in (here.home, here.config, here.agents, here.vault):
        sync(folder)
    marker.unlink()
    sync(here.home)
    there = [*moved, here.home / stamp if (here.home / stamp).exists() else None]
    return tuple(dict.fromkeys(folder for folder in there if folder is not None))


def _keep_rows(here: Places, aside: Path) -> None:
    """Put what PostgreSQL has aside as a file; its tables are those of this version then."""
    database_rows.make_tables(here)
    if _has_tables(here):
        aside.mkdir(parents=True)
        with database_rows.moment(here) as reader:
            database_rows.to_sqlite(reader, aside / here.database.name)


def _move(paths: list[Path], folder: Path) -> Path | None:
    """Move what there is of ``paths`` into ``folder``; the folder, or None if there was nothing."""
    there = [path for path in paths if path.exists()]
    for path in there:
        folder.mkdir(parents=True, exist_ok=True)
        path.rename(folder / path.name)
    return folder if there else None
