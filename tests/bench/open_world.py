"""A world in which one agent with a long archive is opened, renamed and started again and again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from keepsake.archive.log import SEGMENT_LINES
from keepsake.archive.privacy import PrivateWords
from keepsake.archive.records import Memory, Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.happening import ME, Manner, Person, Speech
from keepsake.json_lines import line_of
from tests.bench.figures import Figure
from tests.bench.in_the_world import live, print_figures

SIZES = tuple(map(int, os.environ.get("OPEN_SIZES", "1000 100000").split()))
_TIMES = 15
"""How often each is measured; the median is shown."""
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
    from keepsake.contrib.evennia import minds  # noqa: PLC0415 - with the world
    from keepsake.models.embedders import MiniLMEmbedder  # noqa: PLC0415
    from keepsake.recall.service import IndexService  # noqa: PLC0415
    from tests.world.agents_world import AgentsWorld  # noqa: PLC0415

    figures: list[Figure] = []

    class World(AgentsWorld):
        def measure(self) -> None:
            service = IndexService(self.services.places, "none", MiniLMEmbedder())
            self.services.indexes = service
            self.addCleanup(service.close, stop_server=False)
            for size in SIZES:
                self._live_long(size)
                self._measure("read whole, as before", size, self._read_whole, lambda: None)
                self._measure("open", size, self._open, minds.close_all)
                self._measure("start", size, self._start, minds.close_all)
                self._measure("rename", size, self._rename, lambda: None)

        def _live_long(self, size: int) -> None:
            minds.close_all()
            folder = self.services.places.agents / self.mira.memory_folder / "archive"
            for path in folder.glob("*.jsonl"):
                path.unlink()
            write_archive(folder, size)
            minds.mind_of(self.mira)
            self.settle()  # what worker threads read only once

        def _measure(
            self, name: str, size: int, work: Callable[[], object], before: Callable[[], object]
        ) -> None:
            took = []
            used = []
            for _ in range(_TIMES):
                before()
                self.settle()
                began = time.perf_counter()
                cpu = time.thread_time()
                work()
                used.append(time.thread_time() - cpu)
                took.append(time.perf_counter() - began)
                self.settle()
                newest = self.mind.memory.memory.archive.last_number
                assert newest >= size
            # Processor time, because other processes and threads do not change it.
            value = 1000 * median(used)
            told = f"wall time {1000 * median(took):.1f}; at worst {1000 * max(took):.1f}"
            figures.append(Figure(f"{name}, reactor thread", size, value, "ms", told))

        def _read_whole(self) -> None:
            PrivateWords.of(self.mind.memory.memory.archive)

        def _open(self) -> None:
            minds.mind_of(self.mira)

        def _start(self) -> None:
            minds.open_all()

        def _rename(self) -> None:
            self.mira.key = "Mirabel" if self.mira.key == "Mira" else "Mira"

    live(World("measure"))
    return figures


if __name__ == "__main__":
    print_figures(_figures)
