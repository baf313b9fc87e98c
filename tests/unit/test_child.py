"""Child processes: whom they serve, and when they end."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager

import psutil
import pytest

from keepsake.child import Supervisor
from keepsake.errors import KeepsakeError
from keepsake.logs import Subsystem, get_logger
from keepsake.paths import Places, Ports

WAITS = "print('ready', flush=True); input()"
"""Says when it runs, since a process has no command line for a moment; then waits."""


class Idle(Supervisor):
    """A supervisor of a child that serves nothing."""

    stem = "model"
    name = "idle child"
    logger = get_logger(Subsystem.MODELS)
    module = "tests.fakes.idle_child"
    health = "/"
    off_cure = "Start it again"
    unavailable = KeepsakeError

    def _arguments(self):
        return ()


@pytest.fixture
def idle(tmp_path):
    places = Places(home=tmp_path / "home", vault=tmp_path / "vault", ports=Ports(46700))
    places.home.mkdir()
    made = Idle(places)
    yield made
    made.stop()


@contextmanager
def process(*arguments):
    """Run a process with these arguments that does nothing."""
    words = [sys.executable, "-c", WAITS, *arguments]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as it:
        it.stdout.readline()
        yield it
        it.kill()


def watched_by(supervisor):
    """Start the child, and return the id of the process that it serves."""
    supervisor.watch()
    words: list[str] = []
    while not words:
        words = psutil.Process(supervisor.pid).cmdline()
    return int(words[words.index("--watch-pid") + 1])


def test_it_serves_the_portal_of_its_home(idle, tmp_path):
    file = tmp_path / "home" / "portal.pid"
    with process(f"--pidfile={file}") as portal:
        file.write_text(f"{portal.pid}\n")
        assert watched_by(idle) == portal.pid
        child = psutil.Process(idle.pid)
    child.wait(30)


@pytest.mark.parametrize("option", ["", "--pidfile=/elsewhere/portal.pid"])
def test_a_number_that_another_program_has_now_is_not_believed(idle, tmp_path, option):
    with process(*filter(None, [option])) as stranger:
        (tmp_path / "home" / "portal.pid").write_text(str(stranger.pid))
        assert watched_by(idle) == os.getpid()


@pytest.mark.parametrize("text", ["", "none", "0", "-1", "99999999999"])
def test_a_file_without_a_process_is_no_error(idle, tmp_path, text):
    (tmp_path / "home" / "portal.pid").write_text(text)
    assert watched_by(idle) == os.getpid()
