"""Memories for the benches, made with real compactions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from keepsake.archive.log import Archive
from keepsake.archive.old_lines import what_of
from keepsake.archive.records import MemoryKind
from keepsake.events.values import CompactReason
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.types import CompactionRequest
from keepsake.memory.window import MemoryHost
from tests.bench.talk import PEOPLE, Line


class TenSeconds:
    """A clock that moves ten seconds for each memory, up to the present."""

    def __init__(self, memories: int) -> None:
        self.time = datetime.now(UTC) - timedelta(seconds=20 * memories)

    def now(self) -> datetime:
        self.time += timedelta(seconds=10)
        return self.time


def opened(folder: Path, name: str = "Mira", memories: int = 0, **host: Any) -> AgentMemory:
    """Open the memory in a folder; ``host``: fields of its :class:`MemoryHost`."""
    archive = Archive(folder / "archive")
    summaries = SummaryFolder(folder / "summaries", name)
    host = {"clock": TenSeconds(memories), **host}
    return AgentMemory(name, archive, summaries, MemoryHost(**host))


def lived(folder: Path, name: str, lines: Sequence[Line], **host: Any) -> AgentMemory:
    """Make a memory of these lines, with all compactions that were due."""
    memory = opened(folder, name, len(lines), **host)
    for line in lines:
        who = line.text.partition(" ")[0]
        source = who if who in PEOPLE and line.kind is MemoryKind.PERCEPTION else ""
        given = {"text": line.text, "kind": line.kind, "source": source}
        memory.append(what_of(given), place="The Kettle", event="say")
        if memory.tiers.last_number >= (memory.next_due() or 0):
            limits = memory.host.config()
            memory.compact(CompactionRequest(reason=CompactReason.COUNT, limits=limits))
    return memory
