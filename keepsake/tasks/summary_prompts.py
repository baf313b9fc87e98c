"""The parts of the prompts of summaries, and what all of them are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

SYSTEM, TEXT = "system", "text"
"""The parts of both prompts: the rules of the task, and the whole of it for a base model."""
MEMORIES, SUMMARIES = "memories", "summaries"
"""What a chat model is shown as the user's message."""
SUMMARISE_PARTS, MERGE_PARTS = (SYSTEM, MEMORIES, TEXT), (SYSTEM, SUMMARIES, TEXT)
_ALL = frozenset({"agent", "persona", "wanted", "headings", "words", "refused"})
SUMMARISE_VARIABLES, MERGE_VARIABLES = _ALL | {"memories", "older"}, _ALL | {"summaries"}
"""The names that each prompt may use."""


@dataclass(frozen=True, slots=True)
class SummaryBrief:
    """What the writer of a summary is told, whatever it summarises."""

    agent: str
    persona: str  # who that is, a paragraph; empty to leave it out
    wanted: str  # what the summary should be like, as the strategy says
    headings: tuple[str, ...]  # those that it must have
    words: int  # about how many words it may have
    # how many tokens it may have, for the texts that it is made of
    most_tokens: Callable[[tuple[str, ...]], int]
    tokens: Callable[[str], int]  # what a text costs
    names: frozenset[str] = frozenset()  # of the people and places that the game knows

    def values(self, refused: str) -> dict[str, object]:
        """What both prompts may name."""
        return {
            "agent": self.agent,
            "persona": self.persona,
            "wanted": self.wanted,
            "headings": list(self.headings),
            "words": self.words,
            "refused": refused,
        }

    @property
    def stop(self) -> tuple[str, ...]:
        """What ends the answer of a base model."""
        return ("\n# ", "\n---") if self.headings else ("\n#", "\n\n", "\n>")
