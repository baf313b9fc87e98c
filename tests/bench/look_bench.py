"""How quick ``look`` is over telnet while fifty agents think, beside none.

A real world with a slow model server in another process. The agents think in blocks that
take turns with quiet ones, so that a busy moment of the machine falls on both alike.
"""

from __future__ import annotations

import itertools
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keepsake.cli import processes
from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure, percentile
from tests.cli.conftest import Copy, make_copy
from tests.e2e.players import Player

AGENTS, BLOCKS, LOOKS, WARM_UP = 50, 3, 100, 15
DELAY, JITTER, PAUSE = 2.0, 0.5, 0.02
WANTED = 1.3
_LETTERS = "bcdfghjklm"
_ROOM = "The Bench"

_LLM = """\
## agent
**provider**: ollama
**host**: {host}
**model**: fake
**form**: script
**in_flight**: 64
**time_limit**: 30

## summarizer
**provider**: extractive
"""
_SETTINGS = {
    "quiet": {"idle_interval": 80_000},
    # Each thought ends in a gesture that another sees, which makes that one think again.
    "busy": {
        "idle_interval": 5,
        "idle_away_factor": 1,
        "gather": 0,
        "cooldown": 0.1,
        "chatter_turns": 1000,
    },
}


def measure() -> Iterator[Figure]:
    """Median and p95 of ``look``, and how many thoughts were thought meanwhile."""
    with tempfile.TemporaryDirectory() as scratch, _world(Path(scratch)) as (copy, record):
        builder = Player.admin(copy)
        builder.see(r"Exits|exits")
        _populate(builder)
        times: dict[int, list[list[float]]] = {0: [], AGENTS: []}
        thoughts: dict[int, float] = {0: 0.0, AGENTS: 0.0}
        for thinking in [0, AGENTS] * BLOCKS:
            _set_thinking(copy, record, thinking)
            _looks(builder, WARM_UP)
            before, began = _asked(record), time.monotonic()
            times[thinking].append(_looks(builder, LOOKS))
            rate = (_asked(record) - before) / (time.monotonic() - began)
            thoughts[thinking] += rate / BLOCKS
        builder.leave()
    yield from _figures(times, thoughts)


def _figures(times: dict[int, list[list[float]]], thoughts: dict[int, float]) -> Iterator[Figure]:
    for share in (0.5, 0.95):
        none, many = (_typical(times[n], share) for n in (0, AGENTS))
        name = f"`look` over telnet, p{share * 100:.0f}, by thinking agents"
        yield Figure(name, 0, none, "ms", f"median of {BLOCKS} blocks of {LOOKS} looks")
        wanted = f", wanted ≤ {WANTED}" if share > 0.9 else ""
        yield Figure(name, AGENTS, many, "ms", f"{many / none:.2f} × with none{wanted}")
    for agents, rate in thoughts.items():
        yield Figure("thoughts begun during these looks", agents, rate, "1/s")


def _typical(blocks: list[list[float]], share: float) -> float:
    """The percentile of the median block: one that the machine disturbed does not count."""
    return statistics.median(percentile(block, share) for block in blocks)


@contextmanager
def _world(scratch: Path) -> Iterator[tuple[Copy, Path]]:
    """A running copy, and the file in which its model server records what it is asked."""
    record = scratch / "asked.jsonl"
    command = [sys.executable, "-m", "tests.fakes.model_server", "--delay", str(DELAY)]
    command += ["--jitter", str(JITTER)]
    command += ["--text", " emote counts {n}, {n}, {n}.", "--record", str(record)]
    fake = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    copy = make_copy(scratch)
    try:
        assert fake.stdout is not None
        host = fake.stdout.readline().strip()
        shutil.copytree(REPOSITORY / "vault" / "config", copy.here.config)
        (copy.here.config / "llm.md").write_text(_LLM.format(host=host))
        _write_thinking(copy, "quiet")
        started = copy.keepsake("start")
        assert started.returncode == 0, started.stdout + started.stderr
        yield copy, record
    finally:
        if processes.running(copy.here):
            copy.keepsake("stop")
        fake.terminate()
        fake.wait()


def _populate(builder: Player) -> None:
    """Rooms of two agents each, and the builder in an empty room beside them."""
    names = map("".join, itertools.product(_LETTERS, "aeiou", _LETTERS, "o"))
    for room in range(AGENTS // 2):
        builder.type(f"@dig/teleport Barn{room}", rf"Barn{room}")
        for _ in range(2):
            name = next(names).title()
            builder.type(f"@agent/create {name} = You are {name}, who counts.", f"Made {name}")
    builder.type(f"@dig/teleport {_ROOM}", _ROOM)
    builder.type("look", _ROOM)


def _set_thinking(copy: Copy, record: Path, agents: int) -> None:
    """Begin or end the thinking, and wait until that has come about."""
    _write_thinking(copy, "busy" if agents else "quiet")
    # A changed idle time counts after the next thought only; new minds take it at once.
    reloaded = copy.keepsake("reload")
    assert reloaded.returncode == 0, reloaded.stdout + reloaded.stderr
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        before = _asked(record)
        time.sleep(2 * DELAY)
        begun = _asked(record) - before
        if (begun >= AGENTS) if agents else begun == 0:
            return
    raise AssertionError(f"{agents} agents should think, but {begun} thoughts were begun")


def _write_thinking(copy: Copy, mood: str) -> None:
    text = (REPOSITORY / "vault" / "config" / "thinking.md").read_text()
    for name, value in _SETTINGS[mood].items():
        text, found = re.subn(rf"^(\*\*{name}\*\*): .*$", rf"\1: {value}", text, flags=re.MULTILINE)
        assert found == 1, name
    (copy.here.config / "thinking.md").write_text(text)


def _looks(builder: Player, number: int) -> list[float]:
    """Milliseconds until the room was shown, several times, with a breath between."""
    times = []
    for _ in range(number):
        began = time.perf_counter()
        builder.type("look", _ROOM)
        times.append((time.perf_counter() - began) * 1000)
        time.sleep(PAUSE)
    return times


def _asked(record: Path) -> int:
    """Generations that the model server was asked for so far."""
    if not record.exists():
        return 0
    with record.open() as lines:
        return sum(json.loads(line)["path"] == "/api/generate" for line in lines)
