"""Shared fixtures: a gateway, the thread that owns it, and a fake server for each test."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from keepsake.models.gateway import Gateway
from keepsake.models.profiles import Profiles
from keepsake.paths import Places, Ports
from tests.fakes.model_server import FakeModelServer
from tests.free_ports import free_base


def places_in(folder: Path) -> Places:
    """Return the paths of a copy of Keepsake in ``folder``, with free ports."""
    (folder / "vault" / "config").mkdir(parents=True, exist_ok=True)
    return Places(folder / "home", folder / "vault", Ports(free_base()))


def until[T](condition: Callable[[], T], seconds: float = 300.0) -> T:
    """Wait until ``condition()`` is true; return it. A busy machine needs less than the limit."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "the condition did not become true in time"
        time.sleep(0.01)
    return found


class Owner:
    """Stands in for the reactor: a thread that runs what is posted, one at a time."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self.thread = self.call(threading.current_thread)

    def post(self, function: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the thread has ended
            self._pool.submit(function)

    def call[T](self, function: Callable[[], T]) -> T:
        """Run a function in this thread and wait for its result."""
        return self._pool.submit(function).result(300)

    def end(self) -> None:
        self._pool.shutdown()


@contextmanager
def running_gateway(home: Places, owner: Owner, env: Mapping[str, str] = {}) -> Iterator[Gateway]:
    """Run a gateway with the profiles of ``home``."""
    profiles = Profiles(home.config / "llm.md")
    gateway = Gateway(profiles, home, owner.post)
    with patch.dict(os.environ, env):
        owner.call(gateway.start)
        try:
            yield gateway
        finally:
            owner.call(lambda: gateway.shutdown(stop_embedded=True))


@pytest.fixture
def owner() -> Iterator[Owner]:
    owner = Owner()
    yield owner
    owner.end()


@pytest.fixture
def fake() -> Iterator[FakeModelServer]:
    with FakeModelServer() as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Places:
    return places_in(tmp_path)
