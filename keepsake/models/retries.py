"""Which failed calls of a model server are made again, when, and how often.

A call is made again once after a temporary error: no connection, or the server failed. An empty or
unreadable answer counts as one too, unless a fixed seed would repeat it. A server that is busy, as
it loads its model or limits the rate, is asked until the deadline, with growing pauses that last
at least as long as its Retry-After says. There is no other call after a timeout, which has used up
the time, or after a part of the answer was passed on.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from tenacity import RetryCallState, Retrying, retry_if_exception, wait_exponential

from keepsake.errors import (
    AnswerBrokenOff,
    BadAnswer,
    CallCancelled,
    ModelBusy,
    ModelFailed,
    ModelUnavailable,
)
from keepsake.models.transport import pause

ATTEMPTS = 2
"""The most calls for one request if the server is not just busy: a second failure is no accident,
and a player waits."""
FIRST_PAUSE = 0.25
"""Seconds before the second call: a process that restarts needs about this long to listen."""
LONGEST_PAUSE = 5.0
"""The longest pause in seconds that a busy server does not ask for itself."""


def retrying(until: float, *, seeded: bool, before: Callable[[BaseException], None]) -> Retrying:
    """Return the policy for one request; its pauses end when the current call is cancelled.

    Args:
        until: The deadline of the request, in monotonic seconds.
        seeded: Whether the request has a fixed seed, so that the answer would be the same.
        before: Called with the error before each further call; may raise another error instead.
    """
    growing = wait_exponential(FIRST_PAUSE, LONGEST_PAUSE)

    def wait(state: RetryCallState) -> float:
        return max(growing(state), getattr(_error(state), "until", 0.0) - time.monotonic())

    def stop(state: RetryCallState) -> bool:
        used_up = state.attempt_number >= ATTEMPTS and not isinstance(_error(state), ModelBusy)
        return used_up or time.monotonic() + state.upcoming_sleep >= until

    return Retrying(
        retry=retry_if_exception(lambda error: _is_temporary(error, seeded)),
        wait=wait,
        stop=stop,
        sleep=pause,
        before_sleep=lambda state: before(_error(state)),
        reraise=True,
    )


def _error(state: RetryCallState) -> BaseException:
    """Return the error of the last attempt, which has failed."""
    error = state.outcome.exception() if state.outcome is not None else None
    return error or RuntimeError("the attempt has not failed")


def _is_temporary(error: BaseException, seeded: bool) -> bool:
    if isinstance(error, (CallCancelled, AnswerBrokenOff)):
        return False
    if isinstance(error, BadAnswer):
        return not seeded
    return isinstance(error, (ModelUnavailable, ModelFailed))
