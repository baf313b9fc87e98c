"""The one rule of privacy: who may hear a memory of words that were whispered.

A whisper is for its speaker and its addressees; a line that a game sent to one person alone is for
that person, and for who sent it. A prompt contains such words only if its audience consists of
those people; else :func:`redacted` gives a substitute.
Text that is made from memories and shown to anybody (summaries, journal, dreams, reflections) is
made from these substitutes. Texts that cite memories by number (facts, observations, rules, recall
results) are checked against the archive with :class:`PrivateWords`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, memories_in
from keepsake.happening import UNKNOWN, Result, Speech
from keepsake.json_lines import parsed

type Audience = frozenset[str]  # ids of those who hear the answer to a prompt, as in ``source_id``

NOBODY: Audience = frozenset()
"""The audience of a prompt that nobody or everybody may read. Private words are left out."""
WHISPER = "whisper"


def is_private(memory: Memory) -> bool:
    """Return whether the memory holds words that nobody else could hear."""
    return memory.confidants is not None


def is_redacted(memory: Memory) -> bool:
    """Return whether the words of a whisper were left out, as :func:`redacted` does."""
    return isinstance(memory.what, Speech) and is_private(memory) and not memory.what.words


@lru_cache(maxsize=4096)
def redacted(memory: Memory) -> Memory:
    """Return the memory as anybody may know it: that something was whispered, without the words."""
    if not is_private(memory):
        return memory
    who = memory.source or "Somebody"
    match memory.what:
        case Speech() as speech if memory.is_own:
            shown = f"You whisper to {memory.to or 'somebody'}."
            what = replace(speech, words="", shown=shown)
            return replace(memory, what=what, reason="")
        case Speech() as speech:
            return replace(memory, what=replace(speech, words="", shown=f"{who} whispers to you."))
        case Result():
            return memory.shown_as("You remember something that was whispered.")
    if memory.is_own:
        return replace(memory.shown_as(f"{memory.verb} …"), reason="")
    return memory.shown_as(f"{who} shows you something that is for you alone.")


class PrivateWords:
    """The private memories of one agent, and with whom each is shared.

    Attributes:
        shared: The identities of the others who know it, by the number of the memory.
    """

    def __init__(self) -> None:
        self.shared: dict[int, Audience] = {}

    @classmethod
    def of(cls, archive: Archive) -> PrivateWords:
        """Load from the archive; blocks."""
        found = cls()
        for memory in memories_in(map(parsed, archive.lines_back())):
            found.add(memory)
        return found

    def add(self, memory: Memory) -> None:
        """Register a newly archived memory."""
        if (confidants := memory.confidants) is not None:
            self.shared[memory.number] = confidants

    def may_hear(self, numbers: Iterable[int], audience: Audience) -> bool:
        """Return whether all of the audience may hear a text that rests on all those memories."""
        shared = {self.shared[number] for number in numbers if number in self.shared}
        return all(UNKNOWN not in each and self._covers(each, audience) for each in shared)

    def confidants_of(self, numbers: Iterable[int]) -> Audience | None:
        """Return who knows all the private ones of those memories; None if none is private."""
        shared = [self.shared[number] for number in numbers if number in self.shared]
        return frozenset.intersection(*shared) if shared else None

    @staticmethod
    def _covers(confidants: Audience, audience: Audience) -> bool:
        """Return whether everybody who hears the answer knows the words, and somebody does."""
        return bool(audience) and audience <= confidants

    def heard_by(self, memories: Iterable[Memory], audience: Audience) -> tuple[Memory, ...]:
        """Return the memories as the audience may hear them."""
        if not self.shared:  # quick for most agents, since a thought checks hundreds of memories
            return tuple(memories)
        return tuple(
            each if self.may_hear([each.number], audience) else redacted(each) for each in memories
        )
