"""What a compaction lost of its memories, and of the summaries before it.

A compaction has two steps. Memories become a new short-term summary, and the summaries before it
become a new long-term summary. Words may be lost in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from keepsake.archive.records import Memory, Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.language.perception import (
    COMMON_WORDS,
    UNSPACED,
    sentences,
    stem,
    stems,
    words,
)
from keepsake.memory.history import PastCompaction


class Kept(StrEnum):
    """How much of a memory, or of a sentence, a summary has."""

    VERBATIM = "verbatim"
    """All its words, in their order."""
    WHOLE = "whole"
    """All its telling words."""
    PARTLY = "partly"
    """Some of them, at least two in one sentence."""
    GONE = "gone"
    """None of them, or single ones in sentences about something else."""


_ORDER = (Kept.GONE, Kept.PARTLY, Kept.WHOLE, Kept.VERBATIM)
"""The greatest loss first."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What became of a memory that was summarised.

    Attributes:
        missing: Its telling words that no summary has, as written, in order; for a memory that is
            gone, all of them. Telling words are all but stop words, and without the names of those
            who spoke.
    """

    memory: Memory
    kept: Kept
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SentenceLoss:
    """What became of a sentence of a summary that was written anew.

    Attributes:
        tier: The summary in which it stood before.
        text: The sentence.
        missing: As for a memory, in the new summary.
    """

    tier: Tier
    text: str
    kept: Kept
    missing: tuple[str, ...]


_TOGETHER = 2
"""How many words of a memory one sentence has at least, if it tells of that memory."""


class _Sentence:
    """A sentence of a summary, or all of them, in which words are looked for."""

    def __init__(self, text: str) -> None:
        self._stems = stems(text)
        self._folded = text.casefold()

    def has(self, word: str) -> bool:
        return stem(word) in self._stems or (
            UNSPACED.match(word) is not None and word in self._folded
        )


class _Text:
    """A summary's text, in which a memory is looked for."""

    def __init__(self, text: str) -> None:
        self._whole = _Sentence(text)
        self._sentences = [*map(_Sentence, _sentences(text))]
        self._run = _run(text)

    def kept(self, text: str) -> tuple[Kept, tuple[str, ...]]:
        """Return how much of ``text`` it has, and the telling words that it lacks."""
        telling = list(dict.fromkeys(_telling_words(text)))
        missing = tuple(word for word in telling if not self._whole.has(word))
        if missing:
            together = max((sum(map(each.has, telling)) for each in self._sentences), default=0)
            told = together >= min(_TOGETHER, len(telling))
            return (Kept.PARTLY, missing) if told else (Kept.GONE, tuple(telling))
        run = _run(text)
        # Where a language has no spaces between words, any part of a run may be a word.
        found = run.strip() in self._run if UNSPACED.search(run) else run in self._run
        return Kept.VERBATIM if found and run.strip() else Kept.WHOLE, ()


def losses(made: PastCompaction, memories: Sequence[Memory]) -> list[Loss]:
    """Return what became of each memory that a compaction summarised, the greatest loss first.

    ``memories``: Those of ``made.covered``.
    """
    texts = (made.after.longterm, made.after.recent)
    now = _Text("\n".join(each.text for each in texts if each is not None))
    found = [Loss(each, *now.kept(each.words or each.text)) for each in memories]
    return sorted(found, key=lambda each: (_ORDER.index(each.kept), -len(each.missing)))


def summary_losses(made: PastCompaction) -> list[SentenceLoss]:
    """Return what became of the sentences of the summaries before, the greatest loss first.

    A summary that the compaction left as it was is not compared.
    """
    found = list[SentenceLoss]()
    for before in (made.before.longterm, made.before.recent):
        after = before and _covering(made.after, before)
        if before is None or after is None or after.text == before.text:
            continue
        now = _Text(after.text)
        for sentence in _sentences(before.text):
            found.append(SentenceLoss(before.tier, sentence, *now.kept(sentence)))
    return sorted(found, key=lambda each: (_ORDER.index(each.kept), -len(each.missing)))


def _covering(state: SummaryState, before: Summary) -> Summary | None:
    """Return the summary that covers all memories of one before; None if there is none."""
    return next(
        (
            each
            for each in (state.recent, state.longterm)
            if each is not None and each.first <= before.first and before.last <= each.last
        ),
        None,
    )


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a summary that have words, without the marks of its lists."""
    for line in text.splitlines():
        for sentence in sentences(line):
            shown = sentence.strip().lstrip("-*# ").strip()
            if words(shown):
                yield shown


def _run(text: str) -> str:
    """Return the words of a text in small letters, with a space around each."""
    return f" {' '.join(words(text)).casefold()} "


def _telling_words(text: str) -> Iterator[str]:
    return (word for word in words(text) if word.casefold() not in COMMON_WORDS)
