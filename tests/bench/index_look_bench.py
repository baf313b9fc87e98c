"""How quick ``look`` is over telnet while an index is made anew, beside an idle world.

A real world with the real embedder: the agent Abel has a long life in his archive, and
``index_rebuild`` runs through the control socket for as long as people look around. Blocks of
looks with and without it take turns, so that a busy moment of the machine falls on both alike.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from game.cli.world import client
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind, Summary, Tier
from keepsake.archive.tier_lines import SummaryState
from keepsake.paths import Places
from tests.bench.figures import Figure, percentile
from tests.bench.index_bench import HYTHE
from tests.bench.look_bench import _ROOM, _looks, _world
from tests.e2e.players import Player
from tests.recall_data import read_data

MEMORIES, BLOCKS, LOOKS, WARM_UP = 1_000, 4, 75, 10
WANTED = 1.5
_AGENT = "Abel"
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def measure() -> Iterator[Figure]:
    """Median and p95 of ``look``; takes about a minute and a half."""
    with tempfile.TemporaryDirectory() as scratch, _world(Path(scratch)) as (copy, _):
        here = copy.here
        _live(here)
        builder = Player.admin(copy)
        builder.see(r"Exits|exits")
        builder.type(f"@agent/create {_AGENT} = You are {_AGENT}, who is old.", f"Made {_AGENT}")
        builder.type(f"@dig/teleport {_ROOM}", _ROOM)
        _wait_indexed(here)
        idle: list[float] = []
        busy: list[float] = []
        for _ in range(BLOCKS):
            _looks(builder, WARM_UP)
            idle += _looks(builder, LOOKS)
            with _indexing(here):
                _looks(builder, WARM_UP)
                busy += _looks(builder, LOOKS)
        builder.leave()
    yield from _figures(idle, busy)


def _figures(idle: list[float], busy: list[float]) -> Iterator[Figure]:
    for share in (0.5, 0.95):
        none, some = percentile(idle, share), percentile(busy, share)
        name = f"`look` over telnet, p{share * 100:.0f}"
        yield Figure(f"{name}, idle world", len(idle), none, "ms")
        wanted = f", wanted ≤ {WANTED}" if share > 0.9 else ""
        note = f"{some / none:.2f} × idle{wanted}"
        yield Figure(f"{name}, while an index is made", len(busy), some, "ms", note)


def _live(here: Places) -> None:
    """Write the archive of a long life, all of it out of the window."""
    lines, random = [turn.text for turn in read_data(HYTHE)[0]], Random(5)
    archive = Archive(here.agents / _AGENT / "archive")
    for number in range(1, MEMORIES + 1):
        time_lived = _BEGIN + timedelta(minutes=number)
        text = f'Ann says, "{random.choice(lines)}"'
        archive.append_memory(
            Memory(number, time_lived, MemoryKind.PERCEPTION, text, "The Mill", "Ann")
        )
    end = _BEGIN + timedelta(minutes=MEMORIES)
    whole = Summary(Tier.RECENT, 1, MEMORIES, "A long life at the mill.", "bench", end)
    archive.append(SummaryState(None, whole, MEMORIES, 1, whole.time).compaction_line(1))
    archive.close()


def _wait_indexed(here: Places, seconds: float = 180) -> None:
    """Wait until Abel's index is whole and nothing is left to do."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = client.ask(here, "index_status")
        own = [index for index in found["agents"] if index["agent"] == _AGENT]
        if own and own[0]["complete"] and own[0]["embedded"] >= MEMORIES and not found["waiting"]:
            return
        time.sleep(0.5)
    raise AssertionError(f"the index of {_AGENT} was not made: {found}")


@contextmanager
def _indexing(here: Places) -> Iterator[None]:
    """Make the index anew again and again; leaves when the last time is over."""
    ending = threading.Event()

    def work() -> None:
        while not ending.is_set():
            client.ask(here, "index_rebuild", agent=_AGENT)
            while (found := client.ask(here, "index_status")["rebuild"])["finished"] < 1:
                time.sleep(0.2)
            assert not found["problems"], found["problems"]

    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(work)
        try:
            time.sleep(0.5)
            yield
        finally:
            ending.set()
    job.result()
