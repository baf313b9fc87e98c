"""From which of its own last words an agent goes on: they answer what it says now, too.

*Shut your mouth, it's full of bread* answers a confession. That there is bread, the agent itself
had said half a minute before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2

from keepsake.agent.attention.recent_talks import TALK_SECONDS
from keepsake.agent.why.basis import matter_of
from keepsake.agent.why.why import Why
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.happening import Speech, addressees_of, own_deed_of
from keepsake.tracing.content import SURE, Content, Rarity, parts_of
from keepsake.tracing.texts import SegmentTexts
from keepsake.web.people.telling import newest_lines

MOST = 2
"""The last things that it said before: what is longer ago is recalled, or not."""
_LOOKED = 40
"""The memories before an act among which they are looked for."""


@dataclass(frozen=True, slots=True)
class OwnWords:
    """Something that an agent said itself.

    Attributes:
        text: It in words, as somebody else would tell it.
    """

    memory: Memory
    text: str


def goes_on_from(
    archive: Archive, why: Why, segments: Sequence[SegmentTexts]
) -> Sequence[OwnWords]:
    """Return those of an agent's last words of a talk that an act takes up, oldest first; blocks.

    They share a word with the act that neither what it answers has nor many memories have: the more
    was said since, the rarer it must be.

    Args:
        archive: The agent's.
        segments: What the agent's memories say.
    """
    act = why.act
    if why.by_rule or not isinstance(act.what, Speech):
        return ()
    found = [*_last_words(archive.read(max(act.number - _LOOKED, 1), act.number), act)]
    content = Content(matter_of(act), Rarity())
    asked = why.cause.words or why.cause.text if why.cause else ""
    people = " ".join(each.name for each in addressees_of(act.what))
    known = content.shared(asked) | {part for part, _ in parts_of(people, content.language)}
    shared = {each.number: content.shared(each.words) - known for each, _ in found}
    rarity = Rarity.of(frozenset().union(*shared.values()), newest_lines(segments))

    def bits(memory: Memory) -> float:
        return max(map(rarity.bits, shared[memory.number]), default=0.0)

    taken_up = (each for each, since in found if bits(each) >= SURE + log2(since))
    return [OwnWords(each, own_deed_of(each.what, why.agent)) for each in taken_up]


def _last_words(lately: Sequence[Memory], act: Memory) -> Iterator[tuple[Memory, int]]:
    """Yield the last things that it said in the talk before its answer; oldest first.

    Each with how many lines of the talk there are from it on, up to the answer.
    """
    said = [each for each in lately if isinstance(each.what, Speech)]
    begun = 0
    for at, (before, after) in enumerate(pairwise(said), start=1):
        if (after.time - before.time).total_seconds() > TALK_SECONDS:
            begun = at
    talk = [each for each in said[begun:] if not _is_of_one_answer(each, act)]
    own = [(each, len(talk) - at) for at, each in enumerate(talk) if each.is_own]
    yield from own[-MOST:]


def _is_of_one_answer(memory: Memory, act: Memory) -> bool:
    same = bool(act.rests_on) and memory.rests_on == act.rests_on
    return same or memory.number == act.number
