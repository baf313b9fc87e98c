"""Counts what happens in a simulation while it happens, and sees when its model is gone."""

from __future__ import annotations

import threading

from game.mind.errors import KeepsakeError
from game.mind.events.types import Compaction, Event, Fault, MemoryChange, Thought

MOST_FAILURES = 12
"""Thoughts without an answer in a row, of whatever agents, after which nobody waits any more."""


class EventTally:
    """Counts the events of one stretch; told in any thread."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(
            ("thoughts", "tokens", "memories", "compactions", "unanswered", "faults"), 0
        )
        self._in_a_row, self._problem = 0, ""

    def count(self, event: Event) -> None:
        """Count an event."""
        with self._lock:
            if isinstance(event, Thought):
                self._thought(event)
            elif isinstance(event, MemoryChange) and event.op == "append":
                self._counts["memories"] += 1
            elif isinstance(event, Compaction) and event.number:
                self._counts["compactions"] += 1
            elif isinstance(event, Fault):
                self._counts["faults"] += 1

    def figures(self) -> dict[str, object]:
        """The counts so far."""
        with self._lock:
            return dict(self._counts)

    def check(self) -> None:
        """Go on.

        Raises:
            KeepsakeError: The model has not answered for a long time.
        """
        with self._lock:
            gone, problem = self._in_a_row >= MOST_FAILURES, self._problem
        if gone:
            raise KeepsakeError(
                f"The model has not answered {MOST_FAILURES} thoughts in a row: {problem}",
                f"Start its server, then go on: keepsake simulate --resume {self._name}",
            )

    def _thought(self, event: Thought) -> None:
        if event.outcome == "no answer":
            self._counts["unanswered"] += 1
            self._in_a_row, self._problem = self._in_a_row + 1, event.problem
        elif event.completion_tokens:
            self._in_a_row = 0
            self._counts["thoughts"] += 1
            self._counts["tokens"] += event.prompt_tokens + event.completion_tokens
