"""Typed words that are names of things, as their capitals tell: *the Patience*, a ship."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from keepsake.language.capitals import capitalised
from keepsake.language.perception import stem
from keepsake.tracing.past import Archived
from keepsake.tracing.texts import lines_with
from keepsake.tracing.wording import Wording

_MOST_READ = 200
"""The newest lines of each agent that are read for a name: of more, it is an everyday word."""


def with_proper(archives: Mapping[str, Archived], wording: Wording) -> Wording:
    """Return typed words of which is known whose capitals count; blocks.

    A capital counts if it was typed within the words, and somebody said the word with a capital
    within a sentence.

    Args:
        archives: The agents' archives, by key.
    """
    typed = {stem(word) for way in wording.typed for word in capitalised(way)}
    return wording.with_proper(frozenset(each for each in typed if _is_said(each, archives)))


def _is_said(word: str, archives: Mapping[str, Archived]) -> bool:
    """Whether some line has a word with a capital within a sentence."""
    return any(
        stem(said) == word
        for archived in archives.values()
        for line in islice(_lines(word, archived), _MOST_READ)
        for said in capitalised(line)
    )


def _lines(word: str, archived: Archived) -> Iterator[str]:
    """Yield what an agent remembers that has a word, newest first, as it was said."""
    for segment in reversed(archived.texts.of(archived.folder)):
        places = [place for place, _ in lines_with(segment.text, word)]
        for memory in segment.memories(reversed(places)):
            yield memory.words or memory.text
