"""How words go from one agent to another, read from their archives.

An agent knows an item if it was given it, or if it heard it said by somebody who knew it. What was
said and what was heard are joined by the id of the happening. What the speaker knew is found in its
own archive: the memories on which the words rest (``rests_on``, or the ``chain`` of hearsay), or
else the memories that its prompt showed. Words alone never make a path. They only decide whether
what was said is the item.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Self

from keepsake.archive.records import Memory
from keepsake.events.values import RecalledKind
from keepsake.json_lines import Record


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
        agent: The key of the agent.
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
class PromptBasis:
    """What the prompt of a thought showed of the agent's memory.

    Attributes:
        summarised: The last memory in the summaries; 0 if there were none.
        before: The last memory before the window.
        last: The last memory of the window.
        recalled: The numbers of recalled memories.
    """

    summarised: int
    before: int
    last: int
    recalled: frozenset[int] = frozenset()

    @classmethod
    def of(cls, thought: Record) -> Self:
        """Return the basis of a thought, from its event."""
        before = int(thought.get("recent", 0))
        # Without a memory the window is cut, and no compaction's summary is in the prompt.
        summarised = before if thought.get("compaction") or thought.get("longterm") else 0
        hits = thought.get("recalled", ())
        recalled = frozenset(
            int(each["n"]) for each in hits if each.get("kind") == RecalledKind.MEMORY
        )
        return cls(summarised, before, int(thought.get("total", 0)), recalled)


@dataclass(frozen=True)
class Witness:
    """The archive of one agent, or the part of it that bears on an item.

    Attributes:
        name: The agent's name, by which chains of hearsay name it.
        memories: Its memories, in order.
        bases: By number of an own act: what its prompt showed.
    """

    name: str
    memories: Sequence[Memory]
    bases: Mapping[int, PromptBasis] = field(default_factory=dict)


type Told = tuple[str, Memory]
"""The key of an agent, and one of its memories."""


class Tracer:
    """Follows an item through several archives.

    Each archive is read in its order. What an agent heard is read after the words of its speaker.
    Times do not decide the order: in a simulation many things happen at one moment.

    Args:
        witnesses: The archives, by key of the agent.
        is_said_in: Whether words say the item.
        is_given: Whether an agent knows the item by this memory, whatever it knew before.
        may_begin: Whether what an agent says without having heard it is the beginning of a path. If
            not, it is invented.

    Attributes:
        paths: By agent: the path by which it first knew the item. It ends at that agent.
        known: By agent and number of a memory: the path to it.
        invented: What agents said without having heard it.
        misled: Agents who heard the item as somebody's invention.
        untraced: What agents heard from people whose memory is not archived, such as players.
        wordless: What was said resting on the item, but without saying it.
        steps: By happening: the words of an agent that say the item, as a step of a path.
    """

    def __init__(
        self,
        witnesses: Mapping[str, Witness],
        is_said_in: Callable[[str], bool],
        is_given: Callable[[str, Memory], bool],
        *,
        may_begin: bool = False,
    ) -> None:
        self.paths: dict[str, Path] = {}
        self.known: dict[str, dict[int, Path]] = defaultdict(dict)
        self.invented: list[Told] = []
        self.misled: set[str] = set()
        self.untraced: list[Told] = []
        self.wordless: list[Told] = []
        self.steps: dict[str, PathStep] = {}
        self._witnesses = witnesses
        self._is_said_in = is_said_in
        self._is_given = is_given
        self._may_begin = may_begin
        # by happening: the path to what was said; None if it was invented
        self._said: dict[str, Path | None] = {}
        # by happening: which agent says it, and its place in that agent's archive
        self._speakers = {
            memory.happening: (key, place)
            for key, witness in witnesses.items()
            for place, memory in enumerate(witness.memories)
            if memory.happening and memory.said is not None
        }
        self._position = dict.fromkeys(witnesses, 0)

    # -- the order

    def run(self) -> None:
        """Read all archives to their ends."""
        keys = list(self._witnesses)
        while any(map(self._left, keys)):
            moved = [self._read_on(key) for key in keys]
            if not any(moved):  # two archives wait for each other: one was edited by hand
                waiting = filter(self._left, keys)
                self._take(min(waiting, key=lambda key: self._next(key).time))

    def _left(self, key: str) -> bool:
        return self._position[key] < len(self._witnesses[key].memories)

    def _next(self, key: str) -> Memory:
        return self._witnesses[key].memories[self._position[key]]

    def _read_on(self, key: str) -> bool:
        """Read an archive up to what has to wait for its speaker; return whether any was read."""
        before = self._position[key]
        while self._left(key) and not self._waits(key, self._next(key)):
            self._take(key)
        return self._position[key] > before

    def _waits(self, key: str, memory: Memory) -> bool:
        """Whether a memory is of words that were not read yet in their speaker's archive."""
        speaker, place = self._speakers.get(memory.happening, ("", 0))
        return speaker not in ("", key) and self._position[speaker] <= place

    def _take(self, key: str) -> None:
        memory = self._next(key)
        self._position[key] += 1
        if self._is_given(key, memory):
            self._know(key, memory, (), step_of(key, memory, Step.GIVEN))
        elif memory.own_words is not None:
            self._say(key, memory)
        elif not memory.is_own:
            self._hear(key, memory)

    # -- what a memory means for the item

    def speaker_of(self, memory: Memory) -> str:
        """Return the key of the agent whose archive has these words as its own; empty for none."""
        return self._speakers.get(memory.happening, ("", 0))[0]

    def _know(self, key: str, memory: Memory, before: Path, last: PathStep) -> None:
        path = (*before, last)
        self.known[key][memory.number] = path
        self.paths.setdefault(key, path)

    def _say(self, key: str, memory: Memory) -> None:
        """Find on what the words of an agent rest, if they say the item."""
        known = self.known[key]
        surely = known.keys() & _rested_on(self._witnesses[key].name, memory)
        if not self._is_said_in(memory.words):
            if surely:
                self.wordless.append((key, memory))
            return
        if not known:
            self.invented.append((key, memory))
            self._said[memory.happening] = None
            if self._may_begin:
                begun = step_of(key, memory, Step.SAID)
                self.steps[memory.happening] = begun
                self._know(key, memory, (), begun)
                self._said[memory.happening] = (begun,)
            return
        number, link = self._basis(key, memory, surely)
        step = step_of(key, memory, Step.SAID, number, link)
        self.steps[memory.happening] = step
        self._said[memory.happening] = (*known[number], step)

    def _basis(self, key: str, memory: Memory, surely: set[int]) -> tuple[int, Link]:
        """Return the memory of the item on which words rest, and how that is known.

        If there are several, it is the one with the shortest path.
        """
        known = self.known[key]
        basis = self._witnesses[key].bases.get(memory.number)
        groups = {Link.RESTS_ON: surely}
        if basis is not None:
            window = range(basis.before + 1, basis.last + 1)
            groups[Link.RECALLED] = known.keys() & basis.recalled
            groups[Link.WINDOW] = {number for number in known if number in window}
            groups[Link.SUMMARY] = {number for number in known if number <= basis.summarised}
        groups[Link.EARLIER] = set(known)
        link, numbers = next((link, numbers) for link, numbers in groups.items() if numbers)
        return min(numbers, key=lambda number: (len(known[number]), number)), link

    def _hear(self, key: str, memory: Memory) -> None:
        """Let an agent know the item if it heard it from somebody who knew it."""
        heard = memory.heard
        # A game may show an agent the speech of another as text alone.
        text = heard.words if heard is not None else memory.text
        speaker = self.speaker_of(memory)
        if speaker == key:
            return  # the result of its own words
        linked = bool(speaker)
        if not (linked or heard is not None) or not self._is_said_in(text):
            return
        if not linked:
            self.untraced.append((key, memory))
            return
        before = self._said.get(memory.happening)
        if before is not None:
            self._know(key, memory, before, step_of(key, memory, Step.HEARD))
        else:
            self.misled.add(key)


def _rested_on(name: str, memory: Memory) -> set[int]:
    """Return the numbers of the speaker's own memories on which its words rest.

    Hearsay has a chain of sources: ``Nell 17; Joss 41``, the speaker's own last.
    """
    numbers = set(memory.rests_on)
    teller, _, number = memory.chain.rpartition("; ")[2].rpartition(" ")
    if teller == name and number.isdecimal():
        numbers.add(int(number))
    return numbers


def step_of(
    key: str, memory: Memory, step: Step, rests_on: int = 0, link: Link | None = None
) -> PathStep:
    """Return a memory as a step of a path."""
    return PathStep(
        agent=key,
        memory=memory.number,
        time=memory.time,
        step=step,
        happening=memory.happening,
        text=memory.words or memory.text,
        rests_on=rests_on,
        link=link,
    )
