"""How much a memory matters without a model; and what matters becomes an entry before a compaction.

The world's own word counts first (a deed has an importance). Else the form of the memory tells: a
gift, whether it was said to the agent, whether by a stranger, and how long it is. What it says is
judged at night by a model, or by nobody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from keepsake.archive.privacy import is_private
from keepsake.archive.records import BY_RULE, Memory, MemoryKind
from keepsake.books.entries import (
    LEAST,
    MOST,
    EntryOrigin,
    Importance,
    JournalEntry,
    clean,
    local_day,
)
from keepsake.books.journal import Journal
from keepsake.language.heard import (
    Utterance,
    given_by_me,
    given_to_me,
    heard,
    key_of,
    meant_for,
    own_words,
)
from keepsake.language.perception import for_prompt, shorten
from keepsake.language.words import short_day
from keepsake.prompt.tool_results import about_memory

_ROUTINE, _TALK, _SEEN, _TO_ME, _STRANGER, _GIVEN, _GIFT = 1, 2, 3, 4, 5, 6, 7
_LONG = (60, 160)
"""Characters from which on what was said matters one more, and one more again."""
DRAW_FROM, MOST_DRAWN = 5, 12
"""How much a memory must matter to be drawn out before a compaction, and the most of them."""
LONGEST_QUOTE = 240
"""Characters of what somebody said that an entry quotes."""
_OF_EACH = 0.5
"""What each entry that somebody has caused already takes from the next one's weight, so that
nobody who talks a lot keeps out what others said."""


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


@dataclass(frozen=True, slots=True)
class Drawn:
    """A memory, told as an entry."""

    text: str
    origin: EntryOrigin
    to: str = ""  # whom the agent said or gave it to, by name; empty for what others did


def draw_out(
    memories: Sequence[Memory],
    own_name: str,
    journal: Journal,
    importance_of: Callable[[Memory], Importance],
    now: datetime,
) -> tuple[JournalEntry, ...]:
    """Write down what matters most of memories that are about to be compacted; blocks.

    Doing it again writes nothing twice: a memory that an entry rests on is passed over.

    Returns:
        What was written, oldest first.

    Raises:
        NoteRefused: The file of the day cannot be read or written.
    """
    journal.entries()  # what people have changed since; resting_on only knows what was read
    may = [
        (memory, weight, told)
        for memory in memories
        if is_event(memory)
        and journal.resting_on(memory.number) is None
        and (weight := importance_of(memory)).score >= DRAW_FROM
        and (told := tell(memory, own_name)) is not None
    ]
    taken, by = list[tuple[Memory, Importance, Drawn]](), Counter[str]()
    while may and len(taken) < MOST_DRAWN:
        best = max(may, key=lambda each: each[1].score - _OF_EACH * by[each[0].source])
        may.remove(best)
        taken.append(best)
        by[best[0].source] += 1
    return tuple(
        journal.write(
            _dated(told.text, memory.time, now),
            importance=weight,
            origin=told.origin,
            memories=(memory.number,),
            who=(_about(memory, told),),
            now=now,
            by="rules",
        )
        for memory, weight, told in sorted(taken, key=lambda each: each[0].number)
    )


def _about(memory: Memory, told: Drawn) -> str:
    """The key of whom an entry is about: the one to whom it was said, or who caused it."""
    return memory.to_id or f"name:{told.to}" if told.to else key_of(memory)


def is_event(memory: Memory) -> bool:
    """Whether something happened that anybody may know of: no use of the own memory."""
    return not is_private(memory) and not about_memory(memory)


def tell(memory: Memory, own_name: str) -> Drawn | None:
    """One memory as an entry tells it; None if it has no words."""
    what, to = given_by_me(memory)
    if what:
        return Drawn(clean(f"I gave {what} to {to}."), EntryOrigin.SEEN, to)
    if what := given_to_me(memory):
        return Drawn(clean(f"{for_prompt(memory.source)} gave me {what}."), EntryOrigin.SEEN)
    # What somebody does is told by the game, but in the words that they chose: a quotation.
    head, words, origin = "I saw", memory.told, EntryOrigin.SEEN
    if memory.kind is MemoryKind.ACT:
        if (own := own_words(memory)) is None:
            return None
        words, to = own.words, own.to or memory.to
        head = f"I told {for_prompt(to)}" if to else "I said"
    elif (said := heard(memory)) is not None:
        head, words, origin = _heard(said, own_name)
    plain = shorten(clean(words.replace('"', "'")), LONGEST_QUOTE)
    if not any(char.isalnum() for char in plain):
        return None
    return Drawn(f'{head}: "{plain}"', origin, to)


def _heard(said: Utterance, own_name: str) -> tuple[str, str, EntryOrigin]:
    who, whom = for_prompt(said.who), for_prompt(said.to)
    if meant_for(said, own_name):
        return f"{who} told me", said.words, EntryOrigin.TOLD
    if whom:
        return f"{who} told {whom}", said.words, EntryOrigin.SURROUNDINGS
    return f"{who} said", said.words, EntryOrigin.TOLD


def _dated(text: str, lived: datetime, now: datetime) -> str:
    """``On 18 Nov: …`` before what is older than the day it is written down on."""
    day = local_day(lived)
    return text if day == local_day(now) else f"On {short_day(day)}: {text}"
