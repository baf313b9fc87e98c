"""What agents pass on to each other offstage: deeds that they saw, with a chain to who was there.

Only a deed that the world's own rules tell of is passed on (its ``event`` is ``deed`` and it has an
``importance``), and what another agent has told of one (``hearsay``). What somebody merely said is
not. Each mouth takes one from how much it matters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from keepsake.archive.privacy import is_private
from keepsake.archive.records import BY_RULE, HEARSAY, Memory, MemoryKind
from keepsake.language.heard import DEED, heard
from keepsake.language.perception import for_prompt, shorten

TOLD_FROM = 5
"""How much must be left of something for it to be told on."""
LASTS = timedelta(days=7)
"""How long something is news to who tells it."""
OLD_DAYS = 4
"""Days in which what was seen of an ordinary day is nothing to remember again."""
MOST = 64
"""Things that an agent has to tell; the oldest goes."""
LONGEST = 160
WAYS = frozenset({"traverse", "move"})
"""The ``event`` of somebody who comes or goes."""


@dataclass(frozen=True, slots=True)
class Rumour:
    """A deed that an agent knows of and may tell on."""

    origin: str  # whose memory it began with, and its number: ``Nell 17``
    text: str  # what it tells: ``Tom puts the bell rope back.``
    about: str  # whom it tells of, as in :attr:`~keepsake.archive.records.Memory.source_id`
    importance: int  # what is left of it, 1 to 10
    number: int  # the agent's own memory of it
    time: datetime  # when that was
    # the memories it came by, the first that of who was there; empty for its own
    chain: tuple[str, ...] = ()

    @property
    def tellers(self) -> tuple[str, ...]:
        """Who told it to whom, the one who was there first; empty for an own memory."""
        return tuple(link.rpartition(" ")[0] for link in self.chain)

    @property
    def words(self) -> str:
        """As its owner says it, which tells whose word it is."""
        if not self.chain:
            return f"I saw it myself: {self.text}"
        if len(self.chain) == 1:
            return f"{self.tellers[-1]} tells me: {self.text}"
        return f"They say, and I have it from {self.tellers[-1]}: {self.text}"

    def told_to(self, own_name: str) -> dict[str, object]:
        """What goes along when its owner tells it: what is left of it, and the chain."""
        chain = "; ".join((*self.chain, f"{own_name} {self.number}"))
        return {"importance": self.importance - 1, "chain": chain, "about": self.about}


class Hearsay:
    """What one agent may tell on, and to whom; quick.

    Attributes:
        read: Whether what was experienced before is in it; until then nothing is taken in.
        seen: When each line of an ordinary day was seen last, or done, and who did one.
        met: When it last met somebody by rule, by who that is.
        went: When it last went somewhere by its own will.
    """

    def __init__(self, own_name: str) -> None:
        self._own_name = own_name
        self.read = False
        self.seen: dict[str, date] = {}
        self.met: dict[str, datetime] = {}
        self.went = datetime.min.replace(tzinfo=UTC)
        self._known: dict[str, Rumour] = {}
        self._told: set[tuple[str, str]] = set()
        self._through = 0

    def begin_with(self, before: Iterable[Memory]) -> None:
        """Take in what was experienced before, oldest first."""
        self.read = True
        for memory in before:
            self.saw(memory)

    def saw(self, memory: Memory) -> None:
        """Take in a new memory."""
        if not self.read or memory.number <= self._through or is_private(memory):
            return
        self._through = memory.number
        if memory.event in BY_RULE or memory.event in WAYS:
            self._passed(memory)
        if memory.kind is MemoryKind.ACT:
            self._did(memory)
        elif memory.kind is MemoryKind.PERCEPTION and memory.event == HEARSAY:
            self._heard(memory)
        elif memory.event == DEED and memory.source_id and memory.importance >= TOLD_FROM:
            origin = f"{self._own_name} {memory.number}"
            text = shorten(for_prompt(memory.text), LONGEST)
            lived = memory.number, memory.time
            self._keep(Rumour(origin, text, memory.source_id, memory.importance, *lived))

    def _passed(self, memory: Memory) -> None:
        self.seen[memory.text] = self.seen[memory.source_id] = memory.time.astimezone().date()
        own = memory.kind is MemoryKind.ACT
        if own and memory.to_id:
            self.met[memory.to_id] = memory.time
        elif memory.event == HEARSAY:
            self.met[memory.source_id] = memory.time

    def _did(self, memory: Memory) -> None:
        if memory.text.startswith("go "):
            self.went = memory.time
        if memory.event == HEARSAY:
            self._told.add((_origin(memory.chain), memory.to_id))

    def _heard(self, memory: Memory) -> None:
        said, origin = heard(memory), _origin(memory.chain)
        self._told.add((origin, memory.source_id))  # who tells it need not be told
        if said is None or origin in self._known or origin.startswith(f"{self._own_name} "):
            return
        text, chain = said.words.partition(": ")[2], tuple(memory.chain.split("; "))
        lived = memory.number, memory.time
        self._keep(Rumour(origin, text, memory.to_id, memory.importance, *lived, chain))

    def _keep(self, rumour: Rumour) -> None:
        self._known[rumour.origin] = rumour
        while len(self._known) > MOST:
            del self._known[min(self._known, key=lambda each: self._known[each].time)]

    def is_old(self, line: str, now: datetime, days: int = OLD_DAYS) -> bool:
        """Whether a line of an ordinary day was seen so few days ago that it says nothing new."""
        seen = self.seen.get(line)
        return seen is not None and (now.astimezone().date() - seen).days < days

    def for_(self, who: str, name: str, now: datetime, other: Hearsay) -> Rumour | None:
        """What it tells somebody now, the weightiest first; None for nothing new.

        Args:
            who: Who that is, as in :attr:`~keepsake.archive.records.Memory.source_id`.
            name: Their name; who has told it, or whom it tells of, need not be told.
            now: The time.
            other: What they know already.
        """
        theirs = {each.text for each in other._known.values()}
        news = [
            each
            for each in self._known.values()
            if each.importance >= TOLD_FROM
            and now - each.time < LASTS
            and (each.origin, who) not in self._told
            and name not in each.tellers
            and each.about != who
            and each.origin not in other._known
            and each.text not in theirs
        ]
        return max(news, key=lambda each: (each.importance, each.number), default=None)


def _origin(chain: str) -> str:
    return chain.partition("; ")[0]
