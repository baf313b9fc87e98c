"""What each section of one prompt costs, set against the budget."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """One part of a prompt.

    Attributes:
        name: What it is, such as ``window``.
        tokens: What it costs.
    """

    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Costs:
    """What one prompt costs.

    Attributes:
        sections: Its parts, in the order of the prompt.
        budget: Tokens that it may have.
        source: Who counted.
    """

    sections: tuple[Section, ...]
    budget: int
    source: str

    @property
    def used(self) -> int:
        """Tokens of the whole prompt."""
        return sum(section.tokens for section in self.sections)
