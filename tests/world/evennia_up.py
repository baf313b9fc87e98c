"""Evennia without its launcher: the project's settings, a temporary home, a test database.

The database is SQLite in memory, or the PostgreSQL that :mod:`tests.postgres` names.

:func:`start` sets ``KEEPSAKE_HOME`` and ``KEEPSAKE_VAULT`` for the whole process before Django
loads, so that no test touches a real copy's files.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from keepsake.paths import DATABASE_URL
from tests.postgres import TEST_DATABASE

_REPOSITORY = Path(__file__).resolve().parents[2]
_ON_POSTGRES = TEST_DATABASE in os.environ


def start() -> None:
    """Set up Django and Evennia, once per process."""
    scratch = Path(tempfile.mkdtemp(prefix="keepsake-tests-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    os.environ["KEEPSAKE_HOME"] = str(scratch / "home")
    os.environ["KEEPSAKE_VAULT"] = str(scratch / "vault")
    os.environ.setdefault("TZ", "UTC")  # the same days and nights on every machine
    os.environ[DATABASE_URL] = os.environ.get(TEST_DATABASE, "")  # for the settings alone
    os.environ["DJANGO_SETTINGS_MODULE"] = "server.conf.settings"
    (scratch / "home" / "logs").mkdir(parents=True)
    shutil.copytree(_REPOSITORY / "vault" / "config", scratch / "vault" / "config")
    sys.path[:0] = [str(_REPOSITORY / "game"), str(_REPOSITORY)]
    started_in = Path.cwd()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Evennia's modules cause warnings when they are imported
        import django  # noqa: PLC0415 - after the environment is set
        from django.conf import settings  # noqa: PLC0415 - as above

        settings.TEST_ENVIRONMENT = True
        # The same tables without migrations, in a second. PostgreSQL: a database per process.
        own = {"NAME": f"tests-{os.getpid()}"} if _ON_POSTGRES else {}
        settings.DATABASES["default"]["TEST"] = {"MIGRATE": False, **own}
        settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
        django.setup()
        del os.environ[DATABASE_URL]  # other tests start worlds with their own database
        _keep_connections()
        import evennia  # noqa: PLC0415 - needs Django

        # Evennia reads tables here. If they are missing, it fails with PostgreSQL alone.
        with _tables() if _ON_POSTGRES else nullcontext():
            evennia._init()
    os.chdir(started_in)


def _keep_connections() -> None:
    """Keep PostgreSQL's connection open within a test, because a test is one transaction."""
    from django.db.backends.base.base import BaseDatabaseWrapper  # noqa: PLC0415 - needs the settings

    close = BaseDatabaseWrapper.close_if_unusable_or_obsolete

    def close_outside_of_tests(self: Any) -> None:
        if not self.in_atomic_block:
            close(self)

    BaseDatabaseWrapper.close_if_unusable_or_obsolete = close_outside_of_tests


@contextmanager
def database() -> Iterator[None]:
    """Evennia's tables, empty."""
    from django.test.utils import setup_test_environment, teardown_test_environment  # noqa: PLC0415 - needs the settings

    setup_test_environment()
    with _tables():
        yield
    teardown_test_environment()


@contextmanager
def _tables() -> Iterator[None]:
    from django.test.utils import setup_databases, teardown_databases  # noqa: PLC0415 - needs the settings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Evennia's old migrations
        made = setup_databases(verbosity=0, interactive=False)
    yield
    # A thread may still be connected to PostgreSQL; that database ends with its cluster.
    teardown_databases(made, verbosity=0, keepdb=_ON_POSTGRES)
