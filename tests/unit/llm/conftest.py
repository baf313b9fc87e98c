"""Shared fixtures: a gateway, its owner, a fake server a test."""

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
    """The places of a copy that lives in ``folder``, on ports of its own."""
    (folder / "vault" / "config").mkdir(parents=True, exist_ok=True)
    return Places(folder / "home", folder / "vault", Ports(free_base()))


def until(condition: Callable[[], object], seconds: float = 300.0) -> None:
    """Wait until ``true()`` holds; fail after a time that even a busy machine does not need."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.01)


class Owner:
    """Stands in for the reactor: a thread that runs what is posted, one at a time."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self.thread = self.call(threading.current_thread)

    def post(self, function: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # it has ended
            self._pool.submit(function)

    def call[T](self, function: Callable[[], T]) -> T:
        """Run in the owner's thread and wait for it."""
        return self._pool.submit(function).result(300)

    def end(self) -> None:
        self._pool.shutdown()


@contextmanager
def running(home: Places, owner: Owner, environ: Mapping[str, str] = {}) -> Iterator[Gateway]:
    """A gateway that was started with the profiles of ``home``."""
    profiles = Profiles(home.config / "llm.md")
    gateway = Gateway(profiles, home, owner.post)
    with patch.dict(os.environ, environ):
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
