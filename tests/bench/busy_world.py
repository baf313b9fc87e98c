"""A running world whose agents have long memories and think as often as their model allows."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from keepsake.cli import processes
from keepsake.paths import REPOSITORY
from tests.bench.busy_model import only_once
from tests.bench.lives import lived
from tests.bench.talk import Line, talk
from tests.fakes.model_server import llm_page
from tests.slow.cli.conftest import Copy, end, make_copy
from tests.slow.e2e.players import Player

_THINKING = {
    # Each thought ends in an act that another agent notices and thinks about.
    **{"idle_interval": 5, "idle_away_factor": 1, "gather": 0, "cooldown": 0.1},
    "chatter_turns": 1000,
}
ROOM = "The Bench"
NEWCOMER = "Newcomer"
_LETTERS = "bcdfghjklm"
WINDOW_STEP = 44
"""About the number of lines that leave a window in a compaction."""
_REST_SECONDS = 3600.0


@dataclass(frozen=True)
class Size:
    """The size of a world, which environment variables can change."""

    agents: int = int(os.environ.get("BUSY_AGENTS", "50"))  # two in a room
    memories: int = int(os.environ.get("BUSY_MEMORIES", "200"))  # of each agent
    seconds: float = float(os.environ.get("BUSY_SECONDS", "30"))  # of the idle and the busy period
    warm: float = float(os.environ.get("BUSY_WARM", "60"))  # before: caches are filled
    delay: float = float(os.environ.get("BUSY_DELAY", "2"))  # of the model, on average
    # memories of an agent that is created, and indexed, in the busy period
    newcomer: int = int(os.environ.get("BUSY_NEWCOMER", "0"))
    in_flight: int = int(os.environ.get("BUSY_IN_FLIGHT", "64"))  # simultaneous model calls


class BusyWorld:
    """The world of ``copy``; ``took`` has the seconds of each command."""

    def __init__(self, copy: Copy, hold: Path) -> None:
        self.copy = copy
        self._hold = hold
        self.took: dict[str, float] = {}

    def timed(self, command: str, name: str) -> None:
        """Run ``keepsake start``, ``reload`` or ``stop`` and record its seconds."""
        began = time.monotonic()
        ended = self.copy.keepsake(command)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        self.took[name] = time.monotonic() - began

    def brake(self, *, on: bool) -> None:
        """Let the model server withhold its answers, or give them again."""
        if on:
            self._hold.touch()
        else:
            self._hold.unlink(missing_ok=True)

    def let_rest(self) -> None:
        """Wait until all memories are indexed."""
        deadline = time.monotonic() + _REST_SECONDS
        while time.monotonic() < deadline:
            found = processes.ask(self.copy.here, "index_status", seconds=120)
            if not any(each["waiting"] for each in found["agents"]):
                return
            time.sleep(2)
        raise AssertionError("the memories were never all indexed")


@contextmanager
def world(scratch: Path, size: Size) -> Iterator[BusyWorld]:
    """Start a world of that size, populate and index it, and stop it again."""
    hold = scratch / "hold"
    command = [sys.executable, "-m", "tests.bench.busy_model"]
    command += ["--delay", str(size.delay), "--hold", str(hold)]
    fake = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    made = BusyWorld(make_copy(scratch), hold)
    copy = made.copy
    names = agent_names(size.agents)
    try:
        assert fake.stdout is not None
        _write_config(copy, fake.stdout.readline().strip(), size.in_flight)
        for number, name in enumerate(names):  # agents find their memories in the vault
            lived(copy.here.agents / name, name, life(number, size.memories)).close()
        if size.newcomer:
            lived(copy.here.agents / NEWCOMER, NEWCOMER, life(0, size.newcomer)).close()
        made.brake(on=True)
        made.timed("start", "first start")
        _populate(copy, names)
        made.let_rest()
        made.timed("stop", "first stop")
        yield made
    finally:
        made.brake(on=False)
        end(copy)
        fake.terminate()
        fake.wait()


def life(number: int, memories: int) -> list[Line]:
    """Make unique memories of a varied number; else all agents would compact at the same time.

    ``memories``: The most of them; each agent has one at least, if that is not 0.
    """
    fewer = 7 * number % max(min(WINDOW_STEP, memories), 1)
    lines = itertools.islice(talk(Random(number)), memories - fewer)
    return [
        replace(line, text=f'{only_once(line.text[:-1], 1000 * number + place)}"')
        if line.text.endswith('"')
        else line
        for place, line in enumerate(lines)
    ]


def agent_names(agents: int) -> list[str]:
    """Return this many valid agents' names."""
    made = map("".join, itertools.product(_LETTERS, "aeiou", _LETTERS, "o"))
    return [name.title() for name in itertools.islice(made, agents)]


def _write_config(copy: Copy, host: str, in_flight: int) -> None:
    config = copy.here.config
    shutil.copytree(REPOSITORY / "vault" / "config", config)
    agent = f"provider=ollama host={host} model=fake form=script in_flight={in_flight}"
    page = llm_page(agent=f"{agent} time_limit=600", summarizer="provider=none")
    (config / "llm.md").write_text(page)
    lines = (f"**{key}**: {value}\n" for key, value in _THINKING.items())
    (config / "thinking.md").write_text("# Thinking\n\n" + "".join(lines))
    (config / "sleep.md").write_text("# Sleep\n\n**sleep**: no\n")


def _populate(copy: Copy, names: Sequence[str]) -> None:
    """Make rooms with two agents each, and an empty room for a player."""
    builder = Player.admin(copy)
    builder.see(r"Exits|exits")
    for room, two in enumerate(itertools.batched(names, 2)):
        builder.type(f"@dig/teleport Barn{room}", rf"Barn{room}")
        for name in two:
            builder.type(f"@agent/create {name} = You are {name}, who counts.", f"Made {name}")
    builder.type(f"@dig/teleport {ROOM}", ROOM)
    builder.type("look", ROOM)
    builder.leave()
