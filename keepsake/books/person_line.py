"""What a prompt tells of one person, in a line whose parts can be told one by one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from keepsake.language.perception import for_prompt


@dataclass(frozen=True, slots=True)
class PersonLine:
    """A line such as ``Tom, met 9 November: a miller; told you: 'I look for my sister.'``.

    Attributes:
        about: Who it is, and what the agent makes of them.
        quotes: What they said and did, each group with how the agent knows it: ``told you``.
        limit: The most characters of the line.
    """

    about: str
    quotes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    limit: int = 2_000

    @property
    def text(self) -> str:
        """The line."""
        told = (f"{how}: {', '.join(some)}" for how, some in self.quotes)
        return for_prompt("; ".join([self.about, *told]), limit=self.limit)

    @property
    def parts(self) -> frozenset[str]:
        """The quotes, without how the agent knows them."""
        return frozenset(quote for _, some in self.quotes for quote in some)

    def without(self, told: Collection[str]) -> PersonLine:
        """Return the line without quotes that are told elsewhere."""
        left = ((how, tuple(x for x in some if x not in told)) for how, some in self.quotes)
        return replace(self, quotes=tuple((how, some) for how, some in left if some))
