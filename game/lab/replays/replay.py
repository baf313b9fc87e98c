"""An archived life, lived once more at another configuration: what it costs, what it keeps.

The memory of the game is asked what the game asks it, in the order and at the times in which the
life was lived; see :mod:`game.lab.replays.course`. Nothing is written but into a folder that is
gone afterwards.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from game.lab.replays.accounting import CostLedger, WindowMarks, compacted, thought
from game.lab.replays.aftermath import known_after
from game.lab.replays.cells import Cell, CellSettings
from game.lab.replays.course import Happening, course
from game.lab.replays.event_history import ASSUMED, AskedFor, Counted, Log, Moment, Prompted, Turn
from game.lab.replays.exam import RetentionResult, retention
from game.lab.replays.lived import ArchivedLife
from game.lab.replays.weighing import Weighing
from game.lab.replays.writers import SummaryAuthor
from game.lab.trials.journal import Row
from keepsake.agent_memory import AgentMemory
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.books.commitments import Commitments
from keepsake.compaction.carried_over import must_keep
from keepsake.compaction.cascade import CascadeMemory
from keepsake.compaction.config import CompactionConfig
from keepsake.compaction.dependencies import Dependencies
from keepsake.compaction.sliding import SlidingMemory
from keepsake.errors import CompactionError, KeepsakeError
from keepsake.memory import CompactReason
from keepsake.ports import FixedClock
from keepsake.prompt.tokens import Heuristic
from keepsake.recall.config import RecallConfig
from keepsake.summaries.files import SummaryFolder
from keepsake.summaries.strategy import Layout

MOST_FAILURES = 5
"""Compactions that a model may fail, if they are more than those that it made."""
LOOKED_EACH = timedelta(seconds=2.0)
"""How often the game looks after its memories though nothing has happened to them."""
_OF_A_STEP = ("place", "source", "reason", "source_id", "event", "to", "time")


@dataclass(frozen=True, slots=True)
class LifeSetup:
    """What is the same for every configuration."""

    # tokens of a prompt that are neither summaries nor window, where the log does not tell
    overhead: int = ASSUMED
    fixed: bool = False  # whether they are so many in every prompt, whatever the log tells
    log: Log = field(default_factory=Log)  # what the event log tells of the life
    recall: RecallConfig = field(default_factory=RecallConfig)  # how much recall may say
    config: Path = Path()  # the vault's settings
    probed: bool = True  # whether what comes after the life is lived, and asked about
    scratch: Path | None = None  # where temporary folders are made; None for the system's place


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
    writer: SummaryAuthor,
    *,
    given: LifeSetup,
) -> Replayed:
    """Live a life at one configuration, see what is left of it, and live on; blocks.

    Raises:
        KeepsakeError: The temporary folder cannot be written, or the model does not answer.
    """
    with tempfile.TemporaryDirectory(prefix="replay-", dir=given.scratch) as scratch:
        living = _Living(Path(scratch), settings, life, writer, given)
        try:
            living.live()
            return living.result(cell)
        finally:
            living.memory.close()


class _Living:
    """A life that is being lived once more, in a folder of its own."""

    def __init__(
        self,
        folder: Path,
        settings: CellSettings,
        life: ArchivedLife,
        writer: SummaryAuthor,
        given: LifeSetup,
    ) -> None:
        self._life, self._ledger = life, CostLedger()
        self._clock = FixedClock(life.steps[0].time)
        self._failures = self._put_back = 0
        self._last_failure = ""
        self._folder, self._settings = folder, settings
        self._writer, self._given = writer, given
        self._asleep = False
        self._due: CompactReason | None = None
        self._before: Sequence[str] = ()
        self._weighing = Weighing(life.name, life.weights, self._clock)
        self._open()

    def _open(self) -> None:
        """Open the memory; what a mind has in RAM alone begins anew, in every configuration."""
        self._beside = self._off = 0
        self._since = self._clock.time
        self._weighing.opened()
        self._tokens = Heuristic()
        self._marks = WindowMarks(self._life.name, self._tokens)
        self._commitments = Commitments(self._folder / "noticed.md")
        self.memory = self._opened()

    def _opened(self) -> AgentMemory:
        """The memory that the configuration names, as the game makes it."""
        settings, folder, writer = self._settings, self._folder, self._writer
        archive, config, name = Archive(folder / "archive"), settings.config, self._life.name
        outside = Dependencies(
            config=lambda: config,
            summarizer=lambda: writer.summarizer,
            clock=self._clock,
            tokens=self._tokens,
            strategy=lambda: settings.strategy,
            # As in the game, but for pins, whose times nobody knows.
            must_keep=lambda: must_keep(self.memory.context(), self._commitments, name),
            standing=lambda: self._commitments.lines,
            asleep=lambda: self._asleep,
            importance=self._weighing.of,
        )
        if settings.strategy.layout is Layout.SLIDING:
            return SlidingMemory(name, archive, outside)
        return CascadeMemory(name, archive, SummaryFolder(folder / "summaries", name), outside)

    def live(self) -> None:
        """From the first memory to the last."""
        for each in course(self._life, self._given.log).happenings:
            self._meet(each)
        self._begin_what_is_due()
        self._ledger.memories = self.memory.archive.last_number

    def result(self, cell: Cell) -> Replayed:
        """What it came to, and what is left of it at its end."""
        self._clock.time = self._life.steps[-1].time
        noticed, context = self._commitments, self.memory.context()
        wanted = [item.line for item in noticed.items]
        visible = (*noticed.lines, *context.lines)
        self.memory.close()
        kept = retention(self._life, visible, wanted, self._known_after(cell))
        config = self._settings.config
        failed = self._failures, self._put_back, self._last_failure
        return Replayed(cell, self._ledger, kept, config, *failed)

    def _known_after(self, cell: Cell) -> Sequence[Row]:
        """What it knows of what comes after its life."""
        if not self._given.probed:
            return ()
        return known_after(
            *(self._life, self._folder, self._settings, dict(cell.changes)),
            config=self._given.config,
            overhead=self._given.overhead,
            tokens=self._tokens,
            limit=self._given.recall.memories,
            summarizer=self._writer.summarizer,
        )

    def _meet(self, each: Happening) -> None:
        match each:
            case Memory():
                self._remember(each)
            case Prompted():
                self._pass_to(each.time)
                self._think(each)
            case Moment(what=Turn.THINKS):
                self._think(None)
            case Moment(what=Turn.AWAKE):
                self._asleep = False
            case Moment(what=Turn.CLEARED):
                self.memory.clear()
            case Moment() | AskedFor() | Counted():
                self._pass_to(each.time)
                self._begin_what_is_due()
                self._go_on(each)

    def _go_on(self, each: Moment | AskedFor | Counted) -> None:
        """What is told of that moment, once all that was due is made."""
        match each:
            case Moment(what=Turn.OPENED):
                self._open_anew()
            case Moment(what=Turn.DOZING):
                self._asleep = True
                self._compact(self.memory.next_turn())
            case AskedFor():
                self._compact(each.reason)
            case Counted():
                self._hear(each)

    def _pass_to(self, time: datetime) -> None:
        """Time passes; meanwhile the game looks now and then whether a compaction is due."""
        if time <= self._clock.time:
            return
        self._begin_what_is_due()
        if (time - self._since) // LOOKED_EACH > (self._clock.time - self._since) // LOOKED_EACH:
            self._compact(self.memory.next_turn())
        self._clock.time = time

    def _open_anew(self) -> None:
        self.memory.close()
        self._open()

    def _remember(self, step: Memory) -> None:
        self._pass_to(step.time)
        known = {name: getattr(step, name) for name in _OF_A_STEP}
        memory = self.memory.append(step.text, step.kind, **known)
        self._weighing.saw(memory)
        # It is made beside the game, so what happens in the same moment is there by then.
        self._due = self._due or self.memory.next_turn()

    def _begin_what_is_due(self) -> None:
        reason, self._due = self._due, None
        self._compact(reason)

    def _think(self, prompt: Prompted | None) -> None:
        """Think, with as much beside the memory as there was then."""
        self._asleep = False
        self._begin_what_is_due()
        self._compact(self.memory.before_thought())
        told = None if self._given.fixed else prompt
        self._beside = told.beside if told else self._given.overhead
        self._beside += self._marks.of(self.memory)
        self._before = thought(self.memory, self._beside, self._ledger, self._before)
        self.memory.weigh(self._beside + self._off)

    def _hear(self, counted: Counted) -> None:
        """What a server has counted corrects the estimate, as it did then."""
        if counted.teaches:
            self._tokens.correct(counted.ours, counted.tokens)
        if counted.own and not self._given.fixed:
            self._off = counted.off
            self.memory.weigh(self._beside + self._off)

    def _compact(self, reason: CompactReason | None) -> None:
        if reason is None:
            return
        try:
            result = compacted(self.memory, reason, self._ledger)
        except CompactionError as error:  # the life goes on, as it does in the game
            self._failures += 1
            self._last_failure = str(error)
            self._give_up()
            return
        if result.verdict is not None:
            self._put_back += len(result.verdict.put_back)

    def _give_up(self) -> None:
        """End a life whose model does not answer: each try costs a minute, and nothing is learnt.

        Raises:
            KeepsakeError: It has failed too often.
        """
        if self._writer.model and self._failures >= max(MOST_FAILURES, len(self._ledger.made) + 1):
            told = f"The model has failed {self._failures} compactions"
            cure = "See that its server answers, or leave --model out"
            raise KeepsakeError(f"{told}, the last: {self._last_failure}", cure)
