"""How words go from one agent to another, read from their archives.

An agent knows an item if it was given it, or if it heard it said by somebody who knew it. What was
said and what was heard are joined by the id of the happening. What the speaker knew is found in its
own archive: the memories on which the words rest (``rests_on``, or the ``chain`` of hearsay), or
else the memories that its prompt showed. Words alone never make a path. They only decide whether
what was said is the item: an item is some words, or a sentence that somebody said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import chain

from keepsake.archive.records import Memory
from keepsake.happening import PersonId
from keepsake.tracing.bases import Link, PromptBasis, claims, passed_on, rested_on
from keepsake.tracing.content import told_in
from keepsake.tracing.items import Traceable


class Step(StrEnum):
    """One step of a path."""

    GIVEN = "was given it"
    SAID = "said it"
    HEARD = "heard it"


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
        item: What is followed.

    Attributes:
        paths: By agent: the path by which it first knew the item. It ends at that agent.
        known: By agent and number of a memory: the path to it.
        invented: What agents said without having heard it.
        misled: Agents who heard the item as somebody's invention.
        untraced: What agents heard from people whose memory is not archived, such as players.
        wordless: What was said resting on the item, but without saying it.
        steps: By agent and number: its words that say the item, as a step of a path.
    """

    def __init__(
        self,
        witnesses: Mapping[str, Witness],
        item: Traceable,
    ) -> None:
        self.paths: dict[str, Path] = {}
        self.known: dict[str, dict[int, Path]] = defaultdict(dict)
        self.invented: list[Told] = []
        self.misled: set[str] = set()
        self.untraced: list[Told] = []
        self.wordless: list[Told] = []
        self.steps: dict[tuple[str, int], PathStep] = {}
        self._witnesses = witnesses
        self._item = item
        self._memories: dict[str, dict[int, Memory]] = defaultdict(dict)
        # By agent and number: its own words that say the item, with the path to them.
        self._told: dict[str, dict[int, Path]] = defaultdict(dict)
        # By agent and number: questions about the item, which tell nothing of it.
        self._asked: dict[str, set[int]] = defaultdict(set)
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
        # By identity of somebody without an archive: where in an archive agents speak to them.
        self._told_outsiders: dict[PersonId, list[tuple[str, int]]] = defaultdict(list)
        if item.is_sentence:
            for key, witness in witnesses.items():
                for place, memory in enumerate(witness.memories):
                    if memory.own_words is not None and memory.to_id:
                        self._told_outsiders[memory.to_id].append((key, place))

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
        if speaker:
            return speaker != key and self._position[speaker] <= place
        return any(self._position[other] <= place for other, place in self._before(memory))

    def _before(self, memory: Memory) -> Iterator[tuple[str, int]]:
        """Yield where agents spoke earlier to who says this, of those without an archive."""
        if memory.heard is not None:
            for key, place in self._told_outsiders.get(memory.source_id, ()):
                if self._witnesses[key].memories[place].time < memory.time:
                    yield key, place

    def _take(self, key: str) -> None:
        memory = self._next(key)
        self._position[key] += 1
        if self._item.is_given(key, memory):
            self._be_given(key, memory)
        elif self._item.is_asked_in(memory):
            self._asked[key].add(memory.number)
            self._memories[key][memory.number] = memory
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
        self._memories[key][memory.number] = memory
        self.paths.setdefault(key, path)

    def _be_given(self, key: str, memory: Memory) -> None:
        """Let an agent know the item from somebody without an archive, or from nobody."""
        told = (self._witnesses[other].memories[place] for other, place in self._before(memory))
        paths = (self._said.get(each.happening) for each in told)
        before = next((path for path in paths if path), None)
        if before is not None:
            self._know(key, memory, before, step_of(key, memory, Step.HEARD))
        elif self._item.is_sentence and key in self.paths:
            # It knows it already, and has it from where it had it first.
            self.known[key][memory.number] = self.paths[key]
            self._memories[key][memory.number] = memory
        else:
            self._know(key, memory, (), step_of(key, memory, Step.GIVEN))

    def _say(self, key: str, memory: Memory) -> None:
        """Find on what the words of an agent rest, if they say the item."""
        known = self.known[key]
        if self._item.is_sentence and key in self.paths:
            asked = dict.fromkeys(self._asked[key], self.paths[key])
            known = asked | self._told[key] | known
        witness = self._witnesses[key]
        if not known and self._item.is_said_in(memory):
            self._begin(key, memory)
            return
        basis = witness.bases.get(memory.number)
        window = basis.last - basis.before if basis is not None else 0
        found_of = {number: self._memories[key][number] for number in known}
        unread = claims(witness.name, memory, found_of, basis)
        again = self._told[key].keys() | self._asked[key]
        ways = []
        for way in unread:
            ways.append(way)
            found = passed_on(self._item.is_passed_on, memory, self._memories[key], way, window)
            if way.link is not Link.RESTS_ON:
                # What it said itself, or was asked, is no other source than what it knew before.
                found = [number for number in found if number not in again]
            told = [number for number in found if number not in self._asked[key]]
            if told:
                self._tell(key, memory, known, self._likeliest(key, told, way.link), way.link)
                return
            if found:  # it answers a question by what it knew before
                number = self.paths[key][-1].memory
                link = next(each.link for each in chain(ways, unread) if number in each.numbers)
                self._tell(key, memory, known, number, link)
                return
        if known.keys() & rested_on(witness.name, memory):
            self.wordless.append((key, memory))

    def _likeliest(self, key: str, told: Sequence[int], link: Link) -> int:
        """Return the memory from which words come, of several from which they may come.

        If they rest on several, it is the one with the shortest path. Else it is what tells
        something and was said to the agent; of several, the newest.
        """
        known = {**self._told[key], **self.known[key]}
        if link is Link.RESTS_ON:
            return min(told, key=lambda number: (len(known[number]), number))

        def likely(number: int) -> tuple[bool, bool, int]:
            memory = self._memories[key][number]
            heard = memory.heard
            to_it = heard is not None and heard.is_to_me_or_all
            return bool(told_in(memory.words or memory.text)), to_it, number

        return max(told, key=likely)

    def _tell(
        self, key: str, memory: Memory, known: Mapping[int, Path], number: int, link: Link
    ) -> None:
        """Note that words say the item because of one of the speaker's memories."""
        step = step_of(key, memory, Step.SAID, number, link)
        self.steps[key, memory.number] = step
        # It may rest on its own words later, but has it from where these have it.
        self._told[key][memory.number] = known[number]
        self._memories[key][memory.number] = memory
        self._said[memory.happening] = (*known[number], step)

    def _begin(self, key: str, memory: Memory) -> None:
        """Let an agent say the item though it was not told: as a beginning, or as an invention."""
        self.invented.append((key, memory))
        self._said[memory.happening] = None
        if self._item.begins_with(memory):
            begun = step_of(key, memory, Step.SAID)
            self.steps[key, memory.number] = begun
            self._know(key, memory, (), begun)
            self._said[memory.happening] = (begun,)

    def _hear(self, key: str, memory: Memory) -> None:
        """Let an agent know the item if it heard it from somebody who knew it."""
        speaker = self.speaker_of(memory)
        if speaker == key:
            return  # the result of its own words
        linked = bool(speaker)
        if not (linked or memory.heard is not None) or not self._item.is_said_in(memory):
            return
        if not linked:
            self.untraced.append((key, memory))
            return
        before = self._said.get(memory.happening)
        if before is not None:
            self._know(key, memory, before, step_of(key, memory, Step.HEARD))
        else:
            self.misled.add(key)


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
