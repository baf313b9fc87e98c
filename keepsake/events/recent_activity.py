"""What agents did last, from the newest part of the event log: for those who count anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from keepsake.events.reader import id_of, newest_first, time_of
from keepsake.json_lines import Record

MOST_BYTES = 16_000_000
"""How far the log is read back, from its end: a third of a second of one core."""
OUTCOMES = 20
"""The newest thoughts of each agent whose outcomes are told."""
DROPPED = "dropped"
"""What is no failure and no success: nobody needed the thought any more."""


@dataclass(slots=True)
class RecentActivity:
    """The newest that the log tells of one agent."""

    # how its last thoughts ended, the newest first; without ``dropped``
    outcomes: list[str] = field(default_factory=list)
    act: str = ""  # the line of its last act; empty if none is known
    acted_at: datetime | None = None  # when that was, with time zone; None if none is known
    used: int = 0  # tokens of its last prompt by our own count; 0 if none is known

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
        self.used = self.used or tokens_of(thought)


def recent_activity(
    log: Path, agent_ids: Sequence[int], before: datetime, most: int = MOST_BYTES
) -> list[RecentActivity]:
    """What those agents did last; blocks.

    Returns:
        One for each agent, in their order.

    Raises:
        OSError: The log cannot be read.
    """
    found = {agent_id: RecentActivity() for agent_id in agent_ids}
    left = set(agent_ids)
    for record in newest_first(log, kind="thought", most=most):
        agent_id, at = id_of(record), time_of(record.get("t"))
        if at is not None and at < before and agent_id in left:
            found[agent_id].take(record, at)
            if found[agent_id].whole:
                left.discard(agent_id)
                if not left:
                    break
    return [found[agent_id] for agent_id in agent_ids]


def tokens_of(thought: Record) -> int:
    """Tokens of a thought's prompt by our own count; 0 if none was built."""
    sections = thought.get("sections")
    counts = sections.values() if isinstance(sections, dict) else ()
    return sum(each for each in counts if isinstance(each, int))
