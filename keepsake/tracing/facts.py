"""A fact across all archives: who told it to whom, who knows it now, and where it was lost.

A fact is what somebody once said, or some words. :func:`follow` reads the archives; it blocks, and
takes about a second for 100,000 memories.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path as File

from keepsake.archive.line_types import LineType
from keepsake.archive.log import Archive
from keepsake.archive.records import TOOL_VERBS, Memory, MemoryKind
from keepsake.archive.tiers import SummaryState
from keepsake.happening import Manner
from keepsake.json_lines import parsed
from keepsake.tracing.past import Past
from keepsake.tracing.paths import Link, Path, PromptBasis, Tracer, Witness
from keepsake.tracing.wording import Wording, counted

_MEMORY = LineType.MEMORY.start
"""How the line of a memory begins."""
MOST_TELLINGS = 500
"""The most tellings that a fact may have: with more it is no fact but an everyday word."""


class Way(StrEnum):
    """How an agent came to know of a happening."""

    SAID = "said"
    """It spoke itself."""
    TOLD = "told"
    """It was spoken to, alone or with everybody else there."""
    OVERHEARD = "overheard"
    """Somebody else was spoken to."""
    WHISPERED = "whispered"
    """It was told in private."""
    SAW = "saw"
    """It perceived it, and nobody said it."""


class Standing(StrEnum):
    """Where an agent has a fact at some moment: the first of these that is true."""

    WINDOW = "window"
    """Word for word in its prompts."""
    RECENT = "recent"
    """Its short-term summary says it."""
    LONGTERM = "longterm"
    """Its long-term summary says it."""
    LOST = "lost"
    """Only its archive has it: no prompt has it, unless recall finds it."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """One agent's memory of a telling."""

    agent: str
    memory: int
    way: Way


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """A happening in which the fact was said, or shown.

    Attributes:
        happening: Its id; if that is not known, the agent and the number of the memory.
        place: Where the first who remembers it was.
        speaker: The name of who said it; empty if nobody did.
        agent: The key of the speaker; empty if it is no agent, or nobody.
        manner: How it was said; empty if nobody spoke.
        private: Whether only some of those present perceived it.
        hearings: Who remembers it, the speaker included.
        rests_on: The speaker's memory from which it has it; 0 if it has it from nobody.
        link: How that is known.
    """

    happening: str
    time: datetime
    place: str
    speaker: str
    agent: str
    manner: str
    text: str
    private: bool
    hearings: tuple[Hearing, ...]
    rests_on: int = 0
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Spell:
    """From when on an agent had a fact in another way.

    Attributes:
        time: In seconds since 1970.
        compaction: The number of the compaction that changed it; 0 if none did.
    """

    time: float
    standing: Standing
    compaction: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Knower:
    """An agent that knows the fact.

    Attributes:
        path: How it came to know it first, from the beginning.
        memories: The numbers of its memories of it.
        spells: How it had the fact from then on, in order; the last one is now.
        acts: What it did later because of it, without saying it: numbers of its memories.
    """

    agent: str
    path: Path
    memories: tuple[int, ...]
    spells: tuple[Spell, ...]
    acts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact, followed through all archives.

    Attributes:
        tellings: Every happening in which it was said or shown, oldest first.
        knowers: Who knows it, by when they came to know it.
        complete: False if there are more than :data:`MOST_TELLINGS`, so that only the newest are
            followed.
    """

    wording: Wording
    tellings: tuple[Telling, ...]
    knowers: tuple[Knower, ...]
    complete: bool = True


@dataclass(frozen=True)
class Archived:
    """The archive of an agent, as :func:`follow` reads it.

    Attributes:
        name: The agent's name.
        folder: The folder of its archive.
        past: Its past, read to its end.
    """

    name: str
    folder: File
    past: Past


def telling_words(archives: Iterable[Archived], memory: Memory) -> list[tuple[str, int]]:
    """Return the words that tell a memory from others, the rarest first, with their counts; blocks.

    Words that no other happening has come last: by them nothing could be followed.
    """
    lines = [
        line
        for each in archives
        for data in _segments(each.folder)
        for line in data.lower().split(b"\n")
        if line.startswith(LineType.MEMORY.start)
    ]
    happening = f'"{memory.happening}"'.lower().encode()
    others = [line for line in lines if not (memory.happening and happening in line)]
    found = counted(memory.words or memory.text, others)
    return [each for each in found if each[1]] + [each for each in found if not each[1]]


def follow(archives: Mapping[str, Archived], wording: Wording, happening: str = "") -> Fact:
    """Return where a fact went; blocks.

    Args:
        archives: The agents' archives, by key.
        wording: The ways of saying it.
        happening: A happening that is the fact, however it was worded.

    Raises:
        OSError, KeepsakeError: An archive cannot be read.
    """
    lines = {key: _lines_with(each.folder, wording, happening) for key, each in archives.items()}
    complete = True
    witnesses = {}
    for key, found in lines.items():
        if len(found) > MOST_TELLINGS:
            complete = False
        memories = found[-MOST_TELLINGS:]
        past = archives[key].past
        bases = {each.number: _basis(past, each.number) for each in memories if each.is_own}
        witnesses[key] = Witness(archives[key].name, memories, bases)

    def is_given(_: str, memory: Memory) -> bool:
        unarchived = not memory.is_own and not tracer.speaker_of(memory)
        return unarchived and (memory.happening == happening != "" or _shows(memory, wording))

    tracer = Tracer(witnesses, wording.is_said_in, is_given, may_begin=True)
    tracer.run()
    knowers = (
        _knower(
            key, path, _held(tracer.known[key], witnesses[key], wording), archives[key], wording
        )
        for key, path in tracer.paths.items()
    )
    return Fact(
        wording=wording,
        tellings=_tellings(witnesses, tracer),
        knowers=tuple(sorted(knowers, key=lambda each: each.path[-1].time)),
        complete=complete,
    )


# -- reading


def _segments(folder: File) -> Iterator[bytes]:
    """Yield the complete lines of each file of an archive.

    A whole file is searched much faster than its lines one by one, and most files lack a fact.
    """
    if not folder.is_dir():
        return
    for path in Archive(folder, read_only=True).segments():
        data = path.read_bytes()
        yield data[: data.rfind(b"\n") + 1]


def _lines_with(folder: File, wording: Wording, happening: str) -> list[Memory]:
    """Return the memories of an archive that may bear on a fact: they say it, or rest on others."""
    found = []
    for data in _segments(folder):
        for line in _lines_at(data, _places_in(data, wording, happening)):
            # Opening the memory reports damaged lines.
            with suppress(KeyError, ValueError, TypeError):
                memory = Memory.from_record(parsed(line))
                if memory.happening == happening != "" or wording.is_said_in(_text_of(memory)):
                    found.append(memory)
    return found


def _places_in(data: bytes, wording: Wording, happening: str) -> list[int]:
    """Return places in all lines that may say a fact, in order: few lines have its words."""
    found = list(wording.places_in(data.lower()))
    if happening:
        found += (each.start() for each in re.finditer(re.escape(f'"{happening}"'.encode()), data))
    return sorted(found)


def _lines_at(data: bytes, places: Iterable[int]) -> Iterator[bytes]:
    """Yield the lines of memories that have these places, each once."""
    end = -1
    for place in places:
        if place < end:
            continue
        start = data.rfind(b"\n", 0, place) + 1
        end = data.index(b"\n", place)
        if data.startswith(_MEMORY, start):
            yield data[start:end]


def _text_of(memory: Memory) -> str:
    return memory.words or memory.text


def _shows(memory: Memory, wording: Wording) -> bool:
    """Whether a memory that is no own act shows a fact, other than by a search of one's memory."""
    searched = memory.kind is MemoryKind.RESULT and memory.verb in TOOL_VERBS
    return not searched and wording.is_said_in(_text_of(memory))


