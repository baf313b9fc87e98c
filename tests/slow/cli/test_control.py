"""The control socket and who asks on it, in two processes."""

import json
import stat
import subprocess
import sys

import pytest

from keepsake.cli import processes
from keepsake.errors import KeepsakeError
from keepsake.paths import REPOSITORY, places

WORLD = """
import sys
from pathlib import Path
from twisted.internet import reactor
from game.server import control
answers = {"name": lambda: "Mira ✓", "break": lambda: {}["missing"]}
control.listen(Path(sys.argv[1]), answers)
print("up", flush=True)
reactor.run()
"""


def test_answers_and_refusals_and_what_a_killed_world_left(tmp_path):
    here = places({"KEEPSAKE_HOME": str(tmp_path / "home")})
    here.control_socket.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", WORLD, str(here.control_socket)]
    for _ in range(2):  # the second one finds what the first left behind
        with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as world:
            assert world.stdout.readline() == "up\n"
            assert processes.ask(here, "name") == "Mira ✓"
            with pytest.raises(KeepsakeError, match=r"'fly' is no operation.*name, break"):
                processes.ask(here, "fly")
            with pytest.raises(KeepsakeError, match="KeyError: 'missing'"):
                processes.ask(here, "break")
            assert stat.S_IMODE(here.control_socket.stat().st_mode) == 0o600
            world.kill()
        with pytest.raises(KeepsakeError, match="make run"):
            processes.ask(here, "name")


def test_without_a_world_the_command_says_what_to_do(copy):
    asked = copy.process("reload")
    assert (asked.returncode, asked.stdout) == (1, "")
    assert asked.stderr.strip() == "Keepsake is not running here. Start it with `make run`"
    status = copy.keepsake("status", "--json")
    assert (status.returncode, json.loads(status.stdout)["ready"]) == (1, False)
