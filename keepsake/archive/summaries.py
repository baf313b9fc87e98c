"""Summaries of memories, and how they become part of archive lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from keepsake.language.sourced_text import Sources, cited_in, sources_of

EDITED = "edited by hand"  # ``model`` of a summary that a person changed in the vault


class Tier(StrEnum):
    """The two summaries; the third tier is the window itself."""

    LONGTERM = "longterm"
    RECENT = "recent"


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of the memories ``first`` … ``last``, both included.

    Attributes:
        sources: By sentence of the text: the memories that it tells, as its writer said; empty if
            the writer said nothing of it, or the text was changed since.
    """

    tier: Tier
    first: int
    last: int
    text: str
    model: str  # its author: a model's name, ``extractive`` or ``edited by hand``
    time: datetime
    tokens_before: int = 0  # estimated tokens of the text that was summarised
    tokens_after: int = 0
    sources: Sources = ()

    def with_text(self, text: str, model: str, **changes: Any) -> Summary:
        """Return the summary with another text, in which only known sentences keep their sources.

        ``model``: Who wrote it. ``changes``: Other fields.
        """
        sources = sources_of(text, self.cited)
        return replace(self, text=text, model=model, sources=sources, **changes)

    @property
    def cited(self) -> Mapping[str, tuple[int, ...]]:
        """The memories that each sentence tells, as its writer said; empty if that is not known."""
        return cited_in(self.text, self.sources)

    def to_record(self) -> dict[str, Any]:
        """Return the summary's part of an archive line of type ``compaction``."""
        record = {
            "from": self.first,
            "to": self.last,
            "text": self.text,
            "model": self.model,
            "t": self.time.isoformat(),
            "tokens_before": self.tokens_before,
            "tokens_after": self.tokens_after,
        }
        if self.sources:
            record["sources"] = [list(each) for each in self.sources]
        return record

    @classmethod
    def from_record(cls, tier: Tier, record: Mapping[str, Any]) -> Summary:
        """Read the summary back from a ``compaction`` line.

        Raises:
            KeyError, ValueError: A field is missing or wrong.
        """
        return cls(
            tier=tier,
            first=int(record["from"]),
            last=int(record["to"]),
            text=str(record["text"]),
            model=str(record["model"]),
            time=datetime.fromisoformat(record["t"]),
            tokens_before=int(record.get("tokens_before", 0)),
            tokens_after=int(record.get("tokens_after", 0)),
            sources=tuple(tuple(map(int, each)) for each in record.get("sources", ())),
        )
