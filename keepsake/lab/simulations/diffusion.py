"""How an item spreads: who knows it, by which path of happenings, and who claims it without one.

An agent knows an item if it was given it, or if it heard it said by somebody who knew it. What was
said and what was heard are joined by the id of the happening. What the speaker knew is found in its
own archive: the memories on which the words rest (``rests_on``, or the ``chain`` of hearsay), or
else the memories that its prompt showed, which the event log has. Words alone never make a path.
They decide two other things: whether what was said is the item, or only rests on it; and whether an
item is said without a path, which is *invented*.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from keepsake.archive.records import Memory
from keepsake.lab.simulations.items import Item
from keepsake.lab.simulations.record import SimulationRecord, text_of


class Step(StrEnum):
    """One step of a path."""

    GIVEN = "was given it"
    SAID = "said it"
    HEARD = "heard it"


class Link(StrEnum):
    """Why words are taken to rest on an earlier memory, the surest first."""

    RESTS_ON = "rests on"
    RECALLED = "recalled in its prompt"
    WINDOW = "in its prompt"
    SUMMARY = "in a summary in its prompt"
    EARLIER = "heard before; its prompt is not in the log"


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step of a path: a memory of one agent.

    Attributes:
        rests_on: For words: the number of the speaker's memory on which they rest; else 0.
        link: For words: how that is known.
    """

    agent: str
    memory: int
    time: datetime
    step: Step
    happening: str
    text: str
    rests_on: int = 0
    link: Link | None = None

    @property
    def line(self) -> str:
        """The step in words: ``Bram 41 said it (rests on 3)``."""
        link = f" ({self.link} {self.rests_on})" if self.link else ""
        return f"{self.agent} {self.memory} {self.step}{link}"


