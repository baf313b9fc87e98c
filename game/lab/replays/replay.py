"""An archived life, lived once more at another configuration: what it costs, what it keeps.

What happens comes in the order and at the times in which it was lived, restarts and nights too;
see :mod:`game.lab.replays.course`. Nothing is written but into a folder that is gone afterwards.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from game.lab.replays.cells import Cell, CellSettings
from game.lab.replays.exam import Exam, RetentionResult, WordRecall, examine, visible_lines
from game.lab.replays.ledger import CostLedger
from game.lab.replays.lived import ArchivedLife
from game.lab.replays.reliving import LifeSetup, Living
from game.lab.replays.writers import SummaryAuthor
from game.mind.compaction.config import CompactionConfig
from game.mind.recall.config import RecallConfig

__all__ = ["LifeSetup", "Replayed", "replay"]


@dataclass(frozen=True, slots=True)
class Replayed:
    """What one configuration came to."""

    cell: Cell
    ledger: CostLedger  # what it cost
    kept: RetentionResult  # what it kept
    config: CompactionConfig  # its settings
    failures: int = 0  # compactions that changed nothing
    put_back: int = 0  # rules and promises that summaries had lost and that were put back
    last_failure: str = ""  # what the last of those failures said


def replay(
    cell: Cell,
    settings: CellSettings,
    life: ArchivedLife,
    exam: Exam,
    writer: SummaryAuthor,
    *,
    given: LifeSetup,
) -> Replayed:
    """Live a life at one configuration, and ask what is left of it; blocks.

    Raises:
        KeepsakeError: The temporary folder cannot be written, or the model does not answer.
    """
    with tempfile.TemporaryDirectory(prefix="replay-", dir=given.scratch) as scratch:
        living = Living(Path(scratch), settings, life, writer, given)
        try:
            living.live()
            return _result(cell, living, exam, given.recall)
        finally:
            living.memory.close()


def _result(cell: Cell, living: Living, exam: Exam, recall: RecallConfig) -> Replayed:
    noticed, memory = living.noticed, living.memory
    living.clock.time = living.life.steps[-1].time
    search = WordRecall(living.life, memory, living.clock, recall)
    try:
        visible = visible_lines(noticed.lines, memory.context())
        wanted = [item.line for item in (*noticed.items, *noticed.refused)]
        kept = examine(exam, memory, visible, wanted, search)
    finally:
        search.close()
    return Replayed(
        cell,
        living.ledger,
        kept,
        living.settings.config,
        living.failures,
        living.put_back,
        living.last_failure,
    )
