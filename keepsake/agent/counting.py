"""Sees to it that what the ledger has only estimated is counted, beside the game."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any

from keepsake.agent.agent_log import log
from keepsake.agent.tasks import Alarm
from keepsake.errors import ConfigError
from keepsake.models.tokens.counting import ServerTokenCounter
from keepsake.prompt.tokens import TokenLedger

SECONDS = 1.0
BATCH = 256
"""Texts of one round: two full windows, about 80 ms of the embedded model's time."""
SMALLEST_BATCH = 16
"""What a batch shrinks to when it was not counted: a slow server may manage a part in time."""
LONGEST_WAIT = 64
"""Rounds that are left out at most after nobody could count."""


class Counting:
    """Hands uncounted texts to a worker thread, at most once a second.

    All methods belong to the reactor thread.
    """

    def __init__(
        self, ledger: TokenLedger, counter: ServerTokenCounter, workers: Executor, timer: Any
    ) -> None:
        self._ledger = ledger
        self._counter = counter
        self._workers = workers
        self._next = Alarm(timer)
        self._model: str | None = None
        self._busy = False
        self._wait, self._left_out = 0, 0
        self._batch = BATCH

    def start(self) -> None:
        """Begin."""
        self._next.set(SECONDS, self._tick)

    def stop(self) -> None:
        """End; what is being counted now is still learnt."""
        self._next.cancel()

    def _tick(self) -> None:
        self.start()
        self._follow_model()
        if self._busy or not self._ledger.waiting:
            return
        if self._left_out < self._wait:
            self._left_out += 1
            return
        self._left_out, self._busy = 0, True
        try:
            self._workers.submit(self._count, self._ledger.epoch).add_done_callback(self._counted)
        except RuntimeError:  # the threads have ended: so does this
            self.stop()

    def _follow_model(self) -> None:
        """Forget all counts when another model is named: its tokens are others."""
        try:
            model = self._counter.model
        except ConfigError:
            return  # the configuration's own report tells of it
        if model != self._model:
            if self._model is not None:
                self._ledger.forget_counts()
            self._model, self._wait = model, 0

    def _count(self, epoch: int) -> bool:
        """In a worker thread: count one batch; whether it could be."""
        texts = self._ledger.uncounted(self._batch)
        # With its end, as the line that it is in a prompt.
        found = self._counter.count([f"{text}\n" for text in texts])
        if found is None:
            return False
        counts, source = found
        self._ledger.learn(dict(zip(texts, counts, strict=True)), source, epoch)
        return True

    def _counted(self, future: Future[bool]) -> None:
        """In the worker thread: come back sooner or later, with more or less, as it went."""
        if not future.cancelled() and (error := future.exception()) is not None:
            # Nobody else would hear of it: nobody waits for this thread.
            log(f"[Error] Counting tokens failed: {error!r}")
        well = not future.cancelled() and future.exception() is None and future.result()
        if well:
            self._wait, self._batch = 0, min(2 * self._batch, BATCH)
        else:
            self._wait = min(max(1, 2 * self._wait), LONGEST_WAIT)
            self._batch = max(self._batch // 2, SMALLEST_BATCH)
        self._busy = False
