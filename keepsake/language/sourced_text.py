"""Summaries whose sentences say which memories they tell.

A model writes their numbers in square brackets: ``Nell came back with the news [67, 68].`` They are
taken out of the text and kept beside it, as data: by sentence, the memories that it tells. People
and later prompts read the text without them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from keepsake.language.citations import numbers_in
from keepsake.language.perception import sentences, words

_MARK = re.compile(r"[ \t]*\[(?P<numbers>\d{1,9}(?:[\s,;–-]+\d{1,9})*)\]")
"""Numbers in square brackets, with the space before them."""
_UNSPACED_END = re.compile(r"(?<=[。！？])(?!$)")
"""The end of a sentence that no space follows."""
_ENDS = ".!?…。！？"
"""Ends of sentences. A mark after one of them belongs to the sentence before."""
_MOST_SHARE = 2
"""A sentence that names more than one in so many of all memories names none: it tells of no one in
particular, or its writer was careless."""
_FEW = 8
"""So many memories a sentence may name in any case, however few there are."""

_LONGEST = 1000
"""The most memories of a range: a model may write any number."""

type Sources = tuple[tuple[int, ...], ...]
"""By sentence of a text, in order: the numbers of the memories that it tells; empty if its writer
named none."""


@lru_cache(maxsize=1024)  # a page asks of each summary several times: 4 MB at most of most models
def summary_sentences(text: str) -> Sequence[str]:
    """Return the sentences of a summary that have words, without the marks of its lists."""
    return tuple(each for line in text.splitlines() for each in line_sentences(line))


def line_sentences(line: str) -> Iterator[str]:
    """Yield the sentences of one line of a summary."""
    for part in sentences(line):
        for sentence in _UNSPACED_END.split(part):
            shown = sentence.strip().lstrip("-*# ").strip()
            if words(shown):
                yield shown


def without_marks(text: str, known: Collection[int]) -> tuple[str, Mapping[str, tuple[int, ...]]]:
    """Return a text without the numbers of memories, and by sentence the memories that it names.

    Args:
        text: What a model wrote.
        known: The memories that its prompt showed. Other numbers are left out.
    """
    plain = ""
    marks: list[tuple[int, str]] = []
    start = 0
    for mark in _MARK.finditer(text):
        plain += text[start : mark.start()]
        marks.append((len(plain), mark["numbers"]))
        start = mark.end()
        if plain[-1:] in _ENDS and text[start : start + 1] in _ENDS:
            start += 1  # "… at noon. [3]." has one full stop too many
    plain += text[start:]
    found: dict[str, tuple[int, ...]] = {}
    at = 0
    for sentence in summary_sentences(plain):
        begins = plain.index(sentence, at)
        at = begins + len(sentence)
        named = (_numbers(numbers) for place, numbers in marks if begins < place <= at)
        cited = sorted({each for some in named for each in some}.intersection(known))
        if 0 < len(cited) <= max(len(known) // _MOST_SHARE, _FEW):
            found[sentence] = tuple(cited)
    return plain, found


def _numbers(text: str) -> Iterator[int]:
    for each in numbers_in(text, 0, len(text)):
        yield from range(each.first, min(each.last, each.first + _LONGEST) + 1)


def sources_of(text: str, cited: Mapping[str, tuple[int, ...]]) -> Sources:
    """Return the memories of each sentence of a text; nothing at all if no sentence names any.

    ``cited``: The memories by sentence. Sentences that are not in it name none.
    """
    found = tuple(cited.get(each, ()) for each in summary_sentences(text))
    return found if any(found) else ()


def cited_in(text: str, sources: Sources) -> Mapping[str, tuple[int, ...]]:
    """Return the memories by sentence; nothing if the text was changed since they were noted."""
    told = summary_sentences(text)
    return dict(zip(told, sources, strict=True)) if len(told) == len(sources) else {}


def with_marks(text: str, cited: Mapping[str, Sequence[int]]) -> str:
    """Return a text with the numbers of memories after each sentence that names some."""
    at = 0
    for sentence in summary_sentences(text):
        end = text.index(sentence, at) + len(sentence)
        end -= sentence[-1] in _ENDS
        numbers = cited.get(sentence, ())
        mark = f" [{', '.join(map(str, numbers))}]" if numbers else ""
        text = text[:end] + mark + text[end:]
        at = end + len(mark)
    return text
