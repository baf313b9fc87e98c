"""What each agent did, added up over a whole event log, and kept up while that is written on."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from game.web.live.slices import ENDED
from keepsake.events.agent_names import id_of, time_of
from keepsake.events.reader import EventFollower, events, newest_first
from keepsake.events.recent_activity import OUTCOMES
from keepsake.events.types import Sleep, Thought
from keepsake.json_lines import Record

_COUNTED = tuple(f'"kind":"{each.kind}"' for each in (Sleep, Thought))
"""Lines of other kinds are not even parsed."""


@dataclass(slots=True)
class Doings:
    """What one agent did."""

    ended: int = 0  # thoughts that came to an end
    failed: int = 0  # those of them of which nothing came
    answered: int = 0  # those that a model answered
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=OUTCOMES))  # failed or not
    problem: str = ""  # why nothing came of its last thought; empty if something did
    act: str = ""  # the line of its last act
    acted_at: datetime | None = None
    used: int = 0  # tokens of its last prompt, by our own count
    budget: int = 0  # what that might have
    asleep: bool = False

    def take(self, record: Record) -> None:
        """Add one event of this agent."""
        match record.get("kind"):
            case Sleep.kind if record.get("op") in ("falls asleep", "wakes"):
                self.asleep = record["op"] == "falls asleep"
            case Thought.kind if record.get("outcome") in ENDED:
                self._thought(record)

    def _thought(self, record: Record) -> None:
        failed = record["outcome"] != "acted"
        self.ended += 1
        self.failed += failed
        self.answered += bool(record.get("model"))
        self.recent.append(failed)
        self.problem = str(record.get("problem") or "") if failed else ""
        self.budget = int(record.get("budget") or 0) or self.budget
        if tokens := sum(int(each) for each in (record.get("sections") or {}).values()):
            self.used = tokens
        if not failed:
            self.act, self.acted_at = str(record.get("command") or ""), time_of(record.get("t"))


class Tallies:
    """The doings of all agents of one log; safe to ask from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._doings: dict[str | int, Doings] = defaultdict(Doings)
        self._follower: EventFollower | None = None
        self._last: datetime | None = None

    def of(self, number: int, name: str) -> Doings:
        """Those of the agent with that number, or in lines without one, of that name; blocks.

        Raises:
            OSError: The log cannot be read.
        """
        with self._lock:
            self._catch_up()
            return self._doings.get(number) or self._doings.get(name.casefold()) or Doings()

    def last(self) -> datetime | None:
        """The time of the newest event; None for an empty log.

        Raises:
            OSError: The log cannot be read.
        """
        with self._lock:
            if self._follower is None:  # the end alone is quick to find
                newest = next(newest_first(self._folder), None)
                return time_of(newest.get("t")) if newest else None
            self._catch_up()
            return self._last

    def _catch_up(self) -> None:
        if self._follower is None:
            self._doings.clear()  # of a first reading that broke off
            newest = next(newest_first(self._folder), None)
            number = int(newest["seq"]) if newest else 0
            for record in events(self._folder, any_of=_COUNTED):
                if record["seq"] <= number:  # what comes meanwhile is followed
                    self._take(record)
            self._last = time_of(newest.get("t")) if newest else None
            self._follower = EventFollower(self._folder, number)
        for record in self._follower.added():
            self._take(record)

    def _take(self, record: Record) -> None:
        if (agent := record.get("agent")) and isinstance(agent, str):
            with suppress(AttributeError, TypeError, ValueError):
                # A line that somebody has edited, or of a later version, says nothing.
                self._doings[id_of(record) or agent.casefold()].take(record)
        self._last = time_of(record.get("t")) or self._last
