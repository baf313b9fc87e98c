"""What came of an agent's thoughts, for whoever looks at it."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import datetime

from keepsake.agent.thinking.thought import Sent
from keepsake.events.recent_activity import DROPPED, OUTCOMES, Lately
from keepsake.events.types import Thought
from keepsake.ports import Generation

FAILED = ("refused", "no answer", "too large", "broke off")
"""Outcomes of which nothing came in the world; see :class:`keepsake.events.types.Thought`."""
REFUSED_IN_A_ROW = 3
"""Refused answers that mean that something is wrong: one wrong command is everyday life."""


@dataclass(slots=True)
class ThoughtTally:
    """Counts of one agent's thoughts, and the newest of what they led to."""

    # how many thoughts ended in which way since the server started
    outcomes: Counter[str] = field(default_factory=Counter)
    # how many answers, or parts of one, were ``altered``, ``refused`` or ``dropped`` by a guard
    guarded: Counter[str] = field(default_factory=Counter)
    # how its last :data:`OUTCOMES` thoughts ended, the newest last; without ``dropped``. Of before
    # the start as well, as are the three that follow
    recent: deque[str] = field(default_factory=lambda: deque(maxlen=OUTCOMES))
    act: str = ""  # the line of its last act; empty before the first
    acted_at: datetime | None = None  # when that was
    used_before: int = 0  # tokens of the last prompt of before the start
    # the last prompt that was sent since the start; None before the first
    sent: Sent | None = None
    # since when its thought waits, in seconds of the services' timer; None if none is under way
    waits_since: float | None = None
    thoughts: int = 0  # how many were answered, since the server started
    _last: deque[Thought] = field(default_factory=lambda: deque(maxlen=REFUSED_IN_A_ROW))

    @property
    def came_to_an_end(self) -> int:
        """Thoughts since the start that were not dropped: what :attr:`failed` is a part of."""
        return sum(self.outcomes.values()) - self.outcomes[DROPPED]

    @property
    def failed(self) -> int:
        """Thoughts since the start of which nothing came."""
        return sum(self.outcomes[each] for each in FAILED)

    @property
    def recent_failed(self) -> int:
        """Those of :attr:`recent` of which nothing came."""
        return sum(each in FAILED for each in self.recent)

    @property
    def used(self) -> int:
        """Tokens of the last prompt that was sent; 0 if none is known of."""
        return self.sent.costs.used if self.sent is not None else self.used_before

    @property
    def problem(self) -> str:
        """What is wrong with its thinking now; empty if nothing is."""
        last = self._last[-1] if self._last else None
        refused = [each for each in self._last if each.outcome == "refused"]
        once = last in refused and len(refused) < REFUSED_IN_A_ROW
        if last is None or last.outcome not in FAILED or once:
            return ""
        return last.problem or last.outcome

    def ended(self, thought: Thought, answer: Generation | None, now: datetime) -> None:
        """A thought has come to its end."""
        self.outcomes[thought.outcome] += 1
        if answer is not None and self.sent is not None:
            self.sent.answer = answer
        if thought.outcome == DROPPED:
            return
        self.recent.append(thought.outcome)
        self._last.append(thought)
        if thought.outcome == "acted":
            self.act, self.acted_at = thought.command or "", now

    def prime(self, before: Lately) -> None:
        """Take what the event log tells of the time before; what came since stays the newest."""
        room = OUTCOMES - len(self.recent)
        self.recent.extendleft(before.outcomes[:room])
        if self.acted_at is None:
            self.act, self.acted_at = before.act, before.acted_at
        self.used_before = before.used
