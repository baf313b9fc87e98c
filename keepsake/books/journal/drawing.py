"""Facts that are about to be compacted become entries first, so that no summary can lose them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.journal import wording
from keepsake.books.journal.book import Journal, local_day
from keepsake.books.journal.config import JournalConfig
from keepsake.books.journal.entries import EntryOrigin, Importance, JournalEntry
from keepsake.books.journal.importance import (
    BROKEN,
    GIFT,
    HARM,
    LIFE,
    PERSONAL,
    PLACE,
    PROMISE,
    RULE,
    SECRET,
    STRANGER,
    importance,
)
from keepsake.books.noticing import QUOTES, notice
from keepsake.language import deeds
from keepsake.language.facts import key_of
from keepsake.language.fit import is_fit
from keepsake.language.heard import LONGEST, Utterance, heard, meant_for, own_words
from keepsake.language.perception import for_prompt, shorten
from keepsake.language.words import sentences
from keepsake.recall.related import about_memory
from keepsake.summaries.retelling import day_of, join, retell

LONGEST_QUOTE = 240
"""Characters of what somebody said that an entry quotes."""
_OF_EACH = 0.5
"""What each entry that somebody has caused already takes from the next one's weight, so that
nobody who talks a lot keeps out what others said."""

_TAGS: Mapping[str, str] = {
    **{PROMISE: "promise", GIFT: "gift", RULE: "rule", STRANGER: "met", SECRET: "secret"},
    **{LIFE: "life", PERSONAL: "personal", BROKEN: "broken-word", HARM: "harm", PLACE: "place"},
}
_DREAM = re.compile(r"(?:You|I) (?:dream|dreamt|dreamed)\b", re.I)

PATIENCE = 8
"""Memories after which the agent no longer answers whoever spoke last."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A memory, told as an entry."""

    text: str
    origin: EntryOrigin
    to: str = ""  # whom the agent said or gave it to, by name; empty for what others did


def draw_out(  # noqa: PLR0917 - what a compaction knows, in the order in which it says it
    memories: Sequence[Memory],
    own_name: str,
    journal: Journal,
    config: JournalConfig,
    importance_of: Callable[[Memory], Importance],
    now: datetime,
) -> tuple[JournalEntry, ...]:
    """Write down what matters of memories that are about to be compacted; blocks.

    Doing it again writes nothing twice: a memory that an entry rests on is passed over.

    Returns:
        What was written, oldest first.

    Raises:
        NoteRefused: The file of the day cannot be read or written.
    """
    journal.entries()  # what people have changed since; resting_on only knows what was read
    keys, written = _keys_by_name(memories), list[JournalEntry]()
    for memory, weight in chosen(memories, journal, config, importance_of):
        told = tell(memory, own_name, partner(memory, memories, own_name))
        if told is None:
            continue
        entry = journal.write(
            _dated(told.text, memory.time, now),
            importance=weight,
            origin=told.origin,
            memories=(memory.number,),
            tags=_tags(weight, told.to or memory.source),
            who=_who(memory, told, keys),
            now=now,
            by="rules",
        )
        written.append(entry)
    return tuple(written)


def chosen(
    memories: Sequence[Memory],
    journal: Journal,
    config: JournalConfig,
    importance_of: Callable[[Memory], Importance],
) -> list[tuple[Memory, Importance]]:
    """The memories that matter most and stand in no entry yet, oldest first."""
    may = [
        (memory, weight)
        for memory in memories
        if is_event(memory)
        and journal.resting_on(memory.number) is None
        and (weight := importance_of(memory)).score >= config.draw_from
    ]
    taken: list[tuple[Memory, Importance]] = []
    by: Counter[str] = Counter()
    while may and len(taken) < config.drawn:
        best = max(may, key=lambda each: each[1].score - _OF_EACH * by[each[0].source])
        may.remove(best)
        taken.append(best)
        by[best[0].source] += 1
    return sorted(taken, key=lambda each: each[0].number)


def is_event(memory: Memory) -> bool:
    """Whether something happened that anybody may know of: no use of the own memory, no dream."""
    if is_private(memory):
        return False
    spoken = memory.kind is MemoryKind.PERCEPTION and memory.source
    return not about_memory(memory) and (bool(spoken) or not _DREAM.match(memory.text))


def tell(memory: Memory, own_name: str, to: str = "") -> Drawn | None:
    """One memory as an entry tells it; None if nothing of it is fit to be kept."""
    if own := own_words(memory):
        return _own(memory, own, own_name, own.to or to)
    if memory.kind is MemoryKind.ACT:
        return _fit(join(retell(f"~{own_name}> {memory.text}", own_name)), EntryOrigin.SEEN)
    if said := heard(memory):
        return _said(memory, said, own_name)
    if memory.kind is MemoryKind.PERCEPTION:
        return _seen(memory)
    what, whom = deeds.given_by_me(memory)
    text = f"I gave {what} to {whom}." if what else f"I saw: {shorten(memory.text, LONGEST_QUOTE)}"
    return _fit(text, EntryOrigin.SEEN, whom)


