"""``keepsake backup`` and ``restore``: database, vault, own world and secrets in one tar file.

The world may run during a backup. The database is written first, as of one moment, then the other
files, then the archives. So no file mentions a memory that is missing in its archive. Files that
are a little older than the archive catch up at the next start, as after a crash. Links are
followed, as the game follows them. A backup is unpacked and compared before it gets its name.

A restore unpacks the backup into a temporary folder and checks it before it changes anything. The
existing files are moved aside, not removed.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepsake import database, vault_lock
from keepsake.cli import processes, world_tar
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import DATABASE_URL, Places, protect

MANIFEST = "manifest.json"
"""The last file in a backup, with its time and format version."""
FORMAT = 2
"""The version of the backup file's format. Since 2 it may hold an own world."""
_WITHOUT_OWN_WORLD = 1
"""The version that is written if there is no own world, so that earlier Keepsakes can read it."""
_OWN_WORLD = "world/"
"""The folder of the own world in a backup."""
_STAGE = ".restoring"
_CURE = "Free some disk space or fix the permissions, and try again"


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made or restored."""

    path: Path
    files: int  # number of files in it
    made: str  # when it was made
    aside: tuple[Path, ...] = ()  # folders with the files that a restore replaced
    links: tuple[str, ...] = ()  # links in the file of an earlier version, which were not restored


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
    """Write the backup file, and read it back; return its manifest.

    Raises:
        KeepsakeError: The file does not hold what was written into it.
    """
    with tempfile.TemporaryDirectory(dir=here.home) as folder:
        scratch = Path(folder)
        copied = scratch / "database"
        copied.mkdir()
        database.copy_into(here, copied)
        # Some files are optional, and others may have been removed meanwhile.
        sources = [each for each in _sources(here, copied) if each[0].exists()]
        has_own = any(name.startswith(_OWN_WORLD) for _, name in sources)
        form = FORMAT if has_own else _WITHOUT_OWN_WORLD
        manifest = {"form": form, "made": made, "files": len(sources)}
        last = scratch / MANIFEST
        last.write_text(json.dumps(manifest), encoding="utf-8")
        written = world_tar.write(path, [*sources, (last, MANIFEST)])
        _read_back(here, path, scratch / "read-back", written)
    return manifest


def _read_back(here: Places, path: Path, folder: Path, written: dict[str, str]) -> None:
    """Unpack a new backup and compare it with what was written.

    Raises:
        KeepsakeError: They differ, or the database in it is damaged.
    """
    cure = "Check the disk on which the backup is written, and try again"
    try:
        found = world_tar.unpack(path, folder)
    except world_tar.DAMAGED as error:
        raise KeepsakeError(f"The backup cannot be read back ({error})", cure) from error
    if wrong := [name for name, digest in written.items() if found.digests.get(name) != digest]:
        raise KeepsakeError(f"The backup does not hold {wrong[0]} as it was written", cure)
    _check_database(here, folder / "home")


def _sources(here: Places, copied: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file and its name in the backup, without drafts and locks (dot files).

    ``copied``: The folder with the snapshot of the database.
    """
    for path in (*sorted(copied.iterdir()), here.secret_key, here.admin_password, here.spill):
        yield path, f"home/{path.name}"
    tops = {
        here.config: "vault/config/",
        here.agents: "vault/agents/",
        here.own_world: _OWN_WORLD,
    }
    found = [
        (path, f"{name}{path.relative_to(top).as_posix()}")
        for top, name in tops.items()
        if top.exists()
        for path in world_tar.files_below(top)
    ]
    found.sort(key=lambda each: each[0].parent.name == "archive")
    yield from found


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
                    if not replace:
                        _check_empty(here, has_world=has_world)
                    shutil.rmtree(stage, ignore_errors=True)  # of a restore that was killed
                    manifest, links = _unpack(source, stage)
                    _check_database(here, stage / "home")
                    if (stage / _OWN_WORLD).exists():  # before anything is moved
                        here.own_world.mkdir(parents=True, exist_ok=True)
                    aside = _put_in_place(here, stage, keep_tables=has_world)
            finally:
                shutil.rmtree(stage, ignore_errors=True)
    return Backup(source, manifest["files"], manifest["made"], aside, links)


def _has_world(here: Places) -> bool:
    """Return whether the database holds a world."""
    asked = "SELECT to_regclass('objects_objectdb') IS NOT NULL"
    return here.database.exists() or bool(here.database_url and database.query(here, asked))


def _check_empty(here: Places, *, has_world: bool) -> None:
    """Check that a restore would move nothing aside.

    Raises:
        KeepsakeError: There is a world, or a part of one.
    """
    own = here.own_world.is_dir() and [*here.own_world.iterdir()]
    if has_world or own or [*here.agents.glob("*/archive/*.jsonl")]:
        there = here.own_world if own else here.agents
        raise KeepsakeError(
            f"There is a world already ({database.address(here)}, {there})",
            "Set KEEPSAKE_HOME, KEEPSAKE_VAULT and KEEPSAKE_WORLD to empty folders, or let it be "
            "moved aside: `keepsake restore FILE --replace`",
        )


def _unpack(source: Path, stage: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Unpack a backup; return its manifest, and the links in it, which are not restored."""
    try:
        found = world_tar.unpack(source, stage)
        if not (stage / MANIFEST).exists():
            raise ValueError("the end of the file is missing")
        manifest: dict[str, Any] = json.loads((stage / MANIFEST).read_text(encoding="utf-8"))
    except world_tar.DAMAGED as error:
        what = f"{source} is damaged, and nothing was changed: {error}"
        raise KeepsakeError(what, "Use another backup") from error
    if (form := manifest.get("form")) not in (FORMAT, _WITHOUT_OWN_WORLD):
        what = f"{source} has backup format {form}; this Keepsake reads up to {FORMAT}"
        raise KeepsakeError(what, "Restore it with the version of Keepsake that made it")
    return manifest, found.links


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
    for path in filter(os.path.lexists, [*old, here.config, *agents]):
        top = here.home if path in old else here.vault
        _move_aside(path, top / stamp / path.relative_to(top))
    if here.own_world.is_dir():  # the folder itself stays: it may be a disk of its own
        for path in sorted(here.own_world.iterdir()):
            _move_aside(path, here.vault / stamp / _OWN_WORLD / path.name)
    for place, name in (
        (here.home, "home"),
        (here.config, "vault/config"),
        (here.agents, "vault/agents"),
        (here.own_world, _OWN_WORLD),
    ):
        for new in sorted((stage / name).glob("*")):
            place.mkdir(exist_ok=True)
            shutil.move(new, place)
    protect(here)
    os.sync()
    return tuple(top / stamp for top in (here.home, here.vault) if (top / stamp).exists())


def _move_aside(path: Path, aside: Path) -> None:
    """Move a file, folder or link; a link leads to the same place from there."""
    aside.parent.mkdir(parents=True, exist_ok=True)
    if path.is_symlink():  # a relative link would lead elsewhere from there
        aside.symlink_to(path.parent.resolve() / path.readlink())
        path.unlink()
    else:
        shutil.move(path, aside)
