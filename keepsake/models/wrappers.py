"""Decorators over :class:`keepsake.ports.LanguageModel`.

Each is a model itself, so they stack: ``Recording(CircuitBreaker(TimeLimit(Retry(client))))``.
All are safe to use from several threads.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from dataclasses import replace
from functools import partial
from queue import Empty, SimpleQueue

from keepsake.errors import (
    AnswerBroken,
    BadAnswer,
    CallGivenUp,
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelMissing,
    ModelTimeout,
    ModelUnavailable,
)
from keepsake.models.daemon_threads import DaemonThreads
from keepsake.ports import Generation, GenerationRequest, LanguageModel

log = logging.getLogger("keepsake.llm")

_ATTEMPTS = 3
"""Calls in all, where an error may pass."""
_LONGEST_PAUSE = 5.0
_LOOK_SECONDS = 0.1
"""How often somebody who waits looks whether the answer is still wanted."""
_REST = 10.0
"""Seconds until one call may try a server again that was down."""


class Retry:
    """Asks again after an error that may pass: nobody answered, or the server broke.

    A server that is busy (it loads its model, or is asked too often) is waited for as long as the
    time allows, as long as it says, else with pauses that grow. An empty answer is asked for again
    as well, unless a fixed seed would give the same one. A time-out is not: it has cost all the
    time there was. Neither is an answer of which a part was handed on.

    Args:
        inner: The model.
        first_wait: Seconds before the second call; doubles each time.
        seconds: How long a busy server is waited for; 0 where another one may be asked.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        inner: LanguageModel,
        first_wait: float = 0.25,
        seconds: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner, self._first_wait = inner, first_wait
        self._seconds, self._clock = seconds, clock

    def generate(self, request: GenerationRequest) -> Generation:
        """As the inner model; the last error is raised."""
        transient: tuple[type[ModelError], ...] = (ModelUnavailable, ModelFailed)
        if request.seed is None:
            transient += (BadAnswer,)
        work = partial(self._inner.generate, request)
        if request.on_text is not None:
            work = partial(_unbroken, self._inner, request, request.on_text)
        return self.call(work, transient, request.given_up)

    def call[T](
        self,
        work: Callable[[], T],
        transient: tuple[type[ModelError], ...] = (ModelUnavailable, ModelFailed),
        given_up: Callable[[], bool] | None = None,
    ) -> T:
        """What ``work`` gives, at last.

        Raises:
            ModelError: The last one.
        """
        until, pause, left = self._clock() + self._seconds, self._first_wait, _ATTEMPTS
        while True:
            try:
                return work()
            except transient as error:
                left -= 1
                wait, allowed = pause, left > 0
                if isinstance(error, ModelBusy):
                    wait = error.wait or pause
                    patient = self._seconds > 0
                    allowed = self._clock() + wait < until if patient else allowed and wait <= pause
                if not allowed or isinstance(error, CallGivenUp):
                    raise
                _wait(wait, given_up)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _wait(seconds: float, given_up: Callable[[], bool] | None) -> None:
    """Wait so long.

    Raises:
        CallGivenUp: Nobody wants the answer any more.
    """
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if given_up is not None and given_up():
            raise CallGivenUp("The call was given up", "Nobody wants its answer")
        time.sleep(min(left, _LOOK_SECONDS))


def _unbroken(
    inner: LanguageModel, request: GenerationRequest, heard: Callable[[str], None]
) -> Generation:
    """The answer to a request whose pieces are handed on.

    Raises:
        AnswerBroken: It ended when a part of it had been handed on.
    """
    begun = False

    def hand_on(piece: str) -> None:
        nonlocal begun
        begun = True
        heard(piece)

    try:
        return inner.generate(replace(request, on_text=hand_on))
    except ModelTimeout:
        raise
    except ModelError as error:
        if not begun:
            raise
        raise AnswerBroken(f"The answer ended amid its words: {error.what}", error.cure) from error