def partner(memory: Memory, memories: Sequence[Memory], own_name: str) -> str:
    """Whom the agent spoke to: whoever last spoke to it, shortly before; empty for nobody."""
    if memory.kind is not MemoryKind.ACT:
        return ""
    for before in reversed(memories):
        if memory.number - PATIENCE <= before.number < memory.number:
            said = heard(before)
            if said is not None and meant_for(said, own_name):
                return said.who
    return ""


def _keys_by_name(memories: Iterable[Memory]) -> dict[str, str]:
    """The key of everybody who caused something, by name; nobody whose name two have."""
    keys: dict[str, set[str]] = {}
    for memory in memories:
        if memory.source:
            keys.setdefault(memory.source, set()).add(key_of(memory))
    return {name: next(iter(found)) for name, found in keys.items() if len(found) == 1}


# -- telling


def _own(memory: Memory, own: Utterance, own_name: str, to: str) -> Drawn | None:
    if promised := notice(memory, own_name, to):
        to, words = promised[0].who, " ".join(each.text for each in promised)
        head = f"I promised {for_prompt(to)}".rstrip()
    else:
        words = telling(own.words, memory, own_name)
        head = f"I told {for_prompt(to)}" if to else "I said"
    return _quoted(head, words, EntryOrigin.SEEN, to)


def _said(memory: Memory, said: Utterance, own_name: str) -> Drawn | None:
    who, words = for_prompt(said.who), telling(said.words, memory, own_name)
    if meant_for(said, own_name):
        return _quoted(f"{who} told me", words, EntryOrigin.TOLD)
    if said.to:
        return _quoted(f"{who} told {for_prompt(said.to)}", words, EntryOrigin.SURROUNDINGS)
    return _quoted(f"{who} said", words, EntryOrigin.TOLD)


def _seen(memory: Memory) -> Drawn | None:
    text = shorten(memory.told[:LONGEST], LONGEST_QUOTE)
    if not memory.source:
        return _fit(f"I noticed: {text}", EntryOrigin.SURROUNDINGS)
    if what := deeds.given_to_me(memory):
        return _fit(f"{for_prompt(memory.source)} gave me {what}.", EntryOrigin.SEEN)
    # What somebody does is told by the game, but in the words that they chose: a quotation.
    return _quoted("I saw", text.translate(QUOTES), EntryOrigin.SEEN)


def telling(words: str, memory: Memory, own_name: str) -> str:
    """The sentences of what was said that matter most, as many as an entry quotes."""
    fit = [each for each in sentences(words.translate(QUOTES)) if is_fit(each)]
    if not is_fit(" ".join(fit)):  # what only two sentences together forge
        return ""
    if len(" ".join(fit)) <= LONGEST_QUOTE or len(fit) < 2:
        return " ".join(fit)
    by_weight = sorted(range(len(fit)), key=lambda i: -_weight(fit[i], memory, own_name))
    kept: set[int] = set()
    for index in by_weight:
        if len(" ".join(fit[i] for i in {*kept, index})) <= LONGEST_QUOTE:
            kept.add(index)
    return " ".join(fit[i] for i in sorted(kept or {by_weight[0]}))


def _weight(sentence: str, memory: Memory, own_name: str) -> int:
    if memory.kind is MemoryKind.ACT:
        said = f"say {sentence}"
    else:
        said = f'{memory.source or "Somebody"} says to you, "{sentence}"'
    return importance(replace(memory, text=said), own_name).score


def _quoted(head: str, words: str, origin: EntryOrigin, to: str = "") -> Drawn | None:
    plain = shorten(wording.clean(words.translate(QUOTES)), LONGEST_QUOTE)
    if not any(char.isalnum() for char in plain):
        return None
    return Drawn(f'{head}: "{plain}"', origin, to)


def _fit(text: str, origin: EntryOrigin, to: str = "") -> Drawn | None:
    plain = wording.clean(text)
    return Drawn(plain, origin, to) if plain and is_fit(plain) else None


def _dated(text: str, lived: datetime, now: datetime) -> str:
    """``On 18 Nov: …`` before what is older than the day it is written down on."""
    return text if local_day(lived) == local_day(now) else f"On {day_of(lived)}: {text}"


def _tags(weight: Importance, name: str) -> tuple[str, ...]:
    found = (_TAGS[reason] for reason in weight.reasons if reason in _TAGS)
    return wording.tags((*found, name))


def _who(memory: Memory, told: Drawn, keys: Mapping[str, str]) -> tuple[str, ...]:
    if told.to:
        return (keys.get(told.to, f"name:{told.to}"),)
    return (key,) if (key := key_of(memory)) else ()
