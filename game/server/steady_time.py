"""Makes delayed calls independent of the machine's clock.

Twisted plans them by the time of day. If a wrong clock is put back, all calls that were planned
while it was ahead wait for that time to come again: agents sleep for years, and nothing ticks.
"""

from __future__ import annotations

import time
from typing import Any


def use_steady_time(reactor: Any) -> None:
    """Let a reactor plan by a clock that only runs forward; calls planned already keep their delay.

    Call it before the reactor runs, from its own thread.
    """
    shift = time.monotonic() - reactor.seconds()
    for call in reactor.getDelayedCalls():
        call.time += shift  # the same for all, so their order stays
    reactor.seconds = time.monotonic
