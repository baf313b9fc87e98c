"""Summaries of older memories: made, taken back, read."""

from __future__ import annotations

from keepsake.archive.summaries import Tier
from keepsake.events.values import CompactReason
from keepsake.library.results import Summaries
from keepsake.library.verbs.shared import OfMemory
from keepsake.memory.types import CompactionResult, UndoResult


class Summarising(OfMemory):
    """The verbs ``compact``, ``undo`` and ``summaries``."""

    def compact(self) -> CompactionResult:
        """Summarise the older memories now; blocks while the model writes.

        It is done in the background anyway when it is due. Nothing is lost: the archive keeps every
        memory, and :meth:`undo` takes the summary back.

        Returns:
            What was done; its ``outcome`` is ``nothing`` if the memories are too few.

        Raises:
            CompactionError: Nothing was changed; the message says why.
        """
        with self._gate.together():
            return self._opened.compact(CompactReason.MANUAL)

    def undo(self) -> UndoResult:
        """Take the last compaction back; may be repeated.

        Raises:
            CompactionError: There is none.
        """
        with self._gate.together():
            return self._opened.undo()

    def summaries(self) -> Summaries:
        """Return both summaries, and which memories prompts show word for word."""
        with self._gate.together():
            view = self._opened.memory.tiers.view()
        texts = {tier: view.state.summary(tier) for tier in Tier}
        window = (view.window[0].number, view.window[-1].number) if view.window else (0, 0)
        longterm = texts[Tier.LONGTERM]
        recent = texts[Tier.RECENT]
        return Summaries(longterm.text if longterm else "", recent.text if recent else "", window)
