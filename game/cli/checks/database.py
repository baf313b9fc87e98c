"""Checks of Evennia's database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from game.cli.checks.finding import Finding
from game.server import databases
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import Places

_SUBJECT = "Database"
_APPLIED = "SELECT app, name FROM django_migrations"
_NO_TABLES = "no tables yet, the first start makes them"


def database(here: Places) -> Iterator[Finding]:
    """It can be read, and its tables are those of this version."""
    try:
        databases.refuse_another(here)
        what, applied = _postgres(here) if here.database_url else _sqlite(here)
    except KeepsakeError as error:
        yield Finding(_SUBJECT, False, error.what, error.cure)
        return
    missing = sorted(_shipped() - applied) if applied else []
    unknown = sorted(each for each in applied - _shipped() if each[0] in dict(_shipped()))
    if unknown:
        cure = "Start it with the version that made them, or bring a backup of before back"
        told = f"{what}: its tables are of a later version ({_named(unknown)})"
        yield Finding(_SUBJECT, False, told, cure)
    elif missing:
        yield Finding(_SUBJECT, True, f"{what}; the next start brings {_named(missing)} about")
    else:
        yield Finding(_SUBJECT, True, what if applied else f"{what}: {_NO_TABLES}")


def _postgres(here: Places) -> tuple[str, set[tuple[str, str]]]:
    with databases.connected(here) as connection:
        version = connection.info.server_version
        what = f"{databases.shown(here)}, PostgreSQL {version // 10_000}.{version % 10_000}"
        made = connection.execute("SELECT to_regclass('django_migrations')").fetchone()
        rows = connection.execute(_APPLIED).fetchall() if made and made[0] else []
    return what, {(app, name) for app, name in rows}


def _sqlite(here: Places) -> tuple[str, set[tuple[str, str]]]:
    path = here.database
    if not path.exists():
        return f"{path} (SQLite)", set()
    what = f"{path}, SQLite, {path.stat().st_size / 1e6:,.0f} MB"
    cure = "Bring a backup back: `keepsake restore FILE --replace`"
    with (
        refusing(f"{path} cannot be read", cure, sqlite3.Error),
        closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection,
    ):
        names = "SELECT name FROM sqlite_master WHERE name = 'django_migrations'"
        made = connection.execute(names).fetchone()
        return what, set(connection.execute(_APPLIED)) if made else set()


def _shipped() -> set[tuple[str, str]]:
    """The migrations that come with Evennia, by app and name."""
    spec = find_spec("evennia")
    folder = Path((spec.submodule_search_locations or [""])[0]) if spec else Path()
    found = folder.glob("*/migrations/[0-9]*.py")
    return {(path.parent.parent.name, path.stem) for path in found}


def _named(migrations: list[tuple[str, str]]) -> str:
    return ", ".join(f"{app} {name}" for app, name in migrations)
