"""The journal of a day: a model writes what mattered, how much, and which memories say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keepsake.archive.records import Memory
from keepsake.tasks import night
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.task import AnswerRefused

VARIABLES = ("name", "lines", "most", "longest", "refused")
MOST_ENTRIES = 12
LONGEST = 400
"""Characters of an entry."""


@dataclass(frozen=True, slots=True)
class DraftEntry:
    """An entry that a model has written."""

    text: str
    importance: int  # 1 to 10
    memories: tuple[int, ...]  # numbers of those that it rests on


class JournalTask(night.NightTask[tuple[DraftEntry, ...]]):
    """Asks for the entries of a day; ``memories`` may be known to anybody, the oldest first."""

    name, answer_tokens = "journal", 1200
    schema = night.schema_of(
        "entries",
        MOST_ENTRIES,
        {
            "text": {"type": "string"},
            "importance": {"type": "integer", "minimum": 1, "maximum": 10},
            "memories": night.NUMBERS,
        },
    )

    def __init__(self, prompts: Prompts, own_name: str, memories: Sequence[Memory]) -> None:
        lines = [night.memory_line(each) for each in memories]
        super().__init__(prompts, own_name, lines, most=MOST_ENTRIES, longest=LONGEST)
        self._shown = frozenset(each.number for each in memories)

    def read(self, answer: str) -> tuple[DraftEntry, ...]:
        """The entries; none may cite what was not shown."""
        return tuple(
            DraftEntry(
                night.text_of(each, LONGEST), _importance(each), night.cited(each, self._shown)
            )
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
