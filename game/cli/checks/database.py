"""Checks of Evennia's database."""

from __future__ import annotations

from collections.abc import Iterator

from game.cli.checks.finding import Finding
from game.cli.world.restore import damage
from game.server import databases
from keepsake.errors import KeepsakeError
from keepsake.paths import Places

_SUBJECT = "Database"


def database(here: Places) -> Iterator[Finding]:
    """The database can be reached and read."""
    try:
        databases.refuse_another(here)
        if here.database_url:
            with databases.connected(here) as connection:
                version = connection.info.server_version
            what = f"PostgreSQL {version // 10_000}.{version % 10_000}"
            yield Finding(_SUBJECT, True, f"{databases.shown(here)}, {what}")
            return
    except KeepsakeError as error:
        yield Finding(_SUBJECT, False, error.what, error.cure)
        return
    path = here.database
    if not path.exists():
        yield Finding(_SUBJECT, True, f"{path} (SQLite) is made at the first start")
    elif problem := damage(path):
        cure = "Bring a backup back: `keepsake restore FILE --replace`"
        yield Finding(_SUBJECT, False, f"{path} is damaged ({problem})", cure)
    else:
        size = path.stat().st_size / 1e6
        yield Finding(_SUBJECT, True, f"{path}, SQLite, {size:,.0f} MB")
