"""What the search of something typed needs from an embedder: lines near it, and how near."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from keepsake.tracing.typed.gathering import Line


class ComparedLines(Protocol):
    """Some lines beside something typed."""

    @property
    def meaning(self) -> Sequence[float]:
        """How near each line is to it as a whole, a cosine."""

    @property
    def likeness(self) -> Sequence[float]:
        """How like its telling words those of each line are, each word in its context."""

    def like(self, at: int) -> Sequence[float]:
        """Return how near what is said in each line is to what is said in one of them."""


class LineReader(Protocol):
    """Finds lines near something typed, and compares lines with it; blocks."""

    def near(self, typed: str) -> Callable[[], Sequence[Line]]:
        """Begin to look for the memories that are nearest in meaning.

        Returns:
            What waits for them: the best first, none if that is unknown.
        """

    def compare(
        self, typed: str, words: Mapping[str, float], lines: Sequence[tuple[str, str]]
    ) -> ComparedLines | None:
        """Compare lines with something typed; None if that cannot be done now.

        Args:
            typed: What was typed.
            words: Its telling words, stemmed, with what each weighs.
            lines: Of each line, who says it to whom, and what.
        """
