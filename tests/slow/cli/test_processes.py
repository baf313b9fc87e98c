"""A process is ours by its command line, never by a number in a file."""

import subprocess
import sys
from contextlib import contextmanager

from keepsake.cli import processes
from keepsake.cli.processes import Component

SLEEP = "import time; print('up', flush=True); time.sleep(600)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"


@contextmanager
def child(*arguments, code=SLEEP):
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE) as it:
        try:
            it.stdout.readline()
            yield it
        finally:
            it.kill()


def test_a_process_is_found_by_the_pid_file_it_names(copy):
    with child(f"--pidfile={copy.here.server_pid}") as it:
        (found,) = processes.running(copy.here)
        assert (found.component, found.pid) == (Component.SERVER, it.pid)
        assert 0 <= found.uptime < 600


def test_a_number_that_passed_to_a_stranger_is_left_alone(copy):
    with child() as stranger:
        copy.here.home.mkdir()
        copy.here.server_pid.write_text(str(stranger.pid))
        copy.here.model_pid.write_text(str(stranger.pid))
        assert processes.running(copy.here) == []
        assert "was not running" in copy.keepsake("stop").stdout
        assert stranger.poll() is None
        assert not copy.here.server_pid.exists()
        assert not copy.here.model_pid.exists()


def test_stop_ends_a_model_server_left_by_a_crash(copy):
    with child("--pid-file", str(copy.here.model_pid)) as model:
        assert "Keepsake has stopped." in copy.keepsake("stop").stdout
        assert model.wait(60) != 0


def test_a_process_that_will_not_end_is_killed(copy):
    with child(f"--pidfile={copy.here.portal_pid}", code=DEAF) as deaf:
        processes.end(processes.running(copy.here), patience=0.3)
        assert deaf.wait(60) == -9
