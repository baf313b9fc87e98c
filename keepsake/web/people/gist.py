"""The part of what somebody said that tells most, short enough to be read at a glance.

A sentence that ends in a question mark asks and does not tell. Of the others those are taken, one
after the other as they were said, whose words weigh most; of a sentence that is too long, some of
its clauses. A part has a mark wherever something is left out, so nobody takes it for all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from keepsake.language.perception import is_question, one_line, shorten
from keepsake.language.sourced_text import line_sentences
from keepsake.web.people.telling import Telling

SHORT = 140
"""The most characters of such a part: a line of a page. Hardly a sentence is longer; with 104 every
third was cut, often before its point."""
MARK = "…"
"""Stands where something is left out."""
_CLAUSE_END = re.compile(r"(?<=[,;:–—])\s+|(?<=[、，；：،؛])")
"""The boundary between two clauses, in any script that marks it."""


def gist(text: str, tells: Callable[[str], Telling], most: int = SHORT) -> str:
    """Return the part of a text that tells most; empty if all of it only asks.

    Args:
        tells: Returns how much a part tells.
        most: The most characters of it.
    """
    return max(_parts(one_line(text), most), key=lambda part: (tells(part), -len(part)), default="")


def _parts(text: str, most: int, *, asks: bool = False) -> Iterator[str]:
    """Yield the parts of a text that may stand for it; ``asks``: also what ends in a question."""
    sentences = [*line_sentences(text)]
    end = len(sentences) - 1
    for last, sentence in enumerate(sentences):
        if asks or not is_question(sentence):
            for first in _firsts(sentences, last, most, asks=asks):
                yield _marked(" ".join(sentences[first : last + 1]), first > 0, last < end)
            if len(sentence) > most:
                yield from _clauses(sentence, most, last > 0, last < end)


def _firsts(sentences: Sequence[str], last: int, most: int, *, asks: bool) -> Iterator[int]:
    """Yield from where sentences up to one are short enough together, the longest part last."""
    for first in range(last, -1, -1):
        run = sentences[first : last + 1]
        if sum(map(len, run)) + last - first > most or (is_question(run[0]) and not asks):
            return
        yield first


def _clauses(sentence: str, most: int, before: bool, after: bool) -> Iterator[str]:
    """Yield the parts of a long sentence; ``before``, ``after``: whether there are others."""
    clauses = _CLAUSE_END.split(sentence)
    for first in range(len(clauses)):
        for last in range(first, len(clauses)):
            part = " ".join(clauses[first : last + 1])
            begun = before or first > 0
            if len(part) > most:
                if first == last:
                    yield _marked(shorten(part, most), begun, False)
                break
            yield _marked(part, begun, after or last < len(clauses) - 1)


def _marked(part: str, begun: bool, ended: bool) -> str:
    """Return a part with marks; whether something is left out before it, and after it."""
    return f"{f'{MARK} ' if begun else ''}{part}{f' {MARK}' if ended else ''}"


def unmarked(part: str) -> str:
    """Return a part as it stands in the whole."""
    return part.removeprefix(MARK).removesuffix(MARK).strip()


def beginning(text: str, most: int = SHORT) -> str:
    """Return as many of the first clauses of a text as are short enough."""
    line = one_line(text)
    if len(line) <= most:
        return line
    ends = [each.start() for each in _CLAUSE_END.finditer(line)]
    end = max((each for each in ends if most // 2 <= each <= most - 2), default=0)
    return f"{line[:end]} …" if end else shorten(line, most)


def first_sentences(text: str, most: int = SHORT) -> str:
    """Return as many of the first whole sentences as are short enough; one at least."""
    sentences = [*line_sentences(one_line(text))]
    shown = sentences[:1]
    for each in sentences[1:]:
        if len(" ".join([*shown, each])) > most:
            break
        shown.append(each)
    return _marked(" ".join(shown), False, len(shown) < len(sentences))


def answered(text: str, bears: Callable[[str], float], most: int = SHORT) -> str:
    """Return the part of a text that something else takes up, its questions too; else its end.

    Args:
        bears: Returns how much a part has of that which takes it up.
        most: The most characters of it.
    """
    parts = [*enumerate(_parts(one_line(text), most, asks=True))]
    return max(parts, key=lambda each: (bears(each[1]), each[0]), default=(0, ""))[1]
