"""The fixtures of tests/unit/llm."""

from tests.unit.llm.conftest import *  # noqa: F403 - pytest finds fixtures by name
