"""Having a summary written so that it may stand: judged, tried once more, or made by rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from keepsake.compaction import truncation
from keepsake.errors import KeepsakeError, SummaryRefused
from keepsake.summaries import verification
from keepsake.summaries.source import Draft, Summarizer, SummarySource
from keepsake.summaries.summarizer import EXTRACTIVE, ExtractiveSummarizer

_TRIES = 2


@dataclass(frozen=True, slots=True)
class SummaryWriter:
    """Writes the summaries of one compaction; called from several threads at once."""

    summarizer: Summarizer
    # whether a model that fails is replaced at once by the summary that needs none; else its
    # failure is the compaction's
    forgiving: bool
    must_keep: tuple[str, ...]  # constraints and open loops: no summary may say the opposite of one
    standing: tuple[str, ...]  # lines that the agent sees anyway, so that no summary need hold them
    log: Callable[[str], None]

    def write(self, source: SummarySource, *, forgiving: bool = False) -> Draft:
        """The summary of ``source``; a bad one is written once more, then made by rules.

        Bad is also one that keeps less than the summary without a model.

        Raises:
            ModelError: No usable answer, and nothing may stand in for it.
            ConfigError: The strategy's template fails.
        """
        drafts: list[Draft] = []
        for _ in range(_TRIES):
            try:
                drafts.append(self.summarizer.summarize(source))
            except SummaryRefused as error:
                self.log(f"{error.what}; a summary without a model stands in")
                break
            except KeepsakeError as error:
                if not (forgiving or self.forgiving):
                    raise
                self.log(f"{error.what}; a summary without a model stands in")
                break
            # One by rules is what would stand in for a bad one: to judge it would change nothing.
            if drafts[-1].model == EXTRACTIVE or not (
                problems := self._problems(drafts[-1], source)
            ):
                return _written(drafts)
            self.log(f"A summary was refused: {'; '.join(problems)}")
        return _written([*drafts, self.by_rules(source)])

    def by_rules(self, source: SummarySource) -> Draft:
        """The summary that needs no model."""
        draft = ExtractiveSummarizer().summarize(source)
        return replace(draft, text=truncation.unmarked(draft.text))

    def held_by(self, lines: tuple[str, ...]) -> tuple[str, ...]:
        """Those constraints and open loops that ``lines`` tell and nothing else does."""
        wanted = tuple(line for line in self.must_keep if line not in self.standing)
        missing = verification.lost(wanted, lines) if wanted else ()
        return tuple(line for line in wanted if line not in missing)

    def _problems(self, draft: Draft, source: SummarySource) -> tuple[str, ...]:
        judged = verification.judge(
            summaries=(draft.text,),
            sources=source.lines,
            visible=(draft.text,),
            must_keep=self.must_keep,
            agent=source.agent,
        )
        if judged.problems or not draft.calls:
            return judged.problems
        extract = self.by_rules(source).text
        return verification.falls_short(draft.text, extract, source.lines, source.agent)


def _written(drafts: list[Draft]) -> Draft:
    """The last of ``drafts``, with what all of them took."""
    text = truncation.unmarked(drafts[-1].text)
    return replace(drafts[-1], text=text, tries=len(drafts)).with_costs(drafts[:-1])