class TimeLimit:
    """Ends a call after ``seconds``, whatever the inner model does.

    The call runs in a daemon thread; one that is given up ends by the HTTP client's
    own limit, and its answer is dropped. :meth:`abandon` gives up all of them at once.
    """

    def __init__(self, inner: LanguageModel, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._lock = threading.Lock()
        self._threads = DaemonThreads("model-call")
        self._waiting: set[Future[Generation]] = set()
        self._abandoned: ModelError | None = None

    def generate(self, request: GenerationRequest) -> Generation:
        """As the inner model.

        Raises:
            ModelTimeout: There was no answer in time.
        """
        future: Future[Generation] = Future()
        with self._lock:
            if self._abandoned is not None:
                raise self._abandoned
            self._waiting.add(future)
        try:
            if request.on_text is not None:
                return self._streamed(future, request, request.on_text)
            self._threads.run(partial(self._run, future, request))
            return future.result(self._seconds)
        except (TimeoutError, Empty):
            raise ModelTimeout(
                f"There was no answer within {self._seconds:g} s",
                "Raise time_limit in llm.md, or use a smaller model",
            ) from None
        finally:
            with self._lock:
                self._waiting.discard(future)

    def _streamed(
        self, future: Future[Generation], request: GenerationRequest, heard: Callable[[str], None]
    ) -> Generation:
        """The same; pieces are handed on in the thread that asks, and none after its time."""
        until = time.monotonic() + self._seconds
        came: SimpleQueue[str | None] = SimpleQueue()
        ended = False

        def hand_over(piece: str) -> None:
            if ended:  # ends the call, and the server stops writing
                raise CallGivenUp("The call was given up", "Nobody waits for its answer")
            came.put(piece)

        self._threads.run(partial(self._run, future, replace(request, on_text=hand_over)))
        future.add_done_callback(lambda _: came.put(None))
        try:
            while (piece := came.get(timeout=max(until - time.monotonic(), 0.0))) is not None:
                heard(piece)
        finally:
            ended = True
        return future.result()

    def abandon(self, reason: ModelError) -> None:
        """Answer every caller, now and from now on, with ``reason``."""
        with self._lock:
            self._abandoned = reason
            waiting = list(self._waiting)
        for future in waiting:
            settle(future, reason)

    def _run(self, future: Future[Generation], request: GenerationRequest) -> None:
        try:
            answer: Generation | BaseException = self._inner.generate(request)
        except BaseException as error:  # handed to the caller, who raises it
            answer = error
        settle(future, answer)


def settle(future: Future[Generation], answer: Generation | BaseException) -> None:
    """Answer a future; whoever comes second is ignored."""
    with contextlib.suppress(InvalidStateError):
        if isinstance(answer, BaseException):
            future.set_exception(answer)
        else:
            future.set_result(answer)


class CircuitBreaker:
    """Stops asking a server that is down, so that nobody waits for it in vain.

    After ``failures`` in a row the circuit opens: calls fail at once. After
    ten seconds one call may try; when it succeeds the circuit closes. A time-out
    opens nothing: it is the trouble of one call, and the others wait for their turn.

    Args:
        inner: The model.
        failures: Failures in a row that open the circuit.
        clock: Monotonic seconds.
    """

    _COUNTS = (ModelUnavailable, ModelFailed, ModelMissing, AnswerBroken)

    def __init__(
        self,
        inner: LanguageModel,
        failures: int = 3,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._limit = failures
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._opened_at: float | None = None
        self._trying = False
        self._last: ModelError | None = None

    @property
    def is_open(self) -> bool:
        """Whether calls fail at once."""
        return self._opened_at is not None

    def close(self) -> None:
        """Let calls through again, as after the server was seen to answer."""
        with self._lock:
            self._failures, self._opened_at = 0, None

    def generate(self, request: GenerationRequest) -> Generation:
        """As the inner model.

        Raises:
            ModelUnavailable: The circuit is open; says what opened it.
        """
        return self.call(partial(self._inner.generate, request))

    def call[T](self, work: Callable[[], T]) -> T:
        """What ``work`` gives.

        Raises:
            ModelUnavailable: The circuit is open; says what opened it.
        """
        self._enter()
        try:
            answer = work()
        except CallGivenUp:
            self._trying = False
            raise
        except self._COUNTS as error:
            self._failed(error)
            raise
        except BaseException:
            self._leave()
            raise
        self._leave()
        return answer

    def _enter(self) -> None:
        with self._lock:
            if self._opened_at is None:
                return
            left = self._opened_at + _REST - self._clock()
            if left > 0 or self._trying:
                what = self._last.what if self._last else "The model server failed"
                cure = self._last.cure if self._last else ""
                raise ModelUnavailable(f"{what} (asked again in {max(left, 0):.0f} s)", cure)
            self._trying = True

    def _leave(self) -> None:
        """An answer, or an error that is not the server's fault: it is there."""
        with self._lock:
            if self._opened_at is not None:
                log.info("[Model] The model answers again")
            self._failures, self._opened_at, self._trying = 0, None, False

    def _failed(self, error: ModelError) -> None:
        with self._lock:
            self._failures += 1
            self._last, self._trying = error, False
            if self._failures >= self._limit:
                if self._opened_at is None:
                    log.warning("[Model] Not asking for %g s: %s", _REST, error)
                self._opened_at = self._clock()
