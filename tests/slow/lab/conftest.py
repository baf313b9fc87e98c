"""The fixtures of ``tests/unit/lab``."""

from tests.unit.lab.conftest import *  # noqa: F403 - pytest finds fixtures by name
