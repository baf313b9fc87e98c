"""The cost of a thought in a busy world: all threads, all processes, the disk.

A real world runs with a fake model server behind HTTP. The server first withholds its answers (idle
world), then gives them (busy world). :class:`tests.bench.busy_world.Size` sets the size.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import quantiles

import psutil

from keepsake.cli import processes
from keepsake.events.files import newest_first
from keepsake.paths import Places
from tests.bench.busy_world import NEWCOMER, ROOM, BusyWorld, Size, world
from tests.bench.figures import Figure
from tests.slow.e2e.players import Player

SETTLE_SECONDS = 5.0
"""Seconds until all withheld answers are given, or all agents wait for one."""
PAUSE = 0.1


GREETING = "say Good day to you all."
"""Said before the agents are to be busy: one answers, and each act of an agent gives the others a
reason to think."""


@dataclass
class _Period:
    """A period in which the world was idle, or busy."""

    seconds: float
    spent: Counter[str]  # processor milliseconds, by process
    looks: list[float]  # milliseconds of each ``look``
    thoughts: int  # how many ended in this period with an act or a refusal


def measure() -> Iterator[Figure]:
    """Measure thoughts a second, processor time by process, memory, starts, stops and `look`."""
    size = Size()
    with tempfile.TemporaryDirectory() as scratch, world(Path(scratch), size) as made:
        made.timed("start", "start")
        player = Player.admin(made.copy)
        player.see(ROOM)
        made.brake(on=False)
        player.type(GREETING, "You say")
        _look_around(player, size.warm)
        idle, busy = (_measure_period(made, player, size, busy=busy) for busy in (False, True))
        player.leave()
        memory = {
            str(each.component): psutil.Process(each.pid).memory_info().rss / 1e6
            for each in processes.running(made.copy.here)
        }
        made.timed("reload", "reload, busy")
        made.timed("stop", "stop, busy")
    yield from _figures(size, idle, busy)
    for part, used in memory.items():
        yield Figure(f"busy: memory, {part}", size.agents, used, "MB")
    for name, seconds in made.took.items():
        yield Figure(f"busy: {name}", size.agents, seconds, "s")


def _measure_period(made: BusyWorld, player: Player, size: Size, *, busy: bool) -> _Period:
    made.brake(on=not busy)
    if busy:
        player.type(GREETING, "You say")
    _look_around(player, SETTLE_SECONDS + (0 if busy else size.delay))
    if busy and size.newcomer:
        player.type(f"@agent/create {NEWCOMER} = You are {NEWCOMER}.", f"Made {NEWCOMER}")
    began = time.time()
    before = _spent(made.copy.here)
    looks = _look_around(player, size.seconds)
    spent = _spent(made.copy.here) - before
    ended = time.time()
    return _Period(ended - began, spent, looks, _thoughts(made.copy.here, began, ended))


def _look_around(player: Player, seconds: float) -> list[float]:
    """Look repeatedly, with pauses; return the milliseconds until each room was shown."""
    times: list[float] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        player.type("look", ROOM)
        times.append((time.perf_counter() - began) * 1000)
        time.sleep(PAUSE)
    return times


def _spent(here: Places) -> Counter[str]:
    """Return the processor milliseconds of that copy's processes, by component."""
    known = {each.pid: str(each.component) for each in processes.running(here)}
    found: Counter[str] = Counter()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            home = process.environ().get("KEEPSAKE_HOME")
            if process.pid in known or (home and Path(home).resolve() == here.home):
                used = process.cpu_times()
                found[known.get(process.pid, process.name())] += round(
                    1000 * (used.user + used.system)
                )
    return found


def _thoughts(here: Places, began: float, ended: float) -> int:
    """Return how many thoughts ended in that period with an act or a refusal."""
    count = 0
    for record in newest_first(here.events):
        at = datetime.fromisoformat(record["t"]).timestamp()
        if at < began:
            break
        count += at <= ended and record.get("outcome") in ("acted", "refused")
    return count


def _figures(size: Size, idle: _Period, busy: _Period) -> Iterator[Figure]:
    n = size.agents
    count = busy.thoughts
    assert count, "nobody thought"
    told = f"{size.memories:,} memories each"
    yield Figure("busy: thoughts", n, count / busy.seconds, "1/s", told)
    share = busy.seconds / idle.seconds
    for part, used, without in (
        ("all processes", busy.spent.total(), idle.spent.total()),
        *((part, used, idle.spent[part]) for part, used in busy.spent.most_common()),
    ):
        more = (used - without * share) / count
        told = f"{used / 1000 / busy.seconds:.0%} of a core; {more:.1f} more than idle"
        name = f"busy: processor time a thought, {part}"
        yield Figure(name, n, used / count, "ms", told)
    still = 100 * idle.spent.total() / 1000 / idle.seconds
    yield Figure("busy: an idle world", n, still, "% of a core")
    for percent in (50, 95, 99):
        one, other = (quantiles(each.looks, n=100)[percent - 1] for each in (idle, busy))
        name = f"busy: `look` over telnet, p{percent}"
        yield Figure(f"{name}, idle", n, one, "ms")
        yield Figure(f"{name}, busy", n, other, "ms", f"{other / one:.2f} × idle")
