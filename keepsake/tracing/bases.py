"""From which memories words of an agent may come: what they rest on, what their prompt showed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory
from keepsake.events.values import RecalledKind
from keepsake.json_lines import Record
from keepsake.tracing.items import Evidence, PassedOn


class Link(StrEnum):
    """Why words are taken to rest on an earlier memory, the surest first."""

    RESTS_ON = "rests on"
    RECALLED = "recalled in its prompt"
    QUOTED = "quoted in its prompt"
    WINDOW = "in its prompt"
    SUMMARY = "in a summary in its prompt"
    EARLIER = "heard before"


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


@dataclass(frozen=True, slots=True)
class Candidates:
    """Memories from which words may come.

    Attributes:
        link: How that is known.
        numbers: The numbers of those that are of the item.
        among: How many there are with those that are not.
    """

    link: Link
    numbers: frozenset[int]
    among: int


def claims(
    name: str, memory: Memory, found: Mapping[int, Memory], basis: PromptBasis | None
) -> Iterator[Candidates]:
    """Yield from which of an agent's memories its words may come, the surest first.

    Args:
        name: The agent's name.
        memory: The words.
        found: Its memories of the item, by number.
        basis: What the prompt of the words showed, if that is known.
    """
    known = found.keys()
    rested = rested_on(name, memory)
    earlier = memory.number - 1
    yield Candidates(Link.RESTS_ON, rested.intersection(known), len(rested))
    if basis is not None:
        window = range(basis.before + 1, basis.last + 1)
        yield Candidates(Link.RECALLED, basis.recalled.intersection(known), len(basis.recalled))
        yield Candidates(Link.WINDOW, frozenset(n for n in known if n in window), len(window))
        # No summary tells private words: what was said of them came by a page or a note.
        told = (n for n in known if not is_private(found[n]))
        summarised = frozenset(n for n in told if n <= basis.summarised)
        yield Candidates(Link.SUMMARY, summarised, basis.summarised)
    yield Candidates(Link.EARLIER, frozenset(n for n in known if n <= earlier), earlier)


def is_reply(memory: Memory, basis: Memory) -> bool:
    """Return whether words are for nobody but the source of what they may rest on."""
    to = memory.said.to if memory.said is not None else ()
    return bool(basis.source_id and to) and all(each.id == basis.source_id for each in to)


def passed_on(
    is_passed_on: PassedOn,
    memory: Memory,
    known: Mapping[int, Memory],
    claim: Candidates,
    window: int,
) -> list[int]:
    """Return the memories of a claim that words pass on.

    Args:
        is_passed_on: As :meth:`Traceable.is_passed_on`.
        known: The speaker's memories of the item.
        window: How many memories the prompt of the words had.
    """
    rests = claim.link is Link.RESTS_ON
    shown = max(claim.among, window)
    found = []
    for number in claim.numbers:
        basis = known[number]
        evidence = Evidence(rests, is_reply(memory, basis), claim.among, shown)
        if is_passed_on(memory, basis, evidence):
            found.append(number)
    return found


def rested_on(name: str, memory: Memory) -> frozenset[int]:
    """Return the numbers of the speaker's own memories on which its words rest.

    Hearsay has a chain of sources: ``Nell 17; Joss 41``, the speaker's own last.
    """
    numbers = set(memory.rests_on)
    teller, _, number = memory.chain.rpartition("; ")[2].rpartition(" ")
    if teller == name and number.isdecimal():
        numbers.add(int(number))
    return frozenset(numbers)
