"""What a compaction lost: which words of its memories the summaries still have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from keepsake.archive.records import Memory
from keepsake.language.perception import COMMON_WORDS, UNSPACED, stem, stems, words
from keepsake.memory.history import PastCompaction


class Kept(StrEnum):
    """How much of a memory a summary has."""

    WHOLE = "whole"
    """All its telling words."""
    PARTLY = "partly"
    """Some of them."""
    GONE = "gone"
    """None of them."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What became of a memory that was summarised.

    Attributes:
        missing: Its telling words that no summary has, as written, in order. Telling words are all
            but stop words, and without the names of those who spoke.
    """

    memory: Memory
    kept: Kept
    missing: tuple[str, ...]


def losses(made: PastCompaction, memories: Sequence[Memory]) -> list[Loss]:
    """Return what became of each memory that a compaction summarised, the greatest loss first.

    ``memories``: Those of ``made.covered``.
    """
    texts = (made.after.longterm, made.after.recent)
    summary = "\n".join(each.text for each in texts if each is not None)
    known = stems(summary)
    order = {Kept.GONE: 0, Kept.PARTLY: 1, Kept.WHOLE: 2}
    found = (_loss(memory, known, summary.casefold()) for memory in memories)
    return sorted(found, key=lambda each: (order[each.kept], -len(each.missing)))


def _loss(memory: Memory, known: set[str], summary: str) -> Loss:
    telling = list(dict.fromkeys(_telling_words(memory.words or memory.text)))
    missing = [word for word in telling if not _is_in(word, known, summary)]
    return Loss(memory, _kept(len(missing), len(telling)), tuple(missing))


def _kept(missing: int, telling: int) -> Kept:
    if not missing:
        return Kept.WHOLE
    return Kept.PARTLY if missing < telling else Kept.GONE


def _telling_words(text: str) -> Iterator[str]:
    return (word for word in words(text) if word.casefold() not in COMMON_WORDS)


def _is_in(word: str, known: set[str], summary: str) -> bool:
    # Languages without spaces between words have no words to compare: whole runs are looked for.
    return stem(word) in known or (UNSPACED.match(word) is not None and word in summary)
