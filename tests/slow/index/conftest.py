"""The fixtures of tests/unit/index."""

from tests.unit.index.conftest import *  # noqa: F403 - pytest finds fixtures by name
