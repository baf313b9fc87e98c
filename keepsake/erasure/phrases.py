"""Finds a set of phrases in texts: word by word, in any case, whatever stands between the words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from keepsake.language.perception import WORD, sentences, words

type Phrase = tuple[str, ...]
"""Words in lower case, in their order."""

RUN = 4
"""Words in a row that count as somebody's own words. Three are too often a coincidence."""
RUN_LETTERS = 16
"""The fewest letters of a run. Four short common words in a row are nobody's own."""
_END = ""
"""The key in a node of the tree under which a phrase ends. No word is empty."""


def terms(text: str) -> Phrase:
    """Return the words of a text in lower case."""
    return tuple(word.casefold() for word in words(text))


def runs(found: Sequence[str]) -> Iterator[Phrase]:
    """Yield every :data:`RUN` words in a row that have at least :data:`RUN_LETTERS` letters."""
    for start in range(len(found) - RUN + 1):
        run = tuple(found[start : start + RUN])
        if sum(map(len, run)) >= RUN_LETTERS:
            yield run


def quotable(text: str) -> Iterator[Phrase]:
    """Yield what would be a quotation of a text: its runs, and its sentences of four words."""
    yield from runs(terms(text))
    for sentence in sentences(text):
        found = terms(sentence)
        if len(found) >= RUN:
            yield found


class PhraseSet:
    """A set of phrases. Its search takes as long for ten thousand phrases as for ten."""

    def __init__(self, phrases: Iterable[Phrase] = ()) -> None:
        self._tree: dict[str, Any] = {}
        for phrase in phrases:
            self.add(phrase)

    def __bool__(self) -> bool:
        return bool(self._tree)

    def __iter__(self) -> Iterator[Phrase]:
        """Yield all phrases."""
        waiting: list[tuple[Phrase, dict[str, Any]]] = [((), self._tree)]
        while waiting:
            phrase, node = waiting.pop()
            for word, below in node.items():
                if word == _END:
                    yield phrase
                else:
                    waiting.append(((*phrase, word), below))

    def add(self, phrase: Phrase) -> None:
        """Add a phrase; an empty one is ignored."""
        node = self._tree
        for word in phrase:
            node = node.setdefault(word, {})
        if phrase:
            node[_END] = True

    def longest_at(self, found: Sequence[str], start: int) -> int:
        """Return the length of the longest phrase that begins at word ``start``; 0 for none."""
        node = self._tree
        longest = 0
        for index in range(start, len(found)):
            if (below := node.get(found[index])) is None:
                break
            node = below
            if _END in node:
                longest = index - start + 1
        return longest

    def is_in(self, found: Sequence[str]) -> bool:
        """Return whether any phrase is in these words."""
        return any(self.longest_at(found, start) for start in range(len(found)))


_GLUED = re.compile(r"\\[nrtbf]")
"""An escaped line break or tab in a line of JSON. Its letter is not a part of the next word."""


def words_with_places(line: str) -> list[re.Match[str]]:
    """Return the words of a line of a log, which may be JSON, with their places."""
    return [*WORD.finditer(_GLUED.sub("  ", line))]
