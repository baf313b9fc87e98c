"""Reflection: a model says what follows from several entries of a journal together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.tasks import night
from keepsake.tasks.prompt_file import Prompts

VARIABLES = ("name", "lines", "known", "most", "longest", "refused")
LONGEST = 300
"""Characters of an insight."""
LEAST_CITED = 2


@dataclass(frozen=True, slots=True)
class Insight:
    """What an agent made of several memories."""

    text: str
    memories: tuple[int, ...]  # numbers of those that it rests on, ascending; two at least


class ReflectTask(night.NightTask[tuple[Insight, ...]]):
    """Asks for insights.

    Args:
        prompts: The template.
        own_name: Who reflects.
        lines: Entries with the numbers of their memories, the oldest first.
        known: Insights of before.
        numbers: All the memory numbers that stand in them.
        most: The most insights.
    """

    name, answer_tokens = "reflect", 500

    def __init__(  # noqa: PLR0917 - each is another thing, and none can be left out
        self,
        prompts: Prompts,
        own_name: str,
        lines: Sequence[str],
        known: Sequence[str],
        numbers: frozenset[int],
        most: int,
    ) -> None:
        super().__init__(prompts, own_name, lines, known=known, most=most, longest=LONGEST)
        self._numbers, self._most = numbers, most
        fields = {"text": {"type": "string"}, "memories": night.NUMBERS}
        self.schema = night.schema_of("insights", most, fields)

    def read(self, answer: str) -> tuple[Insight, ...]:
        """The insights; each cites two memories at least, and none that was not shown."""
        return tuple(
            Insight(night.text_of(each, LONGEST), night.cited(each, self._numbers, LEAST_CITED))
            for each in night.listed_in(answer, "insights")[: self._most]
        )

    def fallback(self) -> tuple[Insight, ...]:
        """None: without a model an agent does not reflect."""
        return ()
