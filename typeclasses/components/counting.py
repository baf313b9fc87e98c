"""Sees to it that what the ledger has only estimated is counted, beside the game."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from game.llm.token_counting import TokenCounter
from game.mind.tokens import Ledger

SECONDS = 1.0
BATCH = 256


class Counting:
    """Hands uncounted texts to a worker thread, at most once a second.

    Args:
        ledger: What is known.
        counter: Who counts; blocks.
        workers: The threads that it blocks.
        timer: The reactor, or in tests a clock that is moved by hand.
    """

    def __init__(
        self, ledger: Ledger, counter: TokenCounter, workers: Executor, timer: Any
    ) -> None:
        self._ledger = ledger
        self._counter = counter
        self._workers = workers
        self._timer = timer
        self._next: Any = None

    def start(self) -> None:
        """Begin; on the reactor thread."""
        self._next = self._timer.callLater(SECONDS, self._tick)

    def stop(self) -> None:
        """End; on the reactor thread."""
        if self._next is not None and self._next.active():
            self._next.cancel()
        self._next = None

    def _tick(self) -> None:
        self._next = self._timer.callLater(SECONDS, self._tick)
        if self._ledger.uncounted(1):
            self._workers.submit(self._count)

    def _count(self) -> None:
        texts = self._ledger.uncounted(BATCH)
        found = self._counter.count([f"{text}\n" for text in texts])
        if found is not None:
            counts, source = found
            self._ledger.learn(dict(zip(texts, counts, strict=True)), source)
