"""Archived lives for the lab's tests, lived through the real memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.archive.records import MemoryKind
from keepsake.compaction.cascade import CascadeMemory
from keepsake.compaction.config import CompactionConfig
from keepsake.compaction.dependencies import Dependencies
from keepsake.paths import REPOSITORY, Places, Ports
from keepsake.summaries.files import SummaryFolder
from keepsake.summaries.summarizer import ExtractiveSummarizer
from tests.bench.ladder_lives import OUTPUTS, life
from tests.mind.lives import ManualClock

NAME = "Mira"
START = datetime(2026, 5, 1, 8, 0, tzinfo=UTC)
APART = timedelta(minutes=3)
FACT = 'Tom says to you, "My brother Edwin mends nets in Ostrey, beside the salt house."'
RULE = 'Tom says to you, "Remember, Mira: never open the cellar door after dark."'
SHIPPED = REPOSITORY / "vault" / "config" / "memory_compaction.md"


def places(folder: Path) -> Places:
    """A copy of Keepsake in a folder."""
    return Places(folder / "home", folder / "vault", Ports())


def lines(count: int) -> Iterator[tuple[str, MemoryKind, str]]:
    """Talk with tool calls in between; a rule and a fact near its beginning."""
    for place, each in enumerate(life(OUTPUTS[0], count)):
        if place == 5:
            yield RULE, MemoryKind.PERCEPTION, "Tom"
        elif place == 9:
            yield FACT, MemoryKind.PERCEPTION, "Tom"
        else:
            yield (
                each.text,
                each.kind,
                each.text.partition(" says")[0] if "says" in each.text else "",
            )


def settle_down(folder: Path, name: str = NAME) -> Path:
    """An agent's folder, with its name."""
    folder.mkdir(parents=True)
    (folder / "profile.md").write_text(f"---\nname: {name}\n---\nYou keep an inn.\n")
    return folder


def lived(folder: Path, count: int, *, name: str = NAME, **changes: str) -> list[int]:
    """Live through that many memories at the shipped settings, and compact when it is due.

    Returns:
        The memory after which each compaction was made.
    """
    config = CompactionConfig.load(SHIPPED, changes)
    clock, made = ManualClock(START), []
    memory = CascadeMemory(
        name,
        Archive(settle_down(folder, name) / "archive"),
        SummaryFolder(folder / "summaries", name),
        Dependencies(
            config=lambda: config,
            summarizer=ExtractiveSummarizer,
            clock=clock,
            log=lambda _: None,
        ),
    )
    for text, kind, source in lines(count):
        clock.time += APART
        memory.append(
            text, kind, source=source, source_id=source and f"{source}-1", place="The Kettle"
        )
        if reason := memory.next_turn():
            memory.compact(reason)
            made.append(memory.archive.last_number)
    memory.close()
    return made


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file below a folder, with what is in it."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
