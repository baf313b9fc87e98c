"""What agents did last, from the newest part of the event log: for whoever begins to count anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from keepsake.events.agent_names import Names, id_of, time_of
from keepsake.events.reader import newest_first
from keepsake.json_lines import Record

MOST_BYTES = 16_000_000
"""How far the log is read back, from its end: a third of a second of one core."""
OUTCOMES = 20
"""The newest thoughts of each agent whose outcomes are told."""
DROPPED = "dropped"
"""What is no failure and no success: nobody needed the thought any more, or the model was asked
first if the agent knows the answer."""


@dataclass(slots=True)
class Lately:
    """The newest that the log tells of one agent."""

    # how its last thoughts ended, the newest first; without ``dropped``
    outcomes: list[str] = field(default_factory=list)
    act: str = ""  # the line of its last act; empty if none is told of
    acted_at: datetime | None = None  # when that was, with time zone; None if none is told of
    used: int = 0  # tokens of its last prompt by our own count; 0 if none is told of

    @property
    def whole(self) -> bool:
        """Whether nothing older can add to it."""
        return len(self.outcomes) == OUTCOMES and self.acted_at is not None and self.used > 0

    def take(self, thought: Record, at: datetime) -> None:
        """Add a thought that is older than all before."""
        outcome = str(thought.get("outcome"))
        if outcome != DROPPED and len(self.outcomes) < OUTCOMES:
            self.outcomes.append(outcome)
        if outcome == "acted" and self.acted_at is None:
            self.act, self.acted_at = str(thought.get("command") or ""), at
        self.used = self.used or _tokens(thought.get("sections"))


def lately(
    log: Path, agents: Sequence[Names], before: datetime, most: int = MOST_BYTES
) -> list[Lately]:
    """What those agents did last; blocks.

    Returns:
        One for each agent, in their order.

    Raises:
        OSError: The log cannot be read.
    """
    found = [Lately() for _ in agents]
    left = dict(zip(agents, found, strict=True))
    for record in newest_first(log, holding=('"kind":"thought"',), most=most):
        at = time_of(record.get("t"))
        if at is None or at >= before or record.get("kind") != "thought":
            continue
        name, agent_id = str(record.get("agent")), id_of(record)
        when = partial(time_of, record.get("t"))
        for names, lived in [*left.items()]:
            if names.bore(name, when, agent_id):
                lived.take(record, at)
                if lived.whole:
                    del left[names]
        if not left:
            break
    return found


def _tokens(sections: Any) -> int:
    counts = sections.values() if isinstance(sections, dict) else ()
    return sum(each for each in counts if isinstance(each, int))
