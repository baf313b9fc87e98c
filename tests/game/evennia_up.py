"""Evennia outside of its launcher: the project's settings, a temporary home, a spare database.

:func:`start` sets ``KEEPSAKE_HOME`` and ``KEEPSAKE_VAULT`` for the whole process, before
Django loads, so that nothing here ever touches a real copy's files.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[2]


def start() -> None:
    """Set Django and Evennia up, once a process."""
    scratch = Path(tempfile.mkdtemp(prefix="keepsake-tests-"))
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    os.environ["KEEPSAKE_HOME"] = str(scratch / "home")
    os.environ["KEEPSAKE_VAULT"] = str(scratch / "vault")
    os.environ.setdefault("TZ", "UTC")  # the same days and nights on every machine
    os.environ["DJANGO_SETTINGS_MODULE"] = "server.conf.settings"
    (scratch / "home" / "logs").mkdir(parents=True)
    shutil.copytree(_REPOSITORY / "vault" / "config", scratch / "vault" / "config")
    sys.path[:0] = [str(_REPOSITORY / "game"), str(_REPOSITORY)]
    started_in = Path.cwd()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Evennia's own modules warn while they are imported
        import django  # noqa: PLC0415 - only after the environment is set
        from django.conf import settings  # noqa: PLC0415

        settings.TEST_ENVIRONMENT = True
        settings.DATABASES["default"]["TEST"] = {"MIGRATE": False}  # the same tables, in a second
        settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
        django.setup()
        import evennia  # noqa: PLC0415

        evennia._init()
    os.chdir(started_in)


@contextmanager
def database() -> Iterator[None]:
    """Evennia's tables, in memory."""
    from django.test.utils import (  # noqa: PLC0415 - needs the settings
        setup_databases,
        setup_test_environment,
        teardown_databases,
        teardown_test_environment,
    )

    setup_test_environment()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Evennia's old migrations
        made = setup_databases(verbosity=0, interactive=False)
    yield
    teardown_databases(made, verbosity=0)
    teardown_test_environment()