type Path = tuple[PathStep, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """An item that is said, or passed on, without what would make it knowledge."""

    agent: str
    memory: int  # 0 for an answer of the interview
    time: datetime | None
    text: str


@dataclass(frozen=True)
class Spread:
    """How one item has spread.

    Attributes:
        paths: By agent: the path by which it first knew the item. It ends at that agent.
        invented: What agents said without having heard it, in the game and in the interview.
        misled: Agents who heard the item only as somebody's invention.
        untraced: What agents heard from people whose memory is not archived, such as players.
        wordless: What was said resting on the item, but in none of its ways of saying.
        says: By agent: whether it says the item when it is asked at the end; without those who were
            not asked.
        given: Whether the item was given to anybody: else nothing is known.
    """

    item: Item
    paths: Mapping[str, Path]
    invented: Sequence[Claim] = ()
    misled: frozenset[str] = frozenset()
    untraced: Sequence[Claim] = ()
    wordless: Sequence[Claim] = ()
    says: Mapping[str, bool] = field(default_factory=dict)

    @property
    def given(self) -> bool:
        """Whether somebody got the item."""
        return bool(self.paths)

    def knows_by(self, time: datetime) -> frozenset[str]:
        """Return the agents who knew the item at a time."""
        return frozenset(name for name, path in self.paths.items() if path[-1].time <= time)


def spread_of(item: Item, record: SimulationRecord) -> Spread:
    """Return how an item has spread in a simulation."""
    tracer = _Tracer(item, record)
    tracer.run()
    says = dict[str, bool]()
    invented = tracer.invented
    for answer in record.answers:
        name = text_of(answer, "agent")
        said = item.is_said_in(text_of(answer, "words"))
        if text_of(answer, "item") == item.id and not text_of(answer, "problem"):
            says[name] = said
        if said and name not in tracer.paths and name in record.cast:
            question = text_of(answer, "question")
            invented.append(Claim(name, 0, None, f"{question} – {text_of(answer, 'words')}"))
    return Spread(
        item=item,
        paths=tracer.paths,
        invented=tuple(invented),
        misled=frozenset(tracer.misled - tracer.paths.keys()),
        untraced=tuple(tracer.untraced),
        wordless=tuple(tracer.wordless),
        says=says,
    )


class _Tracer:
    """Follows an item through all archives.

    Each archive is read in its order. What an agent heard is read after the words of its speaker.
    Times do not decide the order: in a simulation many things happen at one moment.
    """

    def __init__(self, item: Item, record: SimulationRecord) -> None:
        self.paths: dict[str, Path] = {}
        self.invented: list[Claim] = []
        self.misled: set[str] = set()
        self.untraced: list[Claim] = []
        self.wordless: list[Claim] = []
        self._item = item
        self._record = record
        # by agent and number of a memory: the path to it
        self._known: dict[str, dict[int, Path]] = defaultdict(dict)
        # by happening: the path to what was said; None if it was invented
        self._said: dict[str, Path | None] = {}
        # by happening: which agent says it, and its place in that agent's archive
        self._speakers = {
            memory.happening: (name, place)
            for name, memories in record.memories.items()
            for place, memory in enumerate(memories)
            if memory.happening and memory.said is not None
        }
        self._position = dict.fromkeys(record.names, 0)

    # -- the order

    def run(self) -> None:
        """Read all archives to their ends."""
        names = self._record.names
        while any(map(self._left, names)):
            moved = [self._read_on(name) for name in names]
            if not any(moved):  # two archives wait for each other: one was edited by hand
                waiting = filter(self._left, names)
                self._take(min(waiting, key=lambda name: self._next(name).time))

    def _left(self, name: str) -> bool:
        return self._position[name] < len(self._record.memories[name])

    def _next(self, name: str) -> Memory:
        return self._record.memories[name][self._position[name]]

    def _read_on(self, name: str) -> bool:
        """Read an archive up to what has to wait for its speaker; return whether any was read."""
        before = self._position[name]
        while self._left(name) and not self._waits(name, self._next(name)):
            self._take(name)
        return self._position[name] > before

    def _waits(self, name: str, memory: Memory) -> bool:
        """Whether a memory is of words that were not read yet in their speaker's archive."""
        speaker, place = self._speakers.get(memory.happening, ("", 0))
        return speaker not in ("", name) and self._position[speaker] <= place

    def _take(self, name: str) -> None:
        memory = self._next(name)
        self._position[name] += 1
        if memory.happening == self._item.happening:
            self._know(name, memory, (), _step(name, memory, Step.GIVEN))
        elif memory.own_words is not None:
            self._say(name, memory)
        elif not memory.is_own:
            self._hear(name, memory)

    # -- what a memory means for the item

    def _know(self, name: str, memory: Memory, before: Path, last: PathStep) -> None:
        path = (*before, last)
        self._known[name][memory.number] = path
        self.paths.setdefault(name, path)

    def _say(self, name: str, memory: Memory) -> None:
        """Find on what the words of an agent rest, if they say the item."""
        known = self._known[name]
        surely = known.keys() & _rested_on(name, memory)
        if not self._item.is_said_in(memory.words):
            if surely:
                self.wordless.append(_claim(name, memory))
            return
        if not known:
            self.invented.append(_claim(name, memory))
            self._said[memory.happening] = None
            return
        number, link = self._basis(name, memory, surely)
        step = _step(name, memory, Step.SAID, number, link)
        self._said[memory.happening] = (*known[number], step)

    def _basis(self, name: str, memory: Memory, surely: set[int]) -> tuple[int, Link]:
        """Return the memory of the item on which words rest, and how that is known.

        Of several, it is that with the shortest path.
        """
        known = self._known[name]
        basis = self._record.bases.get(name, {}).get(memory.number)
        groups = {Link.RESTS_ON: surely}
        if basis is not None:
            window = range(basis.before + 1, basis.last + 1)
            groups[Link.RECALLED] = known.keys() & basis.recalled
            groups[Link.WINDOW] = {number for number in known if number in window}
            groups[Link.SUMMARY] = {number for number in known if number <= basis.summarised}
        groups[Link.EARLIER] = set(known)
        link, numbers = next((link, numbers) for link, numbers in groups.items() if numbers)
        return min(numbers, key=lambda number: (len(known[number]), number)), link

    def _hear(self, name: str, memory: Memory) -> None:
        """Let an agent know the item if it heard it from somebody who knew it."""
        heard = memory.heard
        # A game may show an agent the speech of another as text alone.
        text = heard.words if heard is not None else memory.text
        speaker, _ = self._speakers.get(memory.happening, ("", 0))
        if speaker == name:
            return  # the result of its own words
        linked = bool(speaker)
        if not (linked or heard is not None) or not self._item.is_said_in(text):
            return
        if not linked:
            self.untraced.append(_claim(name, memory))
            return
        before = self._said.get(memory.happening)
        if before is not None:
            self._know(name, memory, before, _step(name, memory, Step.HEARD))
        else:
            self.misled.add(name)


def _rested_on(name: str, memory: Memory) -> set[int]:
    """Return the numbers of the speaker's own memories on which its words rest.

    Hearsay has a chain of sources: ``Nell 17; Joss 41``, the speaker's own last.
    """
    numbers = set(memory.rests_on)
    teller, _, number = memory.chain.rpartition("; ")[2].rpartition(" ")
    if teller == name and number.isdecimal():
        numbers.add(int(number))
    return numbers


def _step(
    name: str, memory: Memory, step: Step, rests_on: int = 0, link: Link | None = None
) -> PathStep:
    return PathStep(
        agent=name,
        memory=memory.number,
        time=memory.time,
        step=step,
        happening=memory.happening,
        text=memory.words or memory.text,
        rests_on=rests_on,
        link=link,
    )


def _claim(name: str, memory: Memory) -> Claim:
    who = f"{memory.source}: " if memory.source else ""
    return Claim(name, memory.number, memory.time, f"{who}{memory.words or memory.text}")
