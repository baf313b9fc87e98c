"""Evennia in the process of a simulation: set up, with empty tables in its database."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import warnings
from contextlib import closing

from keepsake.lab.simulations.plan import Lab


def set_up() -> None:
    """Load Django and Evennia with the settings that the environment names; once a process."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "game.server.conf.settings")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Evennia's own modules warn while they are imported
        import django  # noqa: PLC0415 - only after the environment is set

        django.setup()
        import evennia  # noqa: PLC0415

        evennia._init()
    gc.freeze()


def make_tables(lab: Lab) -> None:
    """Evennia's tables; those of an earlier simulation serve, as they are all alike when empty."""
    import evennia  # noqa: PLC0415 - slow to import
    from django.core.management import call_command  # noqa: PLC0415 - needs the settings
    from django.db import connections  # noqa: PLC0415 - the same

    connections.close_all()
    database = lab.places().database
    empty = lab.folder.parent / f".empty-{evennia.__version__}.db3"
    if empty.exists():
        for left in database.parent.glob(f"{database.name}*"):  # as Evennia was loaded
            left.unlink()
        shutil.copyfile(empty, database)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Evennia's old migrations
        call_command("migrate", verbosity=0, interactive=False)
    connections.close_all()
    part = empty.with_suffix(f".{os.getpid()}.part")
    with closing(sqlite3.connect(database)) as here, closing(sqlite3.connect(part)) as there:
        here.backup(there)
    part.rename(empty)
