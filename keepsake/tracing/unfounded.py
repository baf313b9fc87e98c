"""Sentences of a summary that no memory tells: it says more than its agent knows."""

from __future__ import annotations

import calendar
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from keepsake.archive.records import Memory
from keepsake.language.languages import language_name, language_of
from keepsake.language.perception import words
from keepsake.language.sourced_text import summary_sentences
from keepsake.memory.history import PastCompaction
from keepsake.tracing.content import Content, Rarity, parts_of

_LEAST_WORDS = 4
"""The telling words of a sentence that no memory has, from which it says too much. A summary tells
things in other words, so a few new ones mean nothing."""
_LEAST_SHARE = 0.4
"""The share of what a sentence says, in bits, that these words must have. With both limits, of 516
sentences of a play with a capable model two were found, and both told what their agents had not
heard."""


@dataclass(frozen=True, slots=True)
class UnfoundedSentence:
    """A sentence of a new summary that says more than the memories of which it was made.

    Attributes:
        missing: Its telling words that none of them has, as written, in order.
        languages: The other languages, such as ``dutch``, of memories that may have these words.
            Words of two languages cannot be compared, so it may say no more than it knows.
    """

    text: str
    missing: tuple[str, ...]
    languages: tuple[str, ...] = ()


def unfounded(
    made: PastCompaction, memories: Sequence[Memory], name: str
) -> Iterator[UnfoundedSentence]:
    """Yield the sentences of a new short-term summary that say more than its memories.

    Args:
        memories: Those of ``made.covered``.
        name: The agent's name.
    """
    new = made.after.recent
    if new is None or new == made.before.recent:
        return
    language = language_of(new.text)
    texts = [" ".join(_texts_of(each)) for each in memories]
    before = (each.text for each in (made.before.longterm, made.before.recent) if each is not None)
    known = "\n".join((*texts, *before, name))
    rarity = Rarity.among(texts, language)
    dates = _parts_of_dates(language)
    for sentence in summary_sentences(new.text):
        content = Content(sentence, rarity, language)
        lacking = content.parts.keys() - content.shared(known) - dates
        missing = tuple(
            word
            for part, word in content.parts.items()
            if part in lacking and not any(map(str.isdigit, word))
        )
        share = content.bits(lacking) / max(content.bits(content.parts), 1.0)
        if len(missing) >= _LEAST_WORDS and share >= _LEAST_SHARE:
            sources = _sources(memories, new.cited.get(sentence, ()))
            yield UnfoundedSentence(sentence, missing, _languages(sources, language))


def _sources(memories: Sequence[Memory], cited: Collection[int]) -> Sequence[Memory]:
    """Return the memories that a sentence tells; if it names none, those that may hold as much."""
    if cited:
        return [each for each in memories if each.number in cited]
    return [each for each in memories if len(words(each.words)) >= _LEAST_WORDS]


def _languages(sources: Iterable[Memory], language: str) -> tuple[str, ...]:
    """Return the languages besides one in which words were said, by their English names."""
    found = {language_of(each.words) for each in sources if each.words}
    return tuple(sorted(language_name(each) for each in found - {language}))


def _texts_of(memory: Memory) -> Iterator[str]:
    """Yield all that a memory holds: what was said and shown, by whom, where, and why."""
    yield from (memory.text, memory.words, memory.source, memory.to, memory.place, memory.reason)


def _parts_of_dates(language: str) -> frozenset[str]:
    """Return the words of dates: a summary may say the day, which every memory has as its time."""
    names = (*calendar.day_name, *calendar.month_name)
    return frozenset(part for name in names for part, _ in parts_of(name, language))
