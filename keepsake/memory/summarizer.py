"""Writing summaries: with a language model, or without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from keepsake.memory import extractive
from keepsake.memory.source import Draft, SummarySource
from keepsake.memory.text import numbered
from keepsake.ports import Generation, TargetModel
from keepsake.tasks.summarise import Contradictions, Summarise, SummaryBrief
from keepsake.tasks.task import FALLBACK, Ask, Cost, Question, RefusedAnswer, run
from keepsake.tasks.task_prompts import TaskPrompts

EXTRACTIVE = "extractive"
"""The name of the summarizer that needs no model."""
UNCHANGED = "unchanged"
"""Who wrote a long-term summary that is the short-term one of before: nobody had to be asked."""


class ExtractiveSummarizer:
    """Picks the sentences that tell most; never fails and never invents."""

    def summarize(self, source: SummarySource) -> Draft:
        """Summarise ``source`` without a model."""
        return Draft(extractive.summarize(source.relevant()), EXTRACTIVE)


@dataclass(slots=True)
class _Model:
    """The model of one summary, with what it took and what was not used."""

    ask: Ask
    cost: Cost = field(default_factory=Cost)
    refusals: tuple[RefusedAnswer, ...] = ()

    def __call__(self, build: Callable[[TargetModel], Question]) -> Generation:
        answer = self.ask(build)
        self.cost = self.cost.with_call(answer)
        return answer


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
        source, older, model = source.relevant(), source.older, _Model(self.ask)
        if not source.memories and len(older) == 1 and source.fits(older[0]):
            return Draft(older[0], UNCHANGED)
        while source.memories:
            draft, taken = self._piece(source, model)
            if taken >= len(source.memories):
                return draft
            source = replace(source, older=(draft.text,), memories=source.memories[taken:])
        prompts, brief = self.prompts.of("merge"), self._brief(source)
        merge = Summarise(
            brief, prompts, older, "", lambda _: extractive.summarize(source), merges=True
        )
        merge.contradicted = partial(self._contradicted, model, source.constraints)
        return self._written(merge, model)

    def _piece(self, source: SummarySource, model: _Model) -> tuple[Draft, int]:
        """A summary of as many of the memories as one prompt takes, and how many they are."""

        def by_rules(count: int) -> str:
            return extractive.summarize(replace(source, memories=source.memories[:count]))

        def contradicted(text: str) -> Sequence[str]:
            if task.taken < len(source.memories):  # a later piece is asked about what this one says
                return ()
            return self._contradicted(model, source.constraints, text)

        lines, older = numbered(source.memories), "\n\n".join(source.older)
        prompts = self.prompts.of("summarise")
        task = Summarise(self._brief(source), prompts, lines, older, by_rules)
        task.contradicted = contradicted
        return self._written(task, model), max(task.taken, 1)

    def _contradicted(self, model: _Model, lines: Sequence[str], text: str) -> Sequence[str]:
        """Which of some lines a summary contradicts, as the model that wrote it says."""
        task = Contradictions(self.prompts.of("contradictions"), lines, text)
        return run(task, model).value if lines else ()

    @staticmethod
    def _written(task: Summarise, model: _Model) -> Draft:
        result = run(task, model, forgiving=False)
        model.refusals += result.refusals
        by = EXTRACTIVE if result.by == FALLBACK else result.by
        return Draft(result.value, by, model.cost, model.refusals)

    def _brief(self, source: SummarySource) -> SummaryBrief:
        return SummaryBrief(
            agent=source.agent,
            persona=self.persona,
            wanted=source.strategy.wanted(source.tier, source.agent),
            headings=source.strategy.headings,
            words=source.words,
            most_tokens=source.most_tokens,
            tokens=source.tokens,
            names=self.names,
        )
