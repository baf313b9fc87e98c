"""One call to a model: waited for, asked again after what may pass, and counted."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from keepsake.errors import (
    AnswerBroken,
    BadAnswer,
    CallGivenUp,
    ModelBusy,
    ModelError,
    ModelFailed,
    ModelTimeout,
    ModelUnavailable,
)
from keepsake.models.clients.http import within
from keepsake.models.status import Recorder
from keepsake.ports import Generation, GenerationRequest, LanguageModel

_ATTEMPTS = 3
"""Calls in all, where an error may pass."""
_LONGEST_PAUSE = 5.0
_LOOK_SECONDS = 0.1
"""How often somebody who waits looks whether the answer is still wanted."""
_TRANSIENT = (ModelUnavailable, ModelFailed)


class PatientModel:
    """A model that is asked with patience.

    What may pass (nobody answered, or the server broke) is asked again, three times in all. A
    server that is busy (it loads its model, or is asked too often) is waited for as long as the
    time allows, as long as it says, else with pauses that grow. An empty answer is asked for again
    as well, unless a fixed seed would give the same one. A time-out is not: it has cost all the
    time there was. Neither is an answer of which a part was handed on.

    Attributes:
        down: Why nobody answered when the server was last looked at; None if somebody did. Until
            the next look calls fail at once, so that nobody waits in vain.

    Args:
        client: The model.
        seconds: What one answer may take, pauses and further attempts included.
        recorder: Counts its calls.
        ready: Waits until the model's process answers; raises ModelUnavailable.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        client: LanguageModel,
        seconds: float,
        recorder: Recorder | None = None,
        *,
        ready: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.down: ModelError | None = None
        self._client, self._seconds, self._ready = client, seconds, ready
        self._recorder, self._clock = recorder or Recorder(), clock

    def generate(self, request: GenerationRequest) -> Generation:
        """As the model.

        Raises:
            ModelError: The last one.
        """
        transient: tuple[type[ModelError], ...] = _TRANSIENT
        if request.seed is None:
            transient += (BadAnswer,)
        started = time.monotonic()
        once = partial(self._once, request)
        try:
            self.require()
            answer = self.call(once, transient, request.given_up, self._ready)
        except ModelError as error:
            self._recorder.add(request, error, time.monotonic() - started)
            raise
        self._recorder.add(request, answer, time.monotonic() - started)
        return answer

    def require(self) -> None:
        """See that somebody answered when the server was last looked at.

        Raises:
            ModelUnavailable: Nobody did.
        """
        if self.down is not None:
            raise ModelUnavailable(f"{self.down.what} (it is looked at again)", self.down.cure)

    def call[T](
        self,
        work: Callable[[], T],
        transient: tuple[type[ModelError], ...] = _TRANSIENT,
        given_up: Callable[[], bool] | None = None,
        first: Callable[[], None] = lambda: None,
    ) -> T:
        """What ``work`` gives, at last; ``first`` is done before, once.

        Raises:
            ModelError: The last one.
        """
        with within(self._seconds):
            first()
            return self._tried(work, transient, given_up)

    def _tried[T](
        self,
        work: Callable[[], T],
        transient: tuple[type[ModelError], ...],
        given_up: Callable[[], bool] | None,
    ) -> T:
        until, pause, left = self._clock() + self._seconds, 0.25, _ATTEMPTS
        while True:
            try:
                return work()
            except transient as error:
                busy = isinstance(error, ModelBusy)
                wait = (error.wait if isinstance(error, ModelBusy) else 0.0) or pause
                left -= not busy
                late = self._clock() + wait >= until
                if late or not left or isinstance(error, CallGivenUp):
                    raise
                _wait(wait, given_up)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _once(self, request: GenerationRequest) -> Generation:
        """The answer; AnswerBroken if it ended when a part of it had been handed on."""
        heard, begun = request.on_text, False
        if heard is None:
            return self._client.generate(request)

        def hand_on(piece: str) -> None:
            nonlocal begun
            begun = True
            heard(piece)

        try:
            return self._client.generate(replace(request, on_text=hand_on))
        except (ModelTimeout, CallGivenUp):
            raise
        except ModelError as error:
            if not begun:
                raise
            what = f"The answer ended amid its words: {error.what}"
            raise AnswerBroken(what, error.cure) from error


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
