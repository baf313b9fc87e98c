"""How much a memory matters, without a model: a simple figure.

The world's own word counts first (a deed has an importance). Else the form of the memory tells: a
gift, whether it was said to the agent, whether by a stranger, and how long it is. What it says is
judged at night by a model, or by nobody.
"""

from __future__ import annotations

from keepsake.archive.records import BY_RULE, Memory, MemoryKind
from keepsake.books.journal.entries import LEAST, MOST, Importance
from keepsake.language.heard import given_by_me, given_to_me, heard, meant_for, own_words
from keepsake.recall.related import about_memory

_ROUTINE, _TALK, _SEEN, _TO_ME, _STRANGER, _GIVEN, _GIFT = 1, 2, 3, 4, 5, 6, 7
_LONG = (60, 160)
"""Characters from which on what was said matters one more, and one more again."""


def importance(memory: Memory, own_name: str, *, met: bool = True) -> Importance:
    """How much one memory matters; quick.

    Args:
        memory: The memory.
        own_name: The agent's name.
        met: Whether the agent knew who caused it.

    Returns:
        1 to 10, with the reasons, the weightiest first.
    """
    if about_memory(memory):
        return Importance(LEAST, reasons=("own memory",))
    if memory.event in BY_RULE:
        return Importance(LEAST, reasons=("routine",))
    if memory.importance:
        return Importance(memory.importance, reasons=("a deed",))
    score, reasons = _by_form(memory, own_name)
    if memory.source and not met:
        score, reasons = max(score, _STRANGER), (*reasons, "a stranger")
    return Importance(min(score, MOST), reasons=reasons)


def _by_form(memory: Memory, own_name: str) -> tuple[int, tuple[str, ...]]:
    if memory.kind is MemoryKind.RESULT:
        given = any(given_by_me(memory))
        return (_GIVEN, ("a gift",)) if given else (_ROUTINE, ("routine",))
    if memory.kind is MemoryKind.ACT:
        own = own_words(memory)
        return (_ROUTINE, ("routine",)) if own is None else _said(own.words, _SEEN, "talk")
    if given_to_me(memory):
        return _GIFT, ("a gift",)
    if (said := heard(memory)) is not None:
        mine = meant_for(said, own_name)
        return _said(said.words, _TO_ME if mine else _TALK, "said to me" if mine else "talk")
    seen = memory.source and memory.event not in ("traverse", "move")
    return (_SEEN if seen else _ROUTINE), ("routine",)


def _said(words: str, score: int, why: str) -> tuple[int, tuple[str, ...]]:
    more = sum(len(words) >= length for length in _LONG)
    return score + more, (why, *(["at length"] if more else ()))
