"""A world in which one agent with a long archive is opened, renamed and started again and again."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from keepsake.archive.log import SEGMENT_LINES
from keepsake.archive.privacy import PrivateWords
from keepsake.archive.records import Memory
from keepsake.archive.summaries import Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.happening import ME, Manner, Person, Speech
from keepsake.json_lines import line_of
from tests.bench.figures import Figure
from tests.bench.in_the_world import live, print_figures

SIZES = tuple(map(int, os.environ.get("OPEN_SIZES", "1000 100000").split()))
_TIMES = 15
"""How often each is measured; the median is shown."""
_FEW = 3
"""How often reading a whole archive is measured, because it takes seconds."""
_WHISPERED = 20
"""Every twentieth memory is a whisper."""
_WINDOW = 100
_PEOPLE = [Person(name, f"{number}-20260101120000") for number, name in enumerate("ABCDEFGH")]


def write_archive(folder: Path, memories: int) -> None:
    """Write the archive of an agent who has heard this many lines, with one compaction."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [line_of(each.to_record()) for each in _memories(memories)]
    last = memories - _WINDOW
    now = datetime.now(UTC)
    summary = Summary(Tier.RECENT, 1, last, "Many people told me many things.", "model", now)
    state = SummaryState(None, summary, last, 1, now)
    lines.append(line_of(state.compaction_line(1, total=memories)))
    for start in range(0, len(lines), SEGMENT_LINES):
        path = folder / f"{start + 1:010d}.jsonl"
        path.write_bytes(b"".join(lines[start : start + SEGMENT_LINES]))


def _memories(count: int) -> Iterator[Memory]:
    began = datetime.now(UTC) - timedelta(seconds=20 * count)
    for number in range(1, count + 1):
        who = _PEOPLE[number % len(_PEOPLE)]
        manner = Manner.SAY if number % _WHISPERED else Manner.WHISPER
        words = f"The ferry of day {number} brought barley, and nobody paid for the rope."
        said = Speech(
            speaker=who,
            words=words,
            to=(ME,),
            manner=manner,
            shown=f'{who.name} says to you, "{words}"',
        )
        time_of_it = began + timedelta(seconds=20 * number)
        yield Memory(number, time_of_it, said, place="The Kettle", event=manner.value)


def _figures() -> list[Figure]:  # noqa: C901 - defines a world
    """Run the world; it is defined here, because Evennia must be set up before its imports."""
    from keepsake.contrib.evennia import minds  # noqa: PLC0415 - with the world
    from keepsake.models.local.minilm import MiniLMEmbedder  # noqa: PLC0415 - as above
    from keepsake.recall.service import IndexService  # noqa: PLC0415 - as above
    from tests.world.agents_world import AgentsWorld  # noqa: PLC0415 - as above

    figures: list[Figure] = []

    class World(AgentsWorld):
        def measure(self) -> None:
            service = IndexService(self.services.places, "none", MiniLMEmbedder())
            self.services.indexes = service
            self.addCleanup(service.close, stop_server=False)
            thing = self.add_thing("lamp")
            self._measure("rename an object without a memory", 0, lambda: _rename(thing))
            for size in SIZES:
                self._live_long(size)
                self._measure("read the whole archive, for comparison", size, self._read_whole)
                close = minds.close_all
                self._measure("open", size, lambda: minds.mind_of(self.mira), close)
                self._measure("open and be told a line at once", size, self._hear, close)
                self._measure("start", size, minds.open_all, close)
                self._measure("rename", size, lambda: _rename(self.mira))

        def _live_long(self, size: int) -> None:
            minds.close_all()
            folder = self.services.places.agents / self.mira.memory_folder / "archive"
            for path in folder.glob("*.jsonl"):
                path.unlink()
            write_archive(folder, size)
            minds.mind_of(self.mira)
            self.settle()  # what worker threads read only once
            assert self.mind.memory.memory.archive.last_number == size

        def _measure(
            self,
            name: str,
            size: int,
            work: Callable[[], object],
            before: Callable[[], object] = lambda: None,
        ) -> None:
            costs = []
            for _ in range(_FEW if work == self._read_whole else _TIMES):
                before()
                self.settle()
                costs.append(self._cost(work))
            # Processor time, because other processes and threads do not change it.
            value = 1000 * median(each.cpu for each in costs)
            wall = median(each.wall for each in costs)
            longest = max(each.longest for each in costs)
            told = f"wall time {1000 * wall:.1f}; longest call {1000 * longest:.1f}"
            figures.append(Figure(f"{name}, reactor thread", size, value, "ms", told))

        def _cost(self, work: Callable[[], object]) -> _Cost:
            """Measure the work, and all that worker threads pass back to the reactor after it."""
            cost = _Cost()
            cost.add(work)
            while True:
                while self._at_work():
                    time.sleep(0.001)
                try:
                    posted = self.posted.get_nowait()
                except queue.Empty:
                    return cost
                cost.add(posted)

        def _read_whole(self) -> None:
            PrivateWords.of(self.mind.memory.memory.archive)

        def _hear(self) -> None:
            self.mira.msg("The bell rings.")

    live(World("measure"))
    return figures


@dataclass
class _Cost:
    """What a piece of work cost the reactor's thread, in seconds.

    Attributes:
        cpu: Processor time of all its calls.
        wall: Time until all of them had ended, without the time between them.
        longest: Time of the longest call, in which no player is served.
    """

    cpu: float = 0.0
    wall: float = 0.0
    longest: float = 0.0

    def add(self, call: Callable[[], object]) -> None:
        began = time.perf_counter()
        cpu = time.thread_time()
        call()
        self.cpu += time.thread_time() - cpu
        wall = time.perf_counter() - began
        self.wall += wall
        self.longest = max(self.longest, wall)


def _rename(thing: Any) -> None:
    thing.key = {"Mira": "Mirabel", "Mirabel": "Mira", "lamp": "lantern", "lantern": "lamp"}[
        thing.key
    ]


if __name__ == "__main__":
    print_figures(_figures)