def _basis(past: Past, number: int) -> PromptBasis:
    """Return what the prompt of an act showed, from the archive alone: summaries and window."""
    summarised = past.state_when(number).summarised
    return PromptBasis(summarised, summarised, number - 1)


# -- tellings


def _tellings(witnesses: Mapping[str, Witness], tracer: Tracer) -> tuple[Telling, ...]:
    grouped: dict[str, list[tuple[str, Memory]]] = defaultdict(list)
    for key, witness in witnesses.items():
        for memory in witness.memories:
            if memory.number in tracer.known[key] or _said_again(memory, key, tracer):
                grouped[memory.happening or f"{key} {memory.number}"].append((key, memory))
    made = (_telling(happening, told, tracer) for happening, told in grouped.items())
    return tuple(sorted(made, key=lambda each: each.time))


def _said_again(memory: Memory, key: str, tracer: Tracer) -> bool:
    """Whether an agent says here what it knows already: such words are no new knowledge."""
    return memory.own_words is not None and key in tracer.paths


def _telling(happening: str, told: Sequence[tuple[str, Memory]], tracer: Tracer) -> Telling:
    own = next(((key, memory) for key, memory in told if memory.is_own), None)
    agent, memory = own or told[0]
    step = tracer.steps.get(memory.happening) if own else None
    return Telling(
        happening=happening,
        time=memory.time,
        place=memory.place,
        speaker="" if own else memory.source,
        agent=agent if own else "",
        manner=memory.manner,
        text=_text_of(memory),
        private=memory.confidants is not None,
        hearings=tuple(Hearing(key, each.number, _way(each)) for key, each in told),
        rests_on=step.rests_on if step else 0,
        link=step.link if step else None,
    )


