"""What matters and is about to be compacted becomes an entry first, so that no summary loses it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.journal.book import Journal
from keepsake.books.journal.entries import (
    EntryOrigin,
    Importance,
    JournalEntry,
    clean,
    local_day,
)
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
from keepsake.recall.related import about_memory

DRAW_FROM, MOST_DRAWN = 5, 12
"""How much a memory must matter to be drawn out before a compaction, and the most of them."""
LONGEST_QUOTE = 240
"""Characters of what somebody said that an entry quotes."""
_OF_EACH = 0.5
"""What each entry that somebody has caused already takes from the next one's weight, so that
nobody who talks a lot keeps out what others said."""


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
