"""The control socket and its client, in two processes."""

import stat
import subprocess
import sys
from contextlib import contextmanager

import pytest

from keepsake.cli import client
from keepsake.errors import KeepsakeError
from keepsake.paths import REPOSITORY, places


@contextmanager
def world(here):
    here.control_socket.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.slow.cli.control_world", str(here.control_socket)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as it:
        try:
            it.said = it.stdout.readline().strip()
            yield it
        finally:
            it.kill()


@pytest.fixture
def here(tmp_path):
    return places({"KEEPSAKE_HOME": str(tmp_path / "home")})


def test_answers_and_refusals(here):
    with world(here) as it:
        assert client.ask(here, "echo", name="Mira ✓") == {"op": "echo", "name": "Mira ✓"}
        assert client.ask(here, "later") == "late"
        with pytest.raises(KeepsakeError, match=r"^No bread here\. Bring some$"):
            client.ask(here, "refuse", what="bread")
        with pytest.raises(KeepsakeError, match=r"is no request.*echo, later"):
            client.ask(here, "fly")
        with pytest.raises(KeepsakeError, match="KeyError: 'missing'"):
            client.ask(here, "break")
        with pytest.raises(KeepsakeError, match="TypeError"):
            client.ask(here, "unspeakable")
        assert stat.S_IMODE(here.control_socket.stat().st_mode) == 0o600
        client.ask(here, "stop")
        assert it.wait(60) == 0
    assert not here.control_socket.exists()


def test_what_a_killed_world_left_is_replaced_and_a_second_world_is_refused(here):
    with world(here) as it:
        it.kill()
        it.wait(60)
        assert here.control_socket.exists()
    with pytest.raises(client.NotRunning, match="make run"):
        client.ask(here, "echo")
    with world(here), world(here) as second:
        assert "Another process answers" in second.said
        assert second.wait(60) == 1
        assert client.ask(here, "echo") == {"op": "echo"}


def test_without_a_world_the_command_says_what_to_do(copy):
    asked = copy.process("reload")
    assert (asked.returncode, asked.stdout) == (1, "")
    assert asked.stderr.strip() == "Keepsake is not running here. Start it with `make run`"
