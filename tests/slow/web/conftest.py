"""The fixtures of the quick tests."""

from tests.unit.web.conftest import *  # noqa: F403
