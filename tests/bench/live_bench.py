"""Whether a live page grows while fifty agents' events run through it: an hour of them.

A real world whose agents think as fast as the machine lets them, the real stream, and a real
Chromium. An hour of theirs, at a thought of each every twenty seconds and what goes with it, takes
a few minutes so.
"""

from __future__ import annotations

import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from playwright.sync_api import BrowserContext, CDPSession, Page

from keepsake.events.reader import last
from keepsake.json_lines import Record
from tests.bench import dashboard_world
from tests.bench.dashboard_world import Browser
from tests.bench.figures import Figure
from tests.bench.in_chromium import chromium
from tests.cli.conftest import Copy

AGENTS, EVENTS, POINTS = 50, 40_000, 8
_MEMORIES = 200
"""Of each agent before it begins."""
_FULL = 500
"""Rows of a stream; more are not kept."""
_PATIENCE = 600.0
_BUSY: dict[str, dict[str, object]] = {
    "thinking": {
        "idle_interval": 5,
        "idle_away_factor": 1,
        "gather": 0,
        "cooldown": 0.1,
        "chatter_turns": 1000,
    },
    "sleep": {"sleep": "no"},
}
_NEWEST_ROW = """() => {
    const rows = [...document.querySelectorAll("#feed li[data-row]")];
    return [rows.length, Math.max(0, ...rows.map((row) => Number(row.dataset.t)))];
}"""
_MB = 1e6
_LOOKS = 5


@dataclass(frozen=True, slots=True)
class _Look:
    """A page as it is at one moment, after its garbage was collected.

    Attributes:
        heap: Bytes of JavaScript.
        nodes: DOM nodes, those that only JavaScript still holds included.
        listeners: Event listeners.
        behind: Seconds from the event of its newest row to the newest one in the log.
    """

    heap: float
    nodes: int
    listeners: int
    behind: float


def measure() -> Iterator[Figure]:
    """Heap and DOM nodes of the table of all agents, and of one agent's page."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        dashboard_world.world(
            Path(scratch), AGENTS, _MEMORIES, says=" emote counts {n}, {n}, {n}."
        ) as copy,
        chromium(logged_in := Browser(copy)) as context,
    ):
        number = logged_in.numbers(_MEMORIES)[0]
        _busy(copy)
        addresses = {"all agents": "/agents/", "an agent": f"/agents/{number}/"}
        pages = {name: _Page(context, address) for name, address in addresses.items()}
        _until(lambda: pages["all agents"].newest()[0] >= _FULL, "a full page")
        first, began = _newest(copy)["seq"], time.monotonic()
        looks: dict[str, list[_Look]] = {name: [] for name in pages}
        for point in range(POINTS + 1):
            wanted = first + EVENTS * point // POINTS
            _until(partial(_written, copy, wanted), f"event {wanted}")
            for name, page in pages.items():
                looks[name].append(page.look(copy))
        seconds = time.monotonic() - began
    yield Figure("live: events a second", EVENTS, EVENTS / seconds, "1/s", f"{seconds:.0f} s")
    for name, seen in looks.items():
        yield from _figures(name, seen)
    behind = max(each.behind for each in looks["all agents"])
    told = "from the event of its newest row to the log's newest"
    yield Figure("live: all agents, most that it was behind", EVENTS, behind, "s", told)


def _figures(name: str, seen: Sequence[_Look]) -> Iterator[Figure]:
    told = f"{EVENTS:,} events of {AGENTS} agents; at {len(seen)} points: "
    heaps = ", ".join(f"{each.heap / _MB:.2f}" for each in seen)
    few = len(seen) // 3  # a moment more or less is nothing that lasts
    first, latest = ([each.heap for each in part] for part in (seen[:few], seen[-few:]))
    grown = (statistics.median(latest) - statistics.median(first)) / _MB
    yield Figure(f"live: {name}, heap at the end", EVENTS, seen[-1].heap / _MB, "MB", told + heaps)
    told_grown = "from the first third of these to the last; wanted: none"
    yield Figure(f"live: {name}, heap grown by", EVENTS, grown, "MB", told_grown)
    nodes = ", ".join(f"{each.nodes:,}" for each in seen)
    yield Figure(f"live: {name}, DOM nodes at the end", EVENTS, seen[-1].nodes, "", told + nodes)
    listeners = ", ".join(f"{each.listeners:,}" for each in seen)
    yield Figure(f"live: {name}, listeners", EVENTS, seen[-1].listeners, "", told + listeners)


class _Page:
    """A page that is open, and what looks into its memory."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self._page: Page = context.new_page()
        self._inside: CDPSession = context.new_cdp_session(self._page)
        self._page.goto(address)

    def newest(self) -> tuple[int, float]:
        """Rows of its stream, and when the newest of them happened (seconds since 1970)."""
        rows, milliseconds = self._page.evaluate(_NEWEST_ROW)
        return rows, milliseconds / 1000

    def look(self, copy: Copy) -> _Look:
        """Collect the garbage, and look what is left.

        The page goes on meanwhile: rows that it has just let go of count, too. So the least of a
        few looks is taken.
        """
        behind = _time_of(_newest(copy)) - self.newest()[1]
        looks = []
        for _ in range(_LOOKS):
            self._inside.send("HeapProfiler.collectGarbage")
            heap = self._inside.send("Runtime.getHeapUsage")["usedSize"]
            counted = self._inside.send("Memory.getDOMCounters")
            looks.append((heap, counted["nodes"], counted["jsEventListeners"]))
            time.sleep(0.3)
        heap, nodes, listeners = (min(each) for each in zip(*looks, strict=True))
        return _Look(heap, nodes, listeners, max(behind, 0.0))


def _busy(copy: Copy) -> None:
    """Let the agents think as fast as they can."""
    for file, settings in _BUSY.items():
        path = copy.here.config / f"{file}.md"
        text = path.read_text()
        for name, value in settings.items():
            line = rf"^(\*\*{name}\*\*): .*$"
            text, found = re.subn(line, rf"\1: {value}", text, flags=re.MULTILINE)
            assert found == 1, (file, name)
        path.write_text(text)
    # A changed idle time counts after the next thought only; new minds take it at once.
    reloaded = copy.keepsake("reload")
    assert reloaded.returncode == 0, reloaded.stdout + reloaded.stderr


def _newest(copy: Copy) -> Record:
    return last(copy.here.events, 1, lambda _: True)[0]


def _written(copy: Copy, wanted: int) -> bool:
    return bool(_newest(copy)["seq"] >= wanted)


def _time_of(record: Record) -> float:
    return datetime.fromisoformat(record["t"]).timestamp()


def _until(done: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not done():
        assert time.monotonic() < deadline, f"{what} never came"
        time.sleep(0.5)
