"""The journal of a day: a model writes what mattered, how much, and which memories say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.archive.records import Memory
from keepsake.ports import TargetModel
from keepsake.tasks import night
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.task import AnswerRefused, Question

VARIABLES = ("name", "lines", "most", "longest", "refused")
MOST_ENTRIES = 12
LONGEST = 400
"""Characters of an entry."""
_ANSWER_TOKENS = 1200
_SCHEMA = night.schema_of(
    "entries",
    MOST_ENTRIES,
    {
        "text": {"type": "string"},
        "importance": {"type": "integer", "minimum": 1, "maximum": 10},
        "memories": night.NUMBERS,
    },
)


@dataclass(frozen=True, slots=True)
class DraftEntry:
    """An entry that a model has written."""

    text: str
    importance: int  # 1 to 10
    memories: tuple[int, ...]  # numbers of those that it rests on


@dataclass(frozen=True, slots=True)
class JournalTask:
    """Asks for the entries of a day.

    Attributes:
        prompts: The template.
        own_name: Whose day it was.
        memories: What happened, as anybody may know of it, the oldest first.
    """

    prompts: Prompts
    own_name: str
    memories: Sequence[Memory]
    name: str = "journal"

    def ask(self, target: TargetModel, refused: str) -> Question:
        """The memories, and what is asked of them."""
        lines = [night.memory_line(each) for each in self.memories]
        return night.question_of(
            self.prompts,
            target,
            max_tokens=_ANSWER_TOKENS,
            json_schema=_SCHEMA,
            name=self.own_name,
            lines=night.newest_that_fit(lines, target),
            most=MOST_ENTRIES,
            longest=LONGEST,
            refused=refused,
        )

    def read(self, answer: str) -> tuple[DraftEntry, ...]:
        """The entries.

        Raises:
            AnswerRefused: It is no such JSON, or an entry cites what was not shown.
        """
        shown = night.numbers_of(self.memories)
        return tuple(
            DraftEntry(night.text_of(each, LONGEST), _importance(each), night.cited(each, shown))
            for each in night.listed_in(answer, "entries")[:MOST_ENTRIES]
        )

    def fallback(self) -> tuple[DraftEntry, ...]:
        """None: what matters by its figure is written down without a model."""
        return ()


def _importance(found: object) -> int:
    given = found.get("importance") if isinstance(found, dict) else None
    if not isinstance(given, int) or not 1 <= given <= 10:
        raise AnswerRefused('The "importance" of an entry is a whole number from 1 to 10')
    return given
