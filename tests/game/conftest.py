"""Evennia under plain pytest: the project's settings, an in-memory database, a temporary home.

Importing this file sets ``KEEPSAKE_HOME`` and ``KEEPSAKE_VAULT`` for the whole process,
before Django loads, so that no test ever touches a real copy's files. Tests that need no
Evennia stay outside this folder and never pay for it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

_REPOSITORY = Path(__file__).resolve().parents[2]
_SCRATCH = Path(tempfile.mkdtemp(prefix="keepsake-tests-"))
atexit.register(shutil.rmtree, _SCRATCH, ignore_errors=True)


def _start_evennia() -> None:
    os.environ["KEEPSAKE_HOME"] = str(_SCRATCH / "home")
    os.environ["KEEPSAKE_VAULT"] = str(_SCRATCH / "vault")
    os.environ["DJANGO_SETTINGS_MODULE"] = "server.conf.settings"
    (_SCRATCH / "home" / "logs").mkdir(parents=True)
    shutil.copytree(_REPOSITORY / "vault" / "config", _SCRATCH / "vault" / "config")
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


_start_evennia()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Forgive what Evennia's own code is warned for, in the tests of this folder only."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning:evennia"))
            item.add_marker(pytest.mark.filterwarnings("ignore:'count' is passed as positional"))


@pytest.fixture(scope="session", autouse=True)
def database() -> Iterator[None]:
    """Evennia's tables, in memory, once a run."""
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
