"""Portal and Server look after each other: what each does about the other that hangs or is gone.

That one which died comes back is tested on a whole world, in `tests/cli/test_world.py`.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import evennia
import pytest
from twisted.internet.defer import Deferred

from game.server.portal_watchdog import LastingServer, PortalWatchdog
from game.server.watchdog import COMING_LOOKS, HUNG_LOOKS, ServerWatchdog
from keepsake.child.serving import read_pid
from keepsake.paths import places
from tests.cli.test_processes import child


@pytest.fixture
def here(tmp_path: Path):
    made = places({"KEEPSAKE_HOME": str(tmp_path), "KEEPSAKE_RESTARTS": "0"})
    made.logs.mkdir()
    return made


@pytest.fixture
def sessions(monkeypatch):
    made = mock.Mock(**{"values.return_value": []})
    monkeypatch.setattr(evennia, "PORTAL_SESSION_HANDLER", made)
    monkeypatch.setattr(evennia, "SERVER_SESSION_HANDLER", made)
    return made


class Line:
    """The Portal's line to a Server that takes what it is asked, and answers when it is told to."""

    def __init__(self):
        self.asked: list[Deferred[object]] = []

    def callRemote(self, *_, **__):  # noqa: N802 - Twisted's name
        self.asked.append(Deferred())
        return self.asked[-1]


@pytest.fixture
def line():
    return Line()


@pytest.fixture
def link(line):
    return SimpleNamespace(server_connection=line)


@pytest.fixture
def watchdog(here, sessions, link):
    return ServerWatchdog(SimpleNamespace(amp_protocol=SimpleNamespace(factory=link)), here)


def test_a_server_that_never_answers_is_ended(here, watchdog):
    with child(f"--pidfile={here.server_pid}") as server:
        here.server_pid.write_text(str(server.pid))
        for _ in range(HUNG_LOOKS):
            watchdog.look()
        assert server.poll() is None
        watchdog.look()
        assert server.wait(60) != 0


def test_one_that_comes_up_and_never_gets_there_is_ended_too(here, watchdog, link):
    link.server_connection = None
    with child(f"--pidfile={here.server_pid}") as server:
        here.server_pid.write_text(str(server.pid))
        watchdog.launch()
        for _ in range(COMING_LOOKS - 1):
            watchdog.look()
        assert server.poll() is None
        watchdog.look()
        assert server.wait(60) != 0


def test_one_that_answers_late_lives_and_is_asked_again(here, watchdog, line):
    with child(f"--pidfile={here.server_pid}") as server:
        here.server_pid.write_text(str(server.pid))
        for number in range(1, 4):
            for _ in range(HUNG_LOOKS):
                watchdog.look()
            assert len(line.asked) == number
            line.asked[-1].callback({})
        watchdog.look()
        assert server.poll() is None


def test_an_answer_that_went_with_its_line_is_not_waited_for(here, watchdog, line, link):
    """A Server whose line broke is back on another one before anybody has looked."""
    with child(f"--pidfile={here.server_pid}") as server:
        here.server_pid.write_text(str(server.pid))
        watchdog.look()
        link.server_connection = again = Line()
        watchdog.look()
        again.asked[-1].callback({})
        for _ in range(HUNG_LOOKS):
            watchdog.look()
        assert len(line.asked) == 1
        assert server.poll() is None


def test_a_stranger_with_the_servers_number_is_never_ended(here, watchdog):
    with child() as stranger:
        here.server_pid.write_text(str(stranger.pid))
        for _ in range(2 * HUNG_LOOKS):
            watchdog.look()
        assert stranger.poll() is None


def test_the_server_lets_go_who_came_by_a_portal_that_is_gone(here, sessions, monkeypatch):
    """And starts none that died too often: here once is enough."""
    amp = mock.Mock()
    monkeypatch.setattr(evennia, "EVENNIA_SERVER_SERVICE", SimpleNamespace(amp_protocol=amp))
    watchdog, stuck, player = PortalWatchdog(here), object(), object()
    sessions.values.return_value = [stuck, player]
    sessions.portal_disconnect.side_effect = [ValueError("a hook"), None]
    watchdog.look()
    sessions.portal_disconnect.assert_not_called()
    amp.transport.connected = False
    for _ in range(3):
        watchdog.look()
    assert sessions.portal_disconnect.mock_calls == [mock.call(stuck), mock.call(player)]
    assert read_pid(here.portal_pid) == 0
    assert not (here.logs / "portal.log").exists()


def test_a_second_portal_does_not_wake_the_world_again():
    begun = mock.Mock()
    with mock.patch.multiple(
        LastingServer.__base__, run_init_hooks=begun.init, at_post_portal_sync=begun.sync
    ):
        server = LastingServer.__new__(LastingServer)
        for _portal in range(2):
            server.run_init_hooks("shutdown")
            server.at_post_portal_sync("reload")
    assert begun.mock_calls == [mock.call.init("shutdown"), mock.call.sync("reload")]
