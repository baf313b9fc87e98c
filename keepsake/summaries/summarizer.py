"""Writing summaries: with a language model, or without one."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from keepsake.archive.records import Memory
from keepsake.recall.related import about_memory
from keepsake.summaries import extractive
from keepsake.summaries.lines import numbered
from keepsake.summaries.source import Draft, SummarySource
from keepsake.tasks.merge import Merge
from keepsake.tasks.summarise import Summarise
from keepsake.tasks.summary_prompts import SummaryBrief
from keepsake.tasks.task import FALLBACK, Ask, TaskResult, run
from keepsake.tasks.task_prompts import TaskPrompts

EXTRACTIVE = "extractive"
"""The name of the summarizer that needs no model."""


class ExtractiveSummarizer:
    """Picks the sentences that tell most; never fails and never invents."""

    def summarize(self, source: SummarySource) -> Draft:
        """Summarise ``source`` without a model."""
        began = time.perf_counter()
        text = extractive.summarize(_relevant(source))
        return Draft(text, EXTRACTIVE, seconds=time.perf_counter() - began)


UNCHANGED = "unchanged"
"""Who wrote a long-term summary that is the short-term one of before: nobody had to be asked."""


@dataclass(frozen=True)
class ModelSummarizer:
    """Has a language model write the summary; one that is refused twice is made without it."""

    ask: Ask
    prompts: TaskPrompts
    names: frozenset[str] = frozenset()  # of the people and places that the game knows
    persona: str = ""  # who the agent is, a paragraph

    def summarize(self, source: SummarySource) -> Draft:
        """Summarise ``source``, piece by piece where it is too long for one prompt.

        Raises:
            ModelError: No answer.
            ConfigError: A template fails on these memories.
        """
        source = _relevant(source)
        return self._summarised(source) if source.memories else self._merged(source)

    def _summarised(self, source: SummarySource) -> Draft:
        drafts: list[Draft] = []
        older, left = "\n\n".join(source.older), list(source.memories)
        while left:

            def by_rules(
                count: int, before: str = older, some: tuple[Memory, ...] = tuple(left)
            ) -> str:
                piece = replace(source, older=(before,) if before else (), memories=some[:count])
                return extractive.summarize(piece)

            prompts = self.prompts.of("summarise")
            task = Summarise(self._brief(source), prompts, numbered(left), older, by_rules)
            drafts.append(_draft(run(task, self.ask, forgiving=False)))
            older, left = drafts[-1].text, left[max(task.taken, 1) :]
        return drafts[-1].with_costs(drafts[:-1])

    def _merged(self, source: SummarySource) -> Draft:
        def by_rules() -> str:
            return extractive.summarize(source)

        if len(source.older) == 1 and source.fits(source.older[0]):
            return Draft(source.older[0], UNCHANGED)
        prompts = self.prompts.of("merge")
        task = Merge(self._brief(source), prompts, source.older, by_rules)
        return _draft(run(task, self.ask, forgiving=False))

    def _brief(self, source: SummarySource) -> SummaryBrief:
        return SummaryBrief(
            agent=source.agent,
            persona=self.persona,
            wanted=source.way.wanted(source.tier, source.agent),
            headings=source.way.headings,
            words=source.words,
            most_tokens=source.most_tokens,
            tokens=source.tokens,
            names=self.names,
        )


def _draft(result: TaskResult[str]) -> Draft:
    cost = result.cost
    return Draft(
        result.value,
        EXTRACTIVE if result.by == FALLBACK else result.by,
        cost.calls,
        cost.prompt_tokens,
        cost.completion_tokens,
        cost.seconds,
        result.refusals,
    )


def _relevant(source: SummarySource) -> SummarySource:
    """Without what the agent did with its own memory, unless there is nothing else."""
    kept = tuple(memory for memory in source.memories if not about_memory(memory))
    return replace(source, memories=kept) if kept or source.older else source