def _way(memory: Memory) -> Way:
    if memory.is_own:
        return Way.SAID
    heard = memory.heard
    if heard is None:
        return Way.SAW
    if heard.manner is Manner.WHISPER or memory.confidants is not None:
        return Way.WHISPERED
    return Way.TOLD if heard.is_to_me_or_all else Way.OVERHEARD


# -- knowers


def _held(known: Iterable[int], witness: Witness, wording: Wording) -> list[int]:
    """Return the numbers of an agent's memories of a fact, also of those in which it says it again.

    A prompt that has its own words has the fact word for word.

    Args:
        known: Those by which it came to know it.
        witness: The agent, with all that may bear on the fact.
    """
    own = ((each.number, each.own_words) for each in witness.memories)
    again = (number for number, said in own if said and wording.is_said_in(said.words))
    return sorted({*known, *again})


def _knower(
    key: str, path: Path, numbers: Sequence[int], archived: Archived, wording: Wording
) -> Knower:
    return Knower(
        agent=key,
        path=path,
        memories=tuple(numbers),
        spells=tuple(_spells(numbers, archived.past, wording)),
        acts=tuple(_acts_on(archived.past, frozenset(numbers))),
    )


def _acts_on(past: Past, numbers: frozenset[int]) -> list[int]:
    """Return the numbers of what rests on one of these memories, and is none of them."""
    return sorted({act for number in numbers for act in past.resting_on(number)} - numbers)


def _spells(numbers: Sequence[int], past: Past, wording: Wording) -> Iterator[Spell]:
    """Yield how an agent had a fact, from its first memory of it on."""
    first = numbers[0]
    events: list[tuple[float, int, SummaryState, int]] = [
        (past.time_of(number), number, past.state_when(number), 0) for number in numbers
    ]
    events += [
        (change.time, change.number, change.state, change.state.standing)
        for change in past.changes
        if change.number >= first
    ]
    before: Standing | None = None
    for time, newest, state, compaction in sorted(events, key=lambda each: each[:2]):
        held = [number for number in numbers if number <= newest]
        standing = _standing(held, state, wording)
        if standing is not before:
            yield Spell(time, standing, compaction)
            before = standing


def _standing(numbers: Sequence[int], state: SummaryState, wording: Wording) -> Standing:
    if numbers and numbers[-1] > state.summarised:
        return Standing.WINDOW
    if state.recent is not None and wording.is_said_in(state.recent.text):
        return Standing.RECENT
    if state.longterm is not None and wording.is_said_in(state.longterm.text):
        return Standing.LONGTERM
    return Standing.LOST
