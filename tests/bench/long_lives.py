"""Agents with long lives, for worlds that are measured.

A life comes from a real memory with real compactions, and is written before its agent exists;
the agent then finds its memories in the vault.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.archive.records import MemoryKind
from keepsake.books.people import PeopleBook
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.config import CompactionConfig, MemoryHost
from keepsake.memory.summarizer import ExtractiveSummarizer
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.types import CompactReason
from keepsake.paths import Places
from tests.bench.talk import PEOPLE, Line
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.players import Player

_LETTERS = "bcdfghjklm"
_AT_ONCE = 2_000


@dataclass
class _Clock:
    """Time as it passed for the agents: ten seconds a memory."""

    time: datetime

    def now(self) -> datetime:
        self.time += timedelta(seconds=10)
        return self.time


def names_of(agents: int) -> list[str]:
    """So many names that an agent may have."""
    made = map("".join, itertools.product(_LETTERS, "aeiou", _LETTERS, "o"))
    return [name.title() for name in itertools.islice(made, agents)]


def write_life(here: Places, name: str, lines: Iterable[Line]) -> None:
    """Give one agent a life of these lines."""
    life = here.agents / name
    memories = _live(life, name, list(lines))
    archive, book = Archive(life / "archive"), PeopleBook(life)
    for first in range(1, memories + 1, _AT_ONCE):
        lived = archive.read(first, first + _AT_ONCE - 1)
        book.take(lived)
    archive.close()


def _live(folder: Path, name: str, lines: Sequence[Line]) -> int:
    config = CompactionConfig()
    clock = _Clock(datetime.now(UTC) - timedelta(seconds=20 * len(lines)))
    memory = AgentMemory(
        name,
        Archive(folder / "archive"),
        SummaryFolder(folder / "summaries", name),
        MemoryHost(
            config=lambda: config,
            summarizer=ExtractiveSummarizer,
            clock=clock,
            log=lambda _: None,
        ),
    )
    for line in lines:
        who = line.text.partition(" ")[0]
        source = who if who in PEOPLE and line.kind is MemoryKind.PERCEPTION else ""
        memory.append(line.text, line.kind, place="The Kettle", source=source, event="say")
        if memory.status().total >= (memory.status().next_due or 0):
            memory.compact(CompactReason.COUNT)
    memory.close()
    return len(lines)


def populate(copy: Copy, names: Sequence[str]) -> None:
    """Make the agents, two in each room; each finds its memories in the vault."""
    builder = Player.admin(copy)
    builder.see(r"Exits|exits")
    for room, two in enumerate(itertools.batched(names, 2)):
        builder.type(f"@dig/teleport Barn{room}", rf"Barn{room}")
        for name in two:
            builder.type(f"@agent/create {name} = You are {name}, who counts.", f"Made {name}")
    builder.leave()
