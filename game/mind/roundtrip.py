"""Can what was compacted still be told? Questions with known answers, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """A question that one memory answers.

    Attributes:
        text: The question, in words that a search can use.
        answer: The word or words that answer it.
        number: The memory that it was drawn from.
    """

    text: str
    answer: str
    number: int


@dataclass(frozen=True, slots=True)
class Rate:
    """How many questions can still be answered after a compaction.

    Attributes:
        asked: Questions that were drawn.
        prompt: Those that the prompt alone answers.
        recalled: Those that prompt and recall together answer; None if recall was not asked.
    """

    asked: int
    prompt: int
    recalled: int | None = None

    def to_record(self) -> dict[str, Any]:
        """Part of an archive line."""
        return {"asked": self.asked, "prompt": self.prompt, "recalled": self.recalled}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Rate:
        """Read it back."""
        recalled = record.get("recalled")
        return cls(
            asked=int(record["asked"]),
            prompt=int(record["prompt"]),
            recalled=None if recalled is None else int(recalled),
        )
