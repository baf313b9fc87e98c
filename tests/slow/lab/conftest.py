"""The fixtures of the quick tests."""

from tests.unit.lab.conftest import *  # noqa: F403
