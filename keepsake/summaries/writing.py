"""Having one summary of a compaction written, and what happens if the model gives no answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from keepsake.compaction import truncation
from keepsake.errors import KeepsakeError
from keepsake.summaries.source import Draft, Summarizer, SummarySource
from keepsake.summaries.summarizer import ExtractiveSummarizer


@dataclass(frozen=True, slots=True)
class SummaryWriter:
    """Writes the summaries of one compaction; called from several threads at once."""

    summarizer: Summarizer
    # whether the summary without a model replaces that of a model which gives no answer; else its
    # failure is the compaction's
    forgiving: bool
    log: Callable[[str], None]

    def write(self, source: SummarySource, *, forgiving: bool = False) -> Draft:
        """The summary of ``source``.

        Raises:
            ModelError: No answer, and nothing may replace it.
            ConfigError: A template fails.
        """
        try:
            draft = self.summarizer.summarize(source)
        except KeepsakeError as error:
            if not (forgiving or self.forgiving):
                raise
            self.log(f"{error.what}; a summary without a model is used")
            return self.by_rules(source)
        for refused in draft.refusals:
            self.log(f"A summary was refused: {refused.reason}")
        return replace(draft, text=truncation.unmarked(draft.text))

    def by_rules(self, source: SummarySource) -> Draft:
        """The summary that needs no model."""
        draft = ExtractiveSummarizer().summarize(source)
        return replace(draft, text=truncation.unmarked(draft.text))
