"""How soon a world is there after a start and a reload, with all of its memories still to do.

The agents' lives are never compacted, noticed or indexed before, as out of an import: their
archives are put into the vault while the world is stopped.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.cli import home, processes
from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure, percentile
from tests.bench.long_lives import names_of, populate
from tests.bench.talk import talk
from tests.slow.cli.conftest import Copy, end, make_copy
from tests.slow.e2e.players import Player

WORLDS = ((10, 200), (200, 2000))
"""Agents, and memories of each."""
LOOK_SECONDS, PAUSE = 60.0, 0.5
MOST_SECONDS = 900.0
"""Until all agents are open."""
_LLM = """\
## agent
**provider**: scripted
**form**: script

## summarizer
**provider**: extractive
"""


def measure() -> Iterator[Figure]:
    """Start, reload, `look` in the minute after it, and when all agents are open."""
    for agents, memories in WORLDS:
        with tempfile.TemporaryDirectory() as scratch:
            yield from _measured(make_copy(Path(scratch)), agents, memories)


def _measured(copy: Copy, agents: int, memories: int) -> Iterator[Figure]:
    names, told = names_of(agents), f"{memories:,} memories each"
    try:
        shutil.copytree(REPOSITORY / "vault" / "config", copy.here.config)
        (copy.here.config / "llm.md").write_text(_LLM)
        _timed(copy, "start")
        populate(copy, names)
        _timed(copy, "stop")
        _put_lives(copy, names, memories)
        yield Figure("`keepsake start`, by agents", agents, _timed(copy, "start"), "s", told)
        player = Player.new(copy, "Anneke")
        player.see(r"Exits|exits")
        player.type(f"look {names[0]}", r"\w")
        yield Figure("`keepsake reload`", agents, _timed(copy, "reload"), "s", told)
        looks, opened = _afterwards(copy, player)
        yield Figure("all agents open after it", agents, opened, "s", told)
        for share in (0.5, 0.95, 1.0):
            name = f"`look` in the minute after it, p{100 * share:.0f}"
            yield Figure(name, agents, percentile(looks, share), "ms", f"{len(looks)} looks")
        yield Figure("`keepsake stop`", agents, _timed(copy, "stop"), "s", told)
    finally:
        if processes.running(copy.here):
            end(copy)


def _timed(copy: Copy, command: str) -> float:
    began = time.monotonic()
    ended = copy.keepsake(command)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return time.monotonic() - began


def _afterwards(copy: Copy, player: Player) -> tuple[list[float], float]:
    """Milliseconds of each `look`, and seconds until all agents were open."""
    began, looks, opened = time.monotonic(), [], 0.0
    while (now := time.monotonic() - began) < LOOK_SECONDS or (not opened and now < MOST_SECONDS):
        if now < LOOK_SECONDS:
            asked = time.perf_counter()
            player.type("look", r"Exits|exits")
            looks.append((time.perf_counter() - asked) * 1000)
        if not opened and not home.ask(copy.here, "ready", seconds=60).get("unopened"):
            opened = time.monotonic() - began
        time.sleep(PAUSE)
    return looks, opened


def _put_lives(copy: Copy, names: list[str], memories: int) -> None:
    first, *others = (copy.here.agents / name for name in names)
    _emptied(copy, names)
    archive, began = Archive(first / "archive"), datetime.now(UTC) - timedelta(days=7)
    for number, line in zip(range(1, memories + 1), talk(Random(7)), strict=False):
        when, source = began + timedelta(seconds=10 * number), _speaker(line.text)
        archive.append_memory(
            Memory(number, when, line.kind, line.text, place="The Kettle", source=source)
        )
    archive.close()
    for folder in others:
        shutil.copytree(first, folder, ignore=shutil.ignore_patterns(".lock"))


def _speaker(text: str) -> str:
    found = re.match(r"(\w+) says", text)
    return found[1] if found else ""


def _emptied(copy: Copy, names: list[str]) -> None:
    for name in names:
        shutil.rmtree(copy.here.agents / name, ignore_errors=True)
        shutil.rmtree(copy.here.index / name, ignore_errors=True)
