"""A simulated world inside Evennia: made once, lived in by the hour.

Everything here runs in a process of its own, after :func:`set_up`.
"""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from game.lab.simulations.past import Past
from game.lab.simulations.plan import Lab, SimulationPlan


def set_up() -> None:
    """Load Django and Evennia with the settings that the environment names; once a process."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "game.server.conf.settings")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Evennia's own modules warn while they are imported
        import django  # noqa: PLC0415 - only after the environment is set

        django.setup()
        import evennia  # noqa: PLC0415

        evennia._init()
        import game.lab.simulations.living  # noqa: F401, PLC0415 - here once, not in the process of each hour
    close_database()  # each child opens its own
    gc.freeze()  # no child looks through, and so copies, what all of them share


def make(lab: Lab, plan: SimulationPlan) -> None:
    """Make the world: tables, rooms, things, agents, visitors.

    Raises:
        KeepsakeError: The world's files are wrong, or the disk refused.
    """
    from game.lab.simulations import living  # noqa: PLC0415 - needs Evennia to be set up

    make_tables(lab)
    living.build(plan)
    close_database()
    lab.write_lived(0.0, {})


def live_on(lab: Lab, plan: SimulationPlan, tell: Callable[[dict[str, object]], None]) -> None:
    """Live up to the next full hour, or to an end of the plan.

    Raises:
        KeepsakeError: It cannot go on; what was lived of this hour does not count.
    """
    from game.lab.simulations import living  # noqa: PLC0415 - needs Evennia to be set up

    since = lab.lived()
    until = plan.next_end(since)
    with Past(lab, since) as past:
        counts = living.live(plan, since, until, past, tell)
    close_database()
    lab.write_lived(until, lab.counts() + Counter(counts))


def make_tables(lab: Lab) -> None:
    """Evennia's tables; those of an earlier simulation serve, as they are all alike when empty."""
    import evennia  # noqa: PLC0415 - slow to import
    from django.core.management import call_command  # noqa: PLC0415 - needs the settings

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
    close_database()
    part = empty.with_suffix(f".{os.getpid()}.part")
    _copy_database(database, part)
    part.rename(empty)


def _copy_database(source: Path, target: Path) -> None:
    """A database as one file, whatever stands beside the source."""
    with sqlite3.connect(source) as here, sqlite3.connect(target) as there:
        here.backup(there)
    here.close()
    there.close()


def close_database() -> None:
    """Let go of the database, which folds what stands beside it into it."""
    from django.db import connections  # noqa: PLC0415 - needs the settings

    connections.close_all()
