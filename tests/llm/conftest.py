"""Shared fixtures: one real embedded server a session, a fake server a test."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from game.llm.embedded import Embedded
from game.paths import Places, Ports
from tests.fakes.model_server import FakeModelServer

_next_base = 30050 + os.getpid() % 25 * 100  # below the ports that connections are given


def free_base() -> int:
    """A port base whose ports are all free; ascending, so no two tests share one."""
    global _next_base  # noqa: PLW0603  # one counter a process is the point
    while True:
        _next_base += 10
        if all(_is_free(_next_base + offset) for offset in range(9)):
            return _next_base


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def places_in(folder: Path) -> Places:
    """The places of a copy that lives in ``folder``, on ports of its own."""
    (folder / "vault" / "config").mkdir(parents=True, exist_ok=True)
    return Places(folder / "home", folder / "vault", Ports(free_base()))


def until(true: Callable[[], object], seconds: float = 10.0) -> None:
    """Wait until ``true()`` is; fail when it is not in time."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.01)


class Owner:
    """Stands in for the reactor: a thread that runs what is posted, one at a time."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._posted: list[Callable[[], None]] = []
        self._ended = False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def post(self, function: Callable[[], None]) -> None:
        with self._condition:
            self._posted.append(function)
            self._condition.notify()

    def call[T](self, function: Callable[[], T]) -> T:
        """Run in the owner's thread and wait for it."""
        done = threading.Event()
        box: list[T | BaseException] = []

        def run() -> None:
            try:
                box.append(function())
            except BaseException as error:  # raised again in the caller's thread
                box.append(error)
            done.set()

        self.post(run)
        assert done.wait(20), "the owner's thread is stuck"
        if isinstance(box[0], BaseException):
            raise box[0]
        return box[0]

    def end(self) -> None:
        with self._condition:
            self._ended = True
            self._condition.notify()
        self.thread.join()

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._posted or self._ended)
                if not self._posted:
                    return
                function = self._posted.pop(0)
            function()


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


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """The real embedded model, up; one for the whole session."""
    server = Embedded(places_in(tmp_path_factory.mktemp("embedded")))
    try:
        until(server.watch, seconds=60)
        yield server
    finally:
        server.stop()
