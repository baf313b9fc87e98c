"""What came of an agent's thoughts since the server started, for whoever looks at it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from game.mind.budget import Costs
from game.mind.events import Thought
from game.mind.ports import Generation
from game.mind.prompt import Rendered

FAILED = ("refused", "no answer", "too large", "broke off")
"""Outcomes of which nothing came in the world; see :class:`game.mind.events.Thought`."""


@dataclass(slots=True)
class LastSent:
    """The last prompt that was sent for an agent.

    Attributes:
        at: When.
        trigger: What the thought was about: ``addressed``, ``idle`` …
        source: Who caused it; empty for nobody.
        prompt: The prompt, with the section of each line.
        costs: What its sections cost.
        answer: What came; None until it has.
    """

    at: datetime
    trigger: str
    source: str
    prompt: Rendered
    costs: Costs
    answer: Generation | None = None


@dataclass(slots=True)
class Tally:
    """Counts of one agent's thoughts, and the newest of what they led to.

    Attributes:
        outcomes: How many thoughts ended in which way.
        act: The line of its last act; empty before the first.
        acted_at: When that was.
        problem: Why the last thought came to nothing; empty if something came of it.
        sent: The last prompt that was sent; None before the first.
        waits_since: Since when its thought waits, in seconds of the services' timer; None if
            none is under way.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    act: str = ""
    acted_at: datetime | None = None
    problem: str = ""
    sent: LastSent | None = None
    waits_since: float | None = None

    @property
    def failed(self) -> int:
        """Thoughts of which nothing came."""
        return sum(self.outcomes[each] for each in FAILED)

    def ended(self, thought: Thought, answer: Generation | None, now: datetime) -> None:
        """A thought has come to its end.

        Args:
            thought: How it ended.
            answer: What the model said; None for nothing.
            now: When.
        """
        self.outcomes[thought.outcome] += 1
        if answer is not None and self.sent is not None:
            self.sent.answer = answer
        if thought.outcome == "acted":
            self.act, self.acted_at = thought.command or "", now
        if thought.outcome in FAILED:
            self.problem = thought.problem or thought.outcome
        elif thought.outcome != "dropped":
            self.problem = ""
