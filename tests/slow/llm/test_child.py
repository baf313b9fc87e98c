"""The supervisor of a child process and the child's own side, with a child that does nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from keepsake.paths import Places
from tests.fakes.child import IdleChild
from tests.unit.llm.conftest import until


@pytest.fixture
def own(home: Places) -> Iterator[IdleChild]:
    """A supervisor with no child yet."""
    home.home.mkdir(parents=True)
    supervisor = IdleChild(home)
    yield supervisor
    supervisor.stop()


def started(own: IdleChild) -> int:
    until(own.watch)
    assert own.pid is not None
    return own.pid


def test_another_supervisor_adopts_the_child_replaces_and_ends_it(own: IdleChild, home: Places):
    pid = started(own)
    after_reload = IdleChild(home)
    assert started(after_reload) == pid
    after_reload.words = ("--serves", "that")
    until(lambda: after_reload.watch() and started(after_reload) != pid)
    assert "serves that" in own.log_file.read_text()
    after_reload.stop()
    assert after_reload.pid is None
    until(lambda: own.pid is None)  # its other threads may outlive the zombie for a moment
    assert not after_reload.watch(), "a stopped supervisor starts nothing"


def test_a_port_in_use_is_named_with_its_cure(own: IdleChild, home: Places):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", home.ports.model))
        taken.listen()
        own.watch()
        until(lambda: own.pid is None)
        assert not own.watch()
        assert f"Port {home.ports.model}" in str(own.problem)
        assert "KEEPSAKE_PORT_BASE" in str(own.problem)
