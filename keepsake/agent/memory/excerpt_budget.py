"""The room that a prompt has for what was found, and what each line of it costs as it is shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from keepsake.agent.memory.talks import belongs
from keepsake.archive.records import Memory
from keepsake.tasks.conversation import excerpt_heading, excerpt_line

type CountTokens = Callable[[str], int]
"""Returns the tokens of a line of a prompt."""


class ExcerptBudget:
    """How many tokens are left of a budget, while lines are chosen one by one.

    A talk costs its heading once, however many of its memories are shown.

    Args:
        budget: The tokens of all lines together.
        count: Counts the tokens of a line.
        now: When the prompt is read, on which headings depend.
    """

    def __init__(self, budget: int, count: CountTokens, now: datetime) -> None:
        self._left = budget
        self._count = count
        self._now = now
        self._talks = list[dict[int, Memory]]()

    def takes(self, line: str) -> bool:
        """Return whether there was room for a line of its own, which is taken then."""
        return self._takes(self._count(f"- {line}"))

    def takes_memory(self, memory: Memory, passage: str = "") -> bool:
        """Return whether there was room for a memory in an excerpt, which is taken then.

        ``passage``: What is shown of a long memory; empty for its beginning.
        """
        cost = self._count(excerpt_line(memory, passage=passage))
        talk = next((each for each in self._talks if belongs(memory, each)), None)
        if talk is None:
            cost += self._count(f"- {excerpt_heading(memory, self._now)}")
        if not self._takes(cost):
            return False
        if talk is None:
            talk = {}
            self._talks.append(talk)
        talk[memory.number] = memory
        return True

    def _takes(self, cost: int) -> bool:
        if cost > self._left:
            return False
        self._left -= cost
        return True
