"""A running world whose agents have lived long and think as often as their model lets them."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import psutil

from keepsake.cli import processes
from keepsake.paths import REPOSITORY
from tests.bench.busy_model import LOWER, UPPER, only_once
from tests.bench.lives import lived
from tests.bench.talk import Line, talk
from tests.slow.cli.conftest import Copy, end, make_copy
from tests.slow.e2e.players import Player

_LLM = """\
## agent
**provider**: ollama
**host**: {host}
**model**: fake
**form**: script
**in_flight**: {in_flight}
**time_limit**: 600

## summarizer
**provider**: extractive
"""
_THINKING = {
    # Each thought ends in something that another notices, which makes that one think again.
    **{"idle_interval": 5, "idle_away_factor": 1, "gather": 0, "cooldown": 0.1},
    "chatter_turns": 1000,
}
ROOM = "The Bench"
_LETTERS = "bcdfghjklm"
WINDOW_STEP = 44
"""About as many lines leave a window at a time."""
_OPEN_SECONDS, _REST_SECONDS = 900.0, 3600.0
_IDLE_PERCENT = 8.0


@dataclass(frozen=True, slots=True)
class Size:
    """How large a world is, from the environment: ``BUSY_AGENTS``, ``BUSY_MEMORIES`` …

    Attributes:
        agents: How many, two in a room.
        memories: Of each.
        blocks: How often an idle and a busy while follow each other.
        seconds: How long each of them is.
        warm: Seconds of thinking before all of them: what is made once for each agent is made then.
        delay: Seconds that the model takes, a quarter more or less.
        in_flight: How many calls it takes at once.
    """

    agents: int = 50
    memories: int = 200
    blocks: int = 2
    seconds: float = 15.0
    warm: float = 60.0
    delay: float = 2.0
    in_flight: int = 64

    @classmethod
    def given(cls) -> Size:
        """As the environment says."""
        numbers = {
            name: type(default)(os.environ[f"BUSY_{name.upper()}"])
            for name in cls.__slots__
            if f"BUSY_{name.upper()}" in os.environ and (default := getattr(cls(), name))
        }
        return cls(**numbers)


@dataclass
class BusyWorld:
    """The world, its model server's brake, and how long things took.

    Attributes:
        copy: Where it runs.
        names: Its agents.
        took: Seconds by what was done.
    """

    copy: Copy
    names: Sequence[str]
    hold: Path
    took: dict[str, float] = field(default_factory=dict)

    def timed(self, command: str, name: str = "") -> None:
        """Run ``keepsake start``, ``reload`` or ``stop`` and keep what it took."""
        began = time.monotonic()
        ended = self.copy.keepsake(command)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        self.took[name or command] = time.monotonic() - began

    def opened(self, name: str) -> None:
        """Wait until all agents are open, and keep what that took."""
        began = time.monotonic()
        while processes.ask(self.copy.here, "ready", seconds=120).get("unopened"):
            assert time.monotonic() - began < _OPEN_SECONDS, "the agents were never all open"
            time.sleep(0.1)
        self.took[name] = time.monotonic() - began

    def brake(self, *, on: bool) -> None:
        """Have the model server keep its answers back, or give them again."""
        self.hold.touch() if on else self.hold.unlink(missing_ok=True)

    def let_rest(self) -> None:
        """Wait until what the agents remember is indexed, and the Server has little to do."""
        deadline = time.monotonic() + _REST_SECONDS
        server = psutil.Process(int(self.copy.here.server_pid.read_text()))
        while time.monotonic() < deadline:
            found = processes.ask(self.copy.here, "index_status", seconds=120)
            whole = not any(each["waiting"] for each in found["agents"])
            if whole and server.cpu_percent(interval=2) < _IDLE_PERCENT:
                return
        raise AssertionError("the world never came to rest")


@contextmanager
def world(scratch: Path, size: Size) -> Iterator[BusyWorld]:
    """A world of that size that was started and populated, came to rest, and was stopped again."""
    hold = scratch / "hold"
    command = [sys.executable, "-m", "tests.bench.busy_model"]
    command += ["--delay", str(size.delay), "--hold", str(hold)]
    fake = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    copy = make_copy(scratch)
    made = BusyWorld(copy, _names(size.agents), hold)
    try:
        assert fake.stdout is not None
        _write_config(copy, fake.stdout.readline().strip(), size.in_flight)
        began = time.monotonic()
        for number, name in enumerate(made.names):  # agents find their memories in the vault
            lived(copy.here.agents / name, name, _life(number, size.memories)).close()
        made.took["lives"] = time.monotonic() - began
        made.brake(on=True)
        made.timed("start", "first start")
        _populate(copy, made.names)
        made.let_rest()
        made.timed("stop", "first stop")
        yield made
    finally:
        made.brake(on=False)
        end(copy)
        fake.terminate()
        fake.wait()


def _life(number: int, memories: int) -> list[Line]:
    """A life like no other, some dozen lines shorter than another's.

    Else all would make room at one time, and what is embedded for one would do for all.
    """
    lines = itertools.islice(talk(Random(number)), memories - 7 * number % WINDOW_STEP)
    return [
        replace(line, text=f'{only_once(line.text[:-1], 1000 * number + place)}"')
        if line.text.endswith('"')
        else line
        for place, line in enumerate(lines)
    ]


def _names(agents: int) -> list[str]:
    """So many names that an agent may have."""
    made = map("".join, itertools.product(_LETTERS, "aeiou", _LETTERS, "o"))
    return [name.title() for name in itertools.islice(made, agents)]


def _write_config(copy: Copy, host: str, in_flight: int) -> None:
    config = copy.here.config
    shutil.copytree(REPOSITORY / "vault" / "config", config)
    (config / "llm.md").write_text(_LLM.format(host=host, in_flight=in_flight))
    lines = (f"**{key}**: {value}\n" for key, value in _THINKING.items())
    (config / "thinking.md").write_text("# Thinking\n\n" + "".join(lines))
    (config / "sleep.md").write_text("# Sleep\n\n**sleep**: no\n")


def _populate(copy: Copy, names: Sequence[str]) -> None:
    """Two agents in each room, with an empty one above it; and an empty room for a player."""
    builder = Player.admin(copy)
    builder.see(r"Exits|exits")
    for room, two in enumerate(itertools.batched(names, 2)):
        builder.type(f"@dig/teleport {LOWER}{room}", rf"{LOWER}{room}")
        builder.type(f"@dig {UPPER}{room} = up, down", r"Created Exit .*up")
        for name in two:
            builder.type(f"@agent/create {name} = You are {name}, who counts.", f"Made {name}")
    builder.type(f"@dig/teleport {ROOM}", ROOM)
    builder.type("look", ROOM)
    builder.leave()
