"""The part of what somebody said that tells most, short enough to be read at a glance.

A sentence that ends in a question mark asks and does not tell. Of the others those are taken, one
after the other as they were said, whose words weigh most; of a sentence that is too long, some of
its clauses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from keepsake.language.perception import is_question, one_line, shorten
from keepsake.language.sourced_text import line_sentences
from keepsake.web.people.telling import Telling

SHORT = 104
"""The most characters of such a part. Builders took in a line of a page with 96 at a glance, and
read one with 109 word by word."""
_CLAUSE_END = re.compile(r"(?<=[,;:–—])\s+|(?<=[、，；：،؛])")
"""The boundary between two clauses, in any script that marks it."""


def gist(text: str, tells: Callable[[str], Telling], most: int = SHORT) -> str:
    """Return the part of a text that tells most; empty if all of it only asks.

    Args:
        tells: Returns how much a part tells.
        most: The most characters of it.
    """
    return max(_parts(one_line(text), most), key=lambda part: (tells(part), -len(part)), default="")


def _parts(text: str, most: int) -> Iterator[str]:
    """Yield the parts of a text that may stand for it."""
    sentences = [*line_sentences(text)]
    for run in _runs(sentences, most):
        yield " ".join(run)
    for sentence in sentences:
        if len(sentence) > most and not is_question(sentence):
            yield from _clauses(sentence, most)


def _runs(sentences: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """Yield the statements that follow one another and together are short enough."""
    for first in range(len(sentences)):
        for last in range(first, len(sentences)):
            run = sentences[first : last + 1]
            if is_question(sentences[last]) or sum(map(len, run)) + last - first > most:
                break
            yield run


def _clauses(sentence: str, most: int) -> Iterator[str]:
    """Yield the parts of a long sentence, with marks where it was cut."""
    clauses = _CLAUSE_END.split(sentence)
    for first in range(len(clauses)):
        for last in range(first, len(clauses)):
            part = " ".join(clauses[first : last + 1])
            begins = "… " if first else ""
            ends = " …" if last < len(clauses) - 1 else ""
            if len(part) > most:
                if first == last:
                    yield begins + shorten(part, most)
                break
            yield f"{begins}{part}{ends}"


def beginning(text: str, most: int = SHORT) -> str:
    """Return as many of the first clauses of a text as are short enough."""
    line = one_line(text)
    if len(line) <= most:
        return line
    ends = [each.start() for each in _CLAUSE_END.finditer(line)]
    end = max((each for each in ends if most // 2 <= each <= most - 2), default=0)
    return f"{line[:end]} …" if end else shorten(line, most)


def ending(text: str, most: int) -> str:
    """Return as many of the last sentences of a text as are short enough: what is answered.

    A mark stands where it was cut. If the last sentence alone is too long, it is cut at its end.
    """
    sentences = [*line_sentences(one_line(text))]
    for first in range(len(sentences)):
        part = " ".join(sentences[first:])
        if len(part) <= most:
            return f"… {part}" if first else part
    return shorten(sentences[-1], most) if sentences else ""
