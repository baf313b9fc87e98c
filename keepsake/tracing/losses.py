"""What a compaction lost of its memories, and of the summaries before it.

A compaction has two steps. Memories become a new short-term summary, and the summaries before it
become a new long-term summary. Words may be lost in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.archive.privacy import is_private
from keepsake.archive.records import Memory, Summary, Tier
from keepsake.archive.tiers import SummaryState
from keepsake.language.languages import language_of
from keepsake.memory.history import PastCompaction
from keepsake.tracing.content import Content, Rarity
from keepsake.tracing.kept import Kept, Summarised, missing_in, summary_sentences

_ORDER = (Kept.GONE, Kept.WHISPERED, Kept.SHORTER, Kept.VERBATIM)
"""The greatest loss first."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What became of a memory that was summarised.

    Attributes:
        missing: Its telling words that no summary has, as written, in order; for a memory that is
            gone or private, all of them. Telling words are all but stop words, and without the
            names of those who spoke.
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


def losses(made: PastCompaction, memories: Sequence[Memory]) -> list[Loss]:
    """Return what became of each memory that a compaction summarised, the greatest loss first.

    ``memories``: Those of ``made.covered``.
    """
    summaries = [each.text for each in (made.after.longterm, made.after.recent) if each is not None]
    language = language_of("\n".join(summaries))
    texts = [each.words or each.text for each in memories]
    rarity = Rarity.among(texts, language)
    now = Summarised("\n".join(summaries), len(memories))
    found = []
    for memory, text in zip(memories, texts, strict=True):
        content = Content(text, rarity, language)
        if is_private(memory):
            kept = Kept.WHISPERED
            missing = tuple(content.parts.values())
        else:
            kept, missing = _kept(content, now)
        found.append(Loss(memory, kept, missing))
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
        sentences = [*summary_sentences(before.text)]
        language = language_of(after.text)
        rarity = Rarity.among(sentences, language)
        now = Summarised(after.text, len(sentences))
        for sentence in sentences:
            kept = _kept(Content(sentence, rarity, language), now)
            found.append(SentenceLoss(before.tier, sentence, *kept))
    return sorted(found, key=lambda each: (_ORDER.index(each.kept), -len(each.missing)))


def _kept(content: Content, now: Summarised) -> tuple[Kept, tuple[str, ...]]:
    """Return how much a summary has of a text, and which of its telling words it lacks."""
    kept = now.kept(content)
    if kept is Kept.VERBATIM:
        return kept, ()
    if kept is Kept.GONE:
        return kept, tuple(content.parts.values())
    return kept, missing_in(now.text, content)


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
