"""Answers of the API about what a compaction lost."""

from __future__ import annotations

from keepsake.archive.summaries import Tier
from keepsake.books.editing import EditableBook
from keepsake.tracing.kept import Kept
from keepsake.tracing.standing import Standing
from keepsake.web.pasts.loss_sorts import LossSort
from keepsake.web.shapes import MemoryView, Shape


class ElsewhereView(Shape):
    """Where else a lost memory stands."""

    book: EditableBook | None
    """The agent's book that has it; null if another agent has it."""
    title: str
    """The name of the person, the title of the note, or the name of the other agent; empty for the
    other books."""
    standing: Standing | None
    """In which tier the other agent has it; null for a book."""


class LossView(Shape):
    """What became of a memory that a compaction summarised."""

    memory: MemoryView
    kept: Kept
    missing: tuple[str, ...]
    """Its telling words that no summary has, in order."""
    told: str
    """The sentences of the summaries that tell it, or perhaps tell it; empty if none does."""
    named: tuple[str, ...]
    """Those of the missing words that are names or figures."""
    elsewhere: tuple[ElsewhereView, ...]
    """Where else it stands, if it is gone; only of the 100 greatest losses."""
    sort: LossSort = LossSort.OTHERS
    """Of what sort it is: what others told, what asked for a deed, own, or seen in passing."""


class SentenceLossView(Shape):
    """What became of a sentence of a summary that a compaction wrote anew."""

    tier: Tier
    """The summary in which it stood before."""
    text: str
    kept: Kept
    missing: tuple[str, ...]
    """Its telling words that the new summary does not have, in order."""
    told: str
    """The sentences of the new summary that tell it, or perhaps tell it."""


class UnfoundedView(Shape):
    """A sentence of a new summary that says more than the memories of which it was made."""

    text: str
    missing: tuple[str, ...]
    """Its telling words that none of them has, in order."""
    languages: tuple[str, ...] = ()
    """The other languages of memories that may have these words, such as ``dutch``: then it may say
    no more than they do."""


class LossesView(Shape):
    """What a compaction kept and lost."""

    losses: tuple[LossView, ...]
    """The memories that it summarised, the greatest loss first; at most 1,000."""
    sentences: tuple[SentenceLossView, ...]
    """The sentences of the summaries before that it wrote anew, the greatest loss first; at most
    1,000."""
    unfounded: tuple[UnfoundedView, ...]
    """The sentences of the new short-term summary that say more than the memories tell."""
    named: bool
    """Whether the writer of the summary said which memories each sentence tells. If not, their
    words are compared."""
    complete: bool
    """False if there are more of either."""
