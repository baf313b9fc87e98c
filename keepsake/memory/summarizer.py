"""Writing summaries: with a language model, or without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from keepsake.memory import summary_text
from keepsake.memory.summary_text import ANSWERED, SummarySource, numbered
from keepsake.ports import Generation, TargetModel
from keepsake.tasks.summarise import Contradictions, Summarise, SummaryBrief
from keepsake.tasks.task import FALLBACK, Ask, Cost, Question, RefusedAnswer, run
from keepsake.tasks.task_prompts import TaskPrompts

EXTRACTIVE = "extractive"
"""The name of the summarizer that needs no model."""
UNCHANGED = "unchanged"
"""Who wrote a long-term summary that is the short-term one of before: nobody had to be asked."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A summary, and what it took."""

    text: str
    model: str
    cost: Cost = field(default_factory=Cost)
    refusals: tuple[RefusedAnswer, ...] = ()  # answers that were not used


class Summarizer(Protocol):
    """Writes summaries; called from worker threads, two at a time."""

    def summarize(self, source: SummarySource) -> Draft:
        """Summarise ``source``.

        Raises:
            ModelError: No answer.
            ConfigError: A template fails on these memories.
        """
        ...


class ExtractiveSummarizer:
    """Picks the sentences that tell most; never fails and never invents."""

    def summarize(self, source: SummarySource) -> Draft:
        """Summarise ``source`` without a model."""
        return Draft(summary_text.summarize(source.relevant()), EXTRACTIVE)


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
        source, cost = source.relevant(), Cost()
        if not source.memories and len(source.older) == 1 and source.fits(source.older[0]):
            return Draft(source.older[0], UNCHANGED)

        def ask(build: Callable[[TargetModel], Question]) -> Generation:
            nonlocal cost
            answer = self.ask(build)
            cost = cost.with_call(answer)
            return answer

        refusals: tuple[RefusedAnswer, ...] = ()
        while True:
            task = self._task(source, ask)
            result = run(task, ask, forgiving=False)
            refusals += result.refusals
            rest = source.memories[max(task.taken, 1) :]
            if not rest:
                by = EXTRACTIVE if result.by == FALLBACK else result.by
                return Draft(result.value, by, cost, refusals)
            source = replace(source, older=(result.value,), memories=rest)

    def _task(self, source: SummarySource, ask: Ask) -> Summarise:
        """A summary of as many of the memories as one prompt takes, or of summaries alone."""
        memories, merges = source.memories, not source.memories

        def by_rules(count: int) -> str:
            return summary_text.summarize(replace(source, memories=memories[:count]))

        def contradicted(text: str) -> Sequence[str]:
            """The lines that it contradicts, as the model that wrote it says."""
            if not source.constraints or (not merges and task.taken < len(memories)):
                return ()  # a later piece is asked about what this one says
            prompts = self.prompts.of("contradictions")
            return run(Contradictions(prompts, source.constraints, text), ask).value

        brief = SummaryBrief(
            agent=source.agent,
            persona=self.persona,
            wanted=source.strategy.wanted(source.tier, source.agent),
            headings=source.strategy.headings,
            most_tokens=source.limit_tokens or int(ANSWERED[source.tier] * source.usual_tokens),
            tokens=source.tokens,
            names=self.names,
        )
        name = "merge" if merges else "summarise"
        prompts = self.prompts.of(name)
        lines = source.older if merges else numbered(memories)
        older = "" if merges else "\n\n".join(source.older)
        task = Summarise(brief, prompts, lines, older, by_rules, contradicted, merges, name)
        return task
