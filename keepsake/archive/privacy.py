"""The one rule of privacy: who may hear a memory of words that were whispered.

A whisper is for two: the speaker and the addressee. A prompt contains the whispered words only if
its audience is the other one of the two; else :func:`redacted` gives a substitute.
Text that is made from memories and shown to anybody (summaries, journal, dreams, reflections) is
made from these substitutes. Texts that cite memories by number (facts, observations, rules, recall
results) are checked against the archive with :class:`PrivateWords`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind, memories_in
from keepsake.json_lines import parsed

type Audience = frozenset[str]  # ids of those who hear the answer to a prompt, as in ``source_id``

NOBODY: Audience = frozenset()
"""The audience of a prompt that nobody or everybody may read. Private words are left out."""
WHISPER = "whisper"
REDACTED = " = …"
"""The end of an own whisper whose words the audience may not know."""
_TO_ME = " whispers to you"
_UNKNOWN = "?"  # an addressee that an old archive does not record: nobody may hear the words


def is_private(memory: Memory) -> bool:
    """Return whether the memory holds words that nobody else could hear."""
    if memory.kind is MemoryKind.ACT:
        return memory.text.startswith(f"{WHISPER} ")
    if memory.kind is MemoryKind.RESULT:  # a search result in an old archive
        return f'{_TO_ME}, "' in memory.text
    old = not memory.event and memory.text.startswith(f"{memory.source}{_TO_ME}")
    return memory.event == WHISPER or old


@lru_cache(maxsize=4096)
def redacted(memory: Memory) -> Memory:
    """Return the memory as anybody may know it: that something was whispered, without the words."""
    if not is_private(memory):
        return memory
    if memory.kind is MemoryKind.ACT:
        to = memory.text.removeprefix(f"{WHISPER} ").partition(" = ")[0]
        return replace(memory, text=f"{WHISPER} {to}{REDACTED}", reason="")
    if memory.kind is MemoryKind.RESULT:
        return replace(memory, text="You remember something that was whispered.")
    return replace(memory, text=f"{memory.source or 'Somebody'}{_TO_ME}.")


class PrivateWords:
    """The private memories of one agent, and with whom each is shared.

    Attributes:
        shared: The id of the other person, by the number of the memory.
    """

    def __init__(self) -> None:
        self.shared: dict[int, str] = {}

    @classmethod
    def of(cls, archive: Archive) -> PrivateWords:
        """Load from the archive; blocks. It parses only lines with the word ``whisper``."""
        found = cls()
        word = WHISPER.encode()
        for memory in memories_in(parsed(line) for line in archive.lines_back() if word in line):
            found.add(memory)
        return found

    def add(self, memory: Memory) -> None:
        """Register a newly archived memory."""
        if is_private(memory):
            who = memory.to_id if memory.kind is MemoryKind.ACT else memory.source_id
            self.shared[memory.number] = who or _UNKNOWN

    def may_hear(self, numbers: Iterable[int], audience: Audience) -> bool:
        """Return whether all of the audience may hear a text that rests on all those memories."""
        shared = {self.shared[number] for number in numbers if number in self.shared}
        return not shared or (_UNKNOWN not in shared and len(shared) == 1 and shared == audience)

    def heard_by(self, memories: Iterable[Memory], audience: Audience) -> tuple[Memory, ...]:
        """Return the memories as the audience may hear them."""
        if not self.shared:  # quick for most agents, since a thought checks hundreds of memories
            return tuple(memories)
        return tuple(
            each if self.may_hear([each.number], audience) else redacted(each) for each in memories
        )
