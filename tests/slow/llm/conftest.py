"""The fixtures of the quick tests."""

from tests.unit.llm.conftest import *  # noqa: F403
