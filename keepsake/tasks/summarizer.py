"""Writes summaries with a language model, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from keepsake.language.sourced_text import sources_of
from keepsake.memory.summary_text import (
    EXTRACTIVE,
    Draft,
    SummarySource,
    extractive,
    says_something,
)
from keepsake.memory.types import UNCHANGED
from keepsake.ports import Generation, GenerationRequest, RefusedAnswer, TargetModel
from keepsake.tasks.summarise import Contradictions, Summarise
from keepsake.tasks.task import FALLBACK, Ask, run
from keepsake.tasks.task_prompts import Templates

MERGED = 0.5
"""The share of its limit that a long-term summary may fill when it is merged. The rest is room for
the next short-term summary, which then joins it without a call."""


@dataclass(frozen=True)
class ModelSummarizer:
    """Writes summaries with a language model, or by rules after two refused answers."""

    ask: Ask
    prompts: Templates
    names: frozenset[str] = frozenset()  # the people and places that the game knows
    persona: str = ""  # who the agent is, a paragraph

    def __call__(self, source: SummarySource) -> Draft:
        """Summarise ``source``, piece by piece if it is too long for one prompt.

        Raises:
            ModelError: The model does not answer, and no earlier answer can be used.
            ConfigError: A template fails on these memories.
        """
        source = source.relevant()
        answers = list[Generation]()
        if not source.memories:
            together = "\n\n".join(source.older)
            if source.tokens(together) <= source.most_tokens:
                return Draft(together, UNCHANGED, sources=sources_of(together, source.cited))
            if not source.limit_tokens:
                source = replace(source, limit_tokens=int(MERGED * source.most_tokens))
        elif not any(map(says_something, source.memories)):
            return extractive(source)  # a model would be shown no line

        def ask(build: Callable[[TargetModel], GenerationRequest]) -> Generation:
            answers.append(self.ask(build))
            return answers[-1]

        refusals = list[RefusedAnswer]()
        while True:
            held = partial(self._contradicted, ask, source.constraints)
            prompts = self.prompts["summarise" if source.memories else "merge"].current
            task = Summarise(source, prompts, self.persona, self.names, held)
            result = run(task, ask, fall_back=False)
            refusals += result.refusals
            rest = source.memories[max(task.taken, 1) :]
            if not rest:
                by = EXTRACTIVE if result.by == FALLBACK else result.by
                sources = sources_of(result.value, task.cited)
                return Draft(result.value, by, tuple(answers), tuple(refusals), sources)
            source = replace(source, older=(result.value,), memories=rest, cited=task.cited)

    def _contradicted(self, ask: Ask, constraints: Sequence[str], text: str) -> Sequence[str]:
        """Return the constraints that a summary contradicts, according to the same model."""
        prompts = self.prompts["contradictions"].current
        return run(Contradictions(prompts, constraints, text), ask).value
