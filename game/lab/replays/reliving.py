"""Lives through a life: each of its happenings, in the memory of the game.

The memory is asked what the game asks it, at the times at which the game does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from game.lab.replays.accounting import WindowMarks, compacted, thought
from game.lab.replays.cells import CellSettings
from game.lab.replays.course import Cleared, Happening, Thinks, course
from game.lab.replays.event_history import (
    ASSUMED,
    AskedFor,
    Awake,
    Counted,
    Dozing,
    Ended,
    Log,
    Opened,
    Prompted,
)
from game.lab.replays.ledger import CostLedger
from game.lab.replays.lived import ArchivedLife
from game.lab.replays.weighing import Weighing
from game.lab.replays.writers import SummaryAuthor
from game.mind.agent_memory import AgentMemory
from game.mind.archive.log import Archive
from game.mind.archive.records import Memory
from game.mind.books.commitments import Commitments
from game.mind.compaction import carried_over
from game.mind.compaction.cascade import CascadeMemory
from game.mind.compaction.dependencies import Dependencies
from game.mind.compaction.sliding import SlidingMemory
from game.mind.errors import CompactionError, KeepsakeError
from game.mind.memory import CompactReason
from game.mind.prompt.tokens import Heuristic
from game.mind.recall.config import RecallConfig
from game.mind.summaries.files import SummaryFolder
from game.mind.summaries.strategy import Layout

MOST_FAILURES = 5
"""Compactions that a model may fail, if they are more than those that it made."""
LOOKED_EACH = timedelta(seconds=2.0)
"""How often the game looks after its memories though nothing has happened to them."""


class LifeClock:
    """Stands at what is lived through.

    Args:
        time: The beginning.
    """

    def __init__(self, time: datetime) -> None:
        self.time = time

    def now(self) -> datetime:
        """The time of the present memory."""
        return self.time


@dataclass(frozen=True, slots=True)
class LifeSetup:
    """What is the same for every configuration.

    Attributes:
        overhead: Tokens of a prompt that are neither summaries nor window, where the log does
            not tell.
        fixed: Whether they are so many in every prompt, whatever the log tells.
        log: What the event log tells of the life.
        recall: How much recall may say.
        scratch: Where temporary folders are made; None for the system's place.
    """

    overhead: int = ASSUMED
    fixed: bool = False
    log: Log = field(default_factory=Log)
    recall: RecallConfig = field(default_factory=RecallConfig)
    scratch: Path | None = None


class Living:
    """A life that is being lived once more.

    Attributes:
        memory: Its memory.
        ledger: What it costs.
        noticed: Rules, promises and questions.
        failures: Compactions that changed nothing.
        put_back: Rules and promises that summaries had lost and that were put back.
        last_failure: What the last of those failures said.

    Args:
        folder: Where its archive and its files go; empty.
        settings: The configuration.
        life: What is lived through.
        writer: Who writes the summaries.
        given: What is the same for every configuration.
    """

    def __init__(
        self,
        folder: Path,
        settings: CellSettings,
        life: ArchivedLife,
        writer: SummaryAuthor,
        given: LifeSetup,
    ) -> None:
        self.life, self.ledger = life, CostLedger()
        self.clock = LifeClock(life.steps[0].time)
        self.failures = self.put_back = 0
        self.last_failure = ""
        self._folder, self.settings, self._writer, self._given = folder, settings, writer, given
        self._since = self.clock.time
        self._asleep = False
        self._due: CompactReason | None = None
        self._beside = self._off = 0
        self._before: list[str] = []
        self._weighing = Weighing(life.name, life.weights, self.clock)
        self.noticed = Commitments(folder / "noticed.md")
        self._tokens = Heuristic()
        self._marks = WindowMarks(life.name, self._tokens)
        self.memory = self._opened()

    def _opened(self) -> AgentMemory:
        """The memory that the configuration names, as the game makes it."""
        settings, folder, writer = self.settings, self._folder, self._writer
        archive, config, name = Archive(folder / "archive"), settings.config, self.life.name
        outside = Dependencies(
            config=lambda: config,
            summarizer=lambda: writer.summarizer,
            clock=self.clock,
            tokens=self._tokens,
            strategy=lambda: settings.strategy,
            must_keep=self._must_keep,
            standing=lambda: self.noticed.lines,
            asleep=lambda: self._asleep,
            priced=lambda: writer.priced,
            importance=self._weighing.of,
        )
        if settings.strategy.layout is Layout.SLIDING:
            return SlidingMemory(name, archive, outside)
        return CascadeMemory(name, archive, SummaryFolder(folder / "summaries", name), outside)

    def _must_keep(self) -> Sequence[str]:
        """What no compaction may lose; as in the game, but for pins, whose times nobody knows."""
        refused = [item.line for item in self.noticed.refused]
        carried = carried_over.carried_over(self.memory.context(), refused, self.life.name)
        return tuple(dict.fromkeys((*self.noticed.lines, *carried)))

    def live(self) -> None:
        """From the first memory to the last."""
        for each in course(self.life, self._given.log).happenings:
            self._meet(each)
        self._begin_what_is_due()
        self.ledger.memories = self.memory.archive.last_number
        self.ledger.close()

    def _meet(self, each: Happening) -> None:
        match each:
            case Memory():
                self._remember(each)
            case Prompted():
                self._pass_to(each.time)
                self._think(each)
            case Thinks():
                self._think(None)
            case Awake():
                self._asleep = False
            case Cleared():
                self.memory.clear()
            case _:
                self._pass_to(each.time)
                self._begin_what_is_due()
                self._go_on(each)

    def _go_on(self, each: Opened | Dozing | AskedFor | Counted | Ended) -> None:
        """What is told of that moment, once all that was due is made."""
        match each:
            case Opened():
                self._open_anew()
            case Dozing():
                self._asleep = True
                self._compact(self.memory.next_turn())
            case AskedFor():
                self._compact(each.reason)
            case Counted():
                self._hear(each)
            case Ended():
                pass

    def _pass_to(self, time: datetime) -> None:
        """Time passes; meanwhile the game looks now and then whether a compaction is due."""
        if time <= self.clock.time:
            return
        self._begin_what_is_due()
        if (time - self._since) // LOOKED_EACH > (self.clock.time - self._since) // LOOKED_EACH:
            self._compact(self.memory.next_turn())
        self.clock.time = time

    def _open_anew(self) -> None:
        """What a mind has in RAM alone is lost with a restart, in every configuration."""
        self.memory.close()
        self._weighing.opened()
        self._tokens = Heuristic()
        self._marks = WindowMarks(self.life.name, self._tokens)
        self.noticed = Commitments(self._folder / "noticed.md")
        self.memory, self._beside, self._off = self._opened(), 0, 0
        self._since = self.clock.time
        self.noticed.catch_up(self.memory.context().window, self.life.name)

    def _remember(self, step: Memory) -> None:
        self._pass_to(step.time)
        memory = self.memory.append(
            step.text,
            step.kind,
            place=step.place,
            source=step.source,
            reason=step.reason,
            source_id=step.source_id,
            event=step.event,
            to=step.to,
            time=step.time,
        )
        if self.noticed.follow(memory, self.life.name):
            self.noticed.save()
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
        self._before = thought(self.memory, self._beside, self.ledger, self._before)
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
            result = compacted(self.memory, reason, self.ledger)
        except CompactionError as error:  # the life goes on, as it does in the game
            self.failures += 1
            self.last_failure = str(error)
            self._give_up()
            return
        if result.verdict is not None:
            self.put_back += len(result.verdict.put_back)

    def _give_up(self) -> None:
        """End a life whose model does not answer: each try costs a minute, and nothing is learnt.

        Raises:
            KeepsakeError: It has failed too often.
        """
        if self._writer.model and self.failures >= max(MOST_FAILURES, len(self.ledger.made) + 1):
            raise KeepsakeError(
                f"The model has failed {self.failures} compactions, the last: {self.last_failure}",
                "See that its server answers, or leave --model out",
            )
