"""The whole world, started and stopped through the real command.

The tests run in order on one copy; a first start takes several seconds.
"""

import json
import os
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

import psutil
import pytest

from keepsake.cli import processes
from keepsake.cli.processes import Component
from keepsake.cli.world import NO_BYTE_CODE
from keepsake.paths import REPOSITORY
from tests.slow.cli.conftest import Copy, end, make_copy
from tests.slow.e2e.players import Player
from tests.slow.e2e.running import change
from tests.slow.e2e.telnet import connection_screen
from tests.unit.llm.conftest import until

PATIENCE = 300.0
"""Timeout in seconds for steps that take moments on an idle machine."""


# Programs that a shell starts in the background, such as these tests, may ignore Ctrl-C.
_START = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[1:] = ["start"]
from keepsake.cli.app import main
main()
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Iterator[Copy]:
    """A copy whose first start was interrupted and then repeated."""
    made = make_copy(tmp_path_factory.mktemp("world"), **{NO_BYTE_CODE: "1"})
    try:
        interrupt_start(made)
        assert processes.running(made.here) == []
        made.notes["password"] = made.here.admin_password.read_text().strip()
        started = made.keepsake("start")
        assert started.returncode == 0, started.stderr
        made.notes["first start"] = started.stdout
        # Agents that think would only cost time here.
        change(made, "thinking.md", "**gather**: 0.6", "**gather**: 30")
        change(made, "thinking.md", "**idle_interval**: 270", "**idle_interval**: 86400")
        yield made
    finally:
        end(made)


def interrupt_start(copy):
    """Press Ctrl-C as soon as the start has launched a process of the world."""
    command = [sys.executable, "-c", _START]
    with subprocess.Popen(command, cwd=REPOSITORY, env=copy.environ) as it:
        while it.poll() is None and not processes.running(copy.here):
            time.sleep(0.05)
        it.send_signal(signal.SIGINT)
        assert it.wait(240) != 0


def pids(copy):
    """Return the newest process of each kind; skip forks that are not their program yet."""
    found = [(each.component, each.pid) for each in processes.running(copy.here)]
    return {kind: pid for kind, pid in found if (kind, parent_of(pid)) not in found}


def parent_of(pid):
    try:
        return psutil.Process(pid).ppid()
    except psutil.NoSuchProcess:
        return 0


def test_the_first_start_prints_the_addresses(world):
    for component in (Component.PORTAL, Component.SERVER):  # without byte code files all is slow
        assert NO_BYTE_CODE not in psutil.Process(pids(world)[component]).environ()
    told = world.notes["first start"]
    here = world.here
    assert f"telnet localhost {here.ports.telnet}" in told
    assert f"http://localhost:{here.ports.web}/webclient/" in told
    assert f"admin, password in {here.admin_password}" in told


def test_the_admin_password_is_generated_and_stays_private(world):
    password = world.here.admin_password.read_text().strip()
    assert password == world.notes["password"]
    assert len(password) >= 16
    assert stat.S_IMODE(world.here.admin_password.stat().st_mode) == 0o600
    admin = Player.admin(world)
    admin.see(r"Exits|exits")
    admin.leave()
    for each in processes.running(world.here):
        for part in ("cmdline", "environ"):
            assert password.encode() not in Path(f"/proc/{each.pid}/{part}").read_bytes()
    for log in world.here.logs.glob("*.log*"):
        assert password not in log.read_text(errors="replace")


def test_other_users_of_the_machine_can_read_nothing(world):
    """Neither the database nor a log: the home is closed, and its files are private, too."""
    here = world.here
    assert stat.S_IMODE(here.home.stat().st_mode) == 0o700
    for path in (here.database, here.logs / "server.log", here.portal_socket, here.control_socket):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
    assert stat.S_IMODE(here.agents.stat().st_mode) & 0o007 == 0
    findings = json.loads(world.keepsake("doctor", "--json").stdout)
    assert all(each["well"] for each in findings if each["subject"] == "Privacy")


def test_portal_and_server_listen_on_no_port_for_each_other(world):
    """A pickle that a local user sends to a port would run code: they use a private socket."""
    ports = {
        each.laddr.port
        for pid in pids(world).values()
        for each in psutil.Process(pid).net_connections("tcp")
        if each.status == psutil.CONN_LISTEN
    }
    known = world.here.ports
    expected = {known.telnet, known.web, known.websocket, known.web_internal, known.vectors}
    assert ports <= expected
    assert {known.telnet, known.web, known.websocket, known.web_internal} <= ports


def test_a_second_start_says_that_it_runs(world):
    # The vector server may start after the login works; there is no model server.
    until(lambda: pids(world).keys() == {*Component} - {Component.FETCH, Component.MODEL})
    before = pids(world)
    again = world.keepsake("start")
    assert again.returncode == 0
    assert "Keepsake already runs." in again.stdout
    assert pids(world) == before
    told = world.keepsake("status", "--json")
    status = json.loads(told.stdout)
    assert told.returncode == 0
    assert status["ready"] is True
    assert status["processes"]["portal"]["pid"] == before[Component.PORTAL]
    assert status["ports"]["telnet"] == world.here.ports.telnet


def test_a_reload_with_broken_code_leaves_the_world_unchanged(world, tmp_path):
    before = pids(world)
    (tmp_path / "inflect.py").write_text("def broken(:\n")
    refused = Copy({**world.environ, "PYTHONPATH": str(tmp_path)}).keepsake("reload")
    assert refused.returncode == 1
    assert "the world keeps running unchanged" in refused.stderr
    assert "SyntaxError" in refused.stderr
    assert pids(world) == before
    assert world.keepsake("status").returncode == 0


