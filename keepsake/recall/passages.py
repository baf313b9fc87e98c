"""Cuts a long text into passages that an embedding model reads whole.

An embedding model reads the beginning of a long text alone, and one vector of much text resembles
no question. A passage is some sentences; it shares one sentence with the passage before it, so that
what is said across their border is in one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from keepsake.language.perception import sentences
from keepsake.language.tokens import pieces

PASSAGE = 128
"""The most tokens of a passage: the length of the texts on which MiniLM was trained. Some models
read more, but none fewer."""
_LINES = re.compile(r"\n+")
_SPACES = re.compile(r"(?<=\s)|(?<=[^\x00-\u06ff])")
"""Where a sentence that is too long is cut: after a space, or between characters of a script that
has no spaces between words."""


@lru_cache(maxsize=4096)  # a search, the index and a prompt cut the same memories
def passages_of(text: str) -> tuple[str, ...]:
    """Return the passages of a text in order, of up to :data:`PASSAGE` tokens each.

    A text that fits is its only passage, unchanged. Joined, passages are not the text again: they
    overlap, and line breaks become spaces.
    """
    if len(text) <= PASSAGE or pieces(text) <= PASSAGE:  # no token is shorter than a character
        return (text,)
    found = list[str]()
    current = list[str]()
    size = 0
    for each in _parts(text):
        count = pieces(each)
        if current and size + count > PASSAGE:
            found.append(" ".join(current))
            last = current[-1]
            # The shared sentence may not fill a passage by itself.
            shared = len(current) > 1 and pieces(last) + count <= PASSAGE
            current = [last] if shared else []
            size = pieces(last) if shared else 0
        current.append(each)
        size += count
    found.append(" ".join(current))
    return tuple(found)


def _parts(text: str) -> Iterator[str]:
    """Yield the sentences of a text; one that is too long in parts, cut at spaces."""
    for line in _LINES.split(text):
        for sentence in sentences(line):
            if pieces(sentence) <= PASSAGE:
                yield sentence
            else:
                yield from _cut(sentence)


def _cut(sentence: str) -> Iterator[str]:
    """Yield parts of a sentence, each of up to :data:`PASSAGE` tokens."""
    start = 0
    end = 0
    for word in _SPACES.split(sentence):
        if end > start and pieces(sentence[start : end + len(word)]) > PASSAGE:
            yield sentence[start:end].strip()
            start = end
        end += len(word)
    if sentence[start:].strip():
        yield sentence[start:].strip()
