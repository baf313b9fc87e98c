"""Settings, hooks and fixtures for all tests."""

import gc
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.empty_tables import empty_tables
from tests.log_lines import LogLines

# Tests never use the developer's own model: no Ollama listens on this port.
os.environ |= {"OLLAMA_HOST": "127.0.0.1:9", "KEEPSAKE_MODEL": "none"}
os.environ.pop("KEEPSAKE_OPENAI_HOST", None)
os.environ.pop("KEEPSAKE_DATABASE_URL", None)  # tests never use a real world's database

# The same days and nights on every machine. A test of another zone sets it for itself.
os.environ["TZ"] = "UTC"
time.tzset()

# No test cuts the power, so nothing waits for the disk. keepsake.json_lines keeps one of these
# functions, so this line precedes its import. Child processes still wait for the disk.
os.fsync = lambda fd: None
os.fdatasync = os.fsync

# Examples have no deadline, because their time depends on the machine. For a longer search:
# `pytest --hypothesis-profile=thorough`.
settings.register_profile(
    "keepsake",
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
    # CI uses the same examples every time, so that it fails only because of the change.
    derandomize="CI" in os.environ,
)
settings.register_profile("thorough", settings.get_profile("keepsake"), max_examples=1000)
settings.load_profile("keepsake")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the pure tests last: their many short files balance the load of the processes."""
    items.sort(key=lambda item: "mind" in item.path.parts)


def pytest_collection_finish() -> None:
    """Exclude loaded modules from garbage collection, which Evennia's test case runs each time."""
    gc.freeze()
    gc.set_threshold(50_000)  # one example of Hypothesis makes more than the default, 2000 objects


@pytest.fixture
def logged() -> Iterator[LogLines]:
    """Return what the library logs during the test."""
    with LogLines() as lines:
        yield lines


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file of Evennia's empty tables. All test processes share it: copy it."""
    return empty_tables(tmp_path_factory)
