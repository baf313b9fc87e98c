"""How much a memory matters without a model.

The world's own word counts first (a deed has an importance). Else the form of the memory tells: a
gift, whether it was said to the agent, and how long it is. What it says is judged at night by a
model, or by nobody.
"""

from __future__ import annotations

from keepsake.archive.records import BY_RULE, Memory, MemoryKind
from keepsake.language.heard import given_by_me, given_to_me, heard, meant_for, own_words
from keepsake.prompt.tool_results import about_memory

LEAST, MOST = 1, 10
"""The least and the most that anything can matter."""
_ROUTINE, _TALK, _SEEN, _TO_ME, _GIVEN, _GIFT = 1, 2, 3, 4, 6, 7
_LONG = (60, 160)
"""Characters from which on what was said matters one more, and one more again."""


def importance(memory: Memory, own_name: str) -> int:
    """How much one memory matters to the agent of that name, 1 to 10; quick."""
    if about_memory(memory) or memory.event in BY_RULE:
        return _ROUTINE
    if memory.importance:
        return memory.importance
    if memory.kind is MemoryKind.RESULT:
        return _GIVEN if any(given_by_me(memory)) else _ROUTINE
    if memory.kind is MemoryKind.ACT:
        own = own_words(memory)
        return _ROUTINE if own is None else _SEEN + _length(own.words)
    if given_to_me(memory):
        return _GIFT
    if (said := heard(memory)) is not None:
        return (_TO_ME if meant_for(said, own_name) else _TALK) + _length(said.words)
    return _SEEN if memory.source and memory.event not in ("traverse", "move") else _ROUTINE


def _length(words: str) -> int:
    return sum(len(words) >= length for length in _LONG)
