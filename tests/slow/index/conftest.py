"""The fixtures of the quick tests."""

from tests.unit.index.conftest import *  # noqa: F403
