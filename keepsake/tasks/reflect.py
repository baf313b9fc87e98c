"""Reflection: a model says what follows from several entries of a journal together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.ports import TargetModel
from keepsake.tasks import night
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.task import Question

VARIABLES = ("name", "lines", "known", "most", "longest", "refused")
LONGEST = 300
"""Characters of an insight."""
LEAST_CITED = 2
_ANSWER_TOKENS = 500


@dataclass(frozen=True, slots=True)
class Insight:
    """What an agent made of several memories."""

    text: str
    memories: tuple[int, ...]  # numbers of those that it rests on, ascending; two at least


@dataclass(frozen=True, slots=True)
class ReflectTask:
    """Asks for insights.

    Attributes:
        prompts: The template.
        own_name: Who reflects.
        lines: Entries with the numbers of their memories, the oldest first.
        known: Insights of before.
        numbers: All the memory numbers that stand in them.
        most: The most insights.
    """

    prompts: Prompts
    own_name: str
    lines: Sequence[str]
    known: Sequence[str]
    numbers: frozenset[int]
    most: int
    name: str = "reflect"

    def ask(self, target: TargetModel, refused: str) -> Question:
        """The entries, and what is asked of them."""
        fields = {"text": {"type": "string"}, "memories": night.NUMBERS}
        return night.question_of(
            self.prompts,
            target,
            max_tokens=_ANSWER_TOKENS,
            json_schema=night.schema_of("insights", self.most, fields),
            name=self.own_name,
            lines=night.newest_that_fit(self.lines, target),
            known=self.known,
            most=self.most,
            longest=LONGEST,
            refused=refused,
        )

    def read(self, answer: str) -> tuple[Insight, ...]:
        """The insights.

        Raises:
            AnswerRefused: It is no such JSON, or an insight cites too little, or what was not
                shown.
        """
        return tuple(
            Insight(night.text_of(each, LONGEST), night.cited(each, self.numbers, LEAST_CITED))
            for each in night.listed_in(answer, "insights")[: self.most]
        )

    def fallback(self) -> tuple[Insight, ...]:
        """None: without a model an agent does not reflect."""
        return ()
