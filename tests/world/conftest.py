"""Evennia under plain pytest. Tests outside this folder start without it, so they are quick."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world import evennia_up

evennia_up.start()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ignore warnings about Evennia's own code, in the tests of this folder only."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::DeprecationWarning:evennia"))
            item.add_marker(pytest.mark.filterwarnings("ignore:'count' is passed as positional"))


@pytest.fixture(scope="session", autouse=True)
def database() -> Iterator[None]:
    """Evennia's tables in memory, made once per run."""
    with evennia_up.database():
        yield
