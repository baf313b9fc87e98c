"""The fixtures of tests/unit/index."""

from tests.unit.index.conftest import *  # noqa: F403