def test_a_reload_on_a_full_disk_leaves_the_world_unchanged(world):
    before = pids(world)
    (world.here.home / ".room").symlink_to("/dev/full")
    refused = world.keepsake("reload")
    assert refused.returncode == 1
    assert "Free some disk space" in refused.stderr
    assert pids(world) == before
    assert world.keepsake("status").returncode == 0


def test_a_backup_of_the_running_world_has_all_earlier_memories(world, tmp_path):
    player = Player.new(world, "Anneke")
    player.see("Here:")
    said = [f"I count {number} boats." for number in range(20)]
    for words in said:
        player.type(f"say {words}", re.escape(words))
    file = tmp_path / "world.tar.gz"
    kept = world.keepsake("backup", str(file))
    assert kept.returncode == 0, kept.stderr
    player.leave()
    other = make_copy(tmp_path)
    refused = world.keepsake("restore", str(file))
    assert refused.returncode == 1
    assert "runs" in refused.stderr
    restored = other.keepsake("restore", str(file))
    assert restored.returncode == 0, restored.stderr
    archive = "".join(path.read_text() for path in other.here.agents.glob("Mira/archive/*.jsonl"))
    assert [words for words in said if words not in archive] == []
    password = other.here.admin_password.read_text().strip()
    assert password == world.notes["password"]
    with closing(sqlite3.connect(other.here.database)) as database:
        names = database.execute("SELECT db_key FROM objects_objectdb").fetchall()
    assert ("Anneke",) in names
    findings = json.loads(other.keepsake("doctor", "--json").stdout)
    assert [each for each in findings if not each["well"]] == []


def test_a_start_restarts_a_dead_server(world):
    before = pids(world)
    player = Player.new(world, "Bertil")
    player.see(r"Exits|exits")
    os.kill(before[Component.SERVER], signal.SIGKILL)
    player.see("The game has stopped")
    player.type("look", "The game is not available")
    found = json.loads(world.keepsake("doctor", "--json").stdout)
    (told,) = [each for each in found if each["subject"] == "World"]
    assert told["what"] == "runs without its server"
    mended = world.keepsake("start")
    assert mended.returncode == 0, mended.stderr
    back = Player.back(world, "Bertil")
    back.see(r"Exits|exits")
    back.leave()
    player.line.close()


def test_a_start_in_the_foreground_fails_when_the_portal_dies(world):
    command = [sys.executable, "-m", "keepsake", "start", "--foreground"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=REPOSITORY, env=world.environ, text=True, **pipes) as it:
        assert "already runs" in "".join(islice(it.stdout, 3))
        os.kill(pids(world)[Component.PORTAL], signal.SIGKILL)
        _, told = it.communicate()
    assert it.returncode == 1
    assert "Evennia's Portal or Server has ended" in told
    assert processes.running(world.here) == []


def test_players_whose_world_was_killed_are_not_there_after_the_next_start(world):
    assert world.keepsake("start").returncode == 0
    ghost = Player.new(world, "Ghosty")
    ghost.see(r"Exits|exits")
    stays = Player.new(world, "Bengt")
    assert "Ghosty" in stays.type("look", r"Exits|exits", "Ghosty")
    for component in (Component.SERVER, Component.PORTAL):
        os.kill(pids(world)[component], signal.SIGKILL)
    ghost.line.close()
    stays.line.close()
    assert world.keepsake("start").returncode == 0
    back = Player.back(world, "Bengt")
    back.see(r"Exits|exits")
    assert "Ghosty" not in back.type("look", r"Exits|exits")
    ghost = Player.back(world, "Ghosty")
    assert "The Kettle" in ghost.see(r"Exits|exits")  # where the player was
    ghost.leave()
    back.leave()
    assert world.keepsake("stop").returncode == 0


def test_a_start_in_the_foreground_survives_a_reload_and_ends_on_sigterm(world):
    command = [sys.executable, "-m", "keepsake", "start", "--foreground"]
    with subprocess.Popen(
        command, cwd=REPOSITORY, env=world.environ, text=True, stdout=subprocess.PIPE
    ) as it:
        until(lambda: "  newcomers " in it.stdout.readline())
        line = connection_screen("127.0.0.1", world.here.ports.telnet, PATIENCE)
        before = pids(world)
        reloaded = world.keepsake("reload")
        assert reloaded.returncode == 0, reloaded.stderr
        after = pids(world)
        assert after[Component.PORTAL] == before[Component.PORTAL]
        assert after[Component.SERVER] != before[Component.SERVER]
        line.text = ""
        line.send("help")
        assert line.wait_for("connect", PATIENCE)
        line.close()
        assert it.poll() is None
        it.terminate()
        assert it.wait(PATIENCE) == 0
    assert processes.running(world.here) == []
    assert world.keepsake("start").returncode == 0


def test_stop_leaves_no_processes_and_no_files_behind(world):
    found = processes.running(world.here)
    stopped = world.keepsake("stop")
    assert stopped.returncode == 0, stopped.stderr
    assert "Keepsake has stopped." in stopped.stdout
    assert found
    assert processes.running(world.here) == []
    here = world.here
    for leftover in (here.portal_pid, here.server_pid, here.model_pid, here.control_socket):
        assert not leftover.exists()
    assert "was not running" in world.keepsake("stop").stdout
