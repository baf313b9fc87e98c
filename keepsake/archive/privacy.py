"""Who may hear what an agent remembers: the one rule about words that were said in private.

What is whispered is for two. Whoever hears a prompt answered must be the other of them, or the
words are not in it: :func:`outward` is what stands there in their place. Everything that is made
of memories and shown to anybody (summaries, journal, dreams, reflections) is made of that.
What names the memories that it rests on (facts, observations, rules, what recall finds) is asked
about by their numbers, which only the archive can answer: :class:`PrivateWords`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind, memories_in
from keepsake.json_lines import parsed

type Audience = frozenset[str]
"""Who hears what comes of a prompt, as in :attr:`Memory.source_id`."""

NOBODY: Audience = frozenset()
"""The audience of what nobody or anybody may read: private words are left out."""
WHISPER = "whisper"
_TO_ME = " whispers to you"
_UNKNOWN = "?"
"""With whom words are shared, where an old archive does not say: nobody hears them."""


def is_private(memory: Memory) -> bool:
    """Whether it was said so that nobody else could hear it."""
    if memory.kind is MemoryKind.ACT:
        return memory.text.startswith(f"{WHISPER} ")
    if memory.kind is MemoryKind.RESULT:  # what a search in an old archive has brought
        return f'{_TO_ME}, "' in memory.text
    old = not memory.event and memory.text.startswith(f"{memory.source}{_TO_ME}")
    return memory.event == WHISPER or old


@lru_cache(maxsize=4096)
def outward(memory: Memory) -> Memory:
    """The memory as anybody may know of it: that something was whispered, and no word of it."""
    if not is_private(memory):
        return memory
    if memory.kind is MemoryKind.ACT:
        to = memory.text.removeprefix(f"{WHISPER} ").partition(" = ")[0]
        return replace(memory, text=f"{WHISPER} {to} = …", reason="")
    if memory.kind is MemoryKind.RESULT:
        return replace(memory, text="You remember something that was whispered.")
    return replace(memory, text=f"{memory.source or 'Somebody'}{_TO_ME}.")


class PrivateWords:
    """Which memories of one agent are private, and with whom they are shared.

    Attributes:
        shared: The id of the other one, by the number of the memory.
    """

    def __init__(self) -> None:
        self.shared: dict[int, str] = {}

    @classmethod
    def of(cls, archive: Archive) -> PrivateWords:
        """What the archive says; blocks, and parses no other line than those with the word."""
        found, word = cls(), WHISPER.encode()
        for memory in memories_in(parsed(line) for line in archive.lines_back() if word in line):
            found.saw(memory)
        return found

    def saw(self, memory: Memory) -> None:
        """A memory was archived."""
        if is_private(memory):
            who = memory.to_id if memory.kind is MemoryKind.ACT else memory.source_id
            self.shared[memory.number] = who or _UNKNOWN

    def may_hear(self, numbers: Iterable[int], audience: Audience) -> bool:
        """Whether all of the audience may hear what rests on those memories together."""
        shared = {self.shared[number] for number in numbers if number in self.shared}
        return not shared or (_UNKNOWN not in shared and len(shared) == 1 and shared == audience)

    def heard_by(self, memories: Iterable[Memory], audience: Audience) -> tuple[Memory, ...]:
        """The memories as the audience may hear them."""
        if (
            not self.shared
        ):  # to most agents nobody ever whispers, and each thought asks of hundreds
            return tuple(memories)
        return tuple(
            each if self.may_hear([each.number], audience) else outward(each) for each in memories
        )
