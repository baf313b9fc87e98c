"""How much one line, one player and one address may send: lines, in token buckets.

The Portal keeps to it for each connection, before anything is handed to the Server; the Server
for each player and each address, before anything is looked at. What is over is dropped, and
whoever sent it is told, but not of every line.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

LONGEST_LINE = 6000
"""Signs of one line; Evennia's own limit, which it puts to telnet alone."""
LONGEST_MESSAGE = 64 * 1024
"""Bytes of a message of the web client: such a line, each sign of it escaped, and more."""
LOGIN_SECONDS = 600.0
"""A connection that has not logged in by then is closed."""
TOLD_AGAIN_AFTER = 5.0
"""Seconds in which nobody is told twice to slow down."""
MOST_KNOWN = 10_000
"""Buckets that are kept; those not used for longest go first."""

GONE = "The world has stopped. What you typed last may be unheard."
AWAY = "The world is away for a moment: that was not heard. Try again shortly."
TOO_FAST = (
    "You are faster than anybody here can follow: some of what you sent was not heard. "
    "Wait a few seconds, and go on more slowly."
)
TOO_LONG = f"A line may have {LONGEST_LINE:,} signs at most; this one was not heard."
NO_LOGIN = (
    f"You have not logged in for {LOGIN_SECONDS / 60:.0f} minutes, so the line is closed. "
    "Come back any time."
)


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many lines a bucket holds, and how many flow into it each second."""

    lines: float
    a_second: float


BYTES_A_LINE = 400
"""A longer line counts as several."""
CONNECTION = Allowance(80, 80)
PLAYER = Allowance(40, 4)
ADDRESS = Allowance(400, 40)
"""Ten players: a class, a family."""


@dataclass(slots=True)
class Bucket:
    """Holds lines; full at first."""

    allowed: Allowance
    at: float
    lines: float = field(init=False)
    told_at: float = float("-inf")

    def __post_init__(self) -> None:
        self.lines = self.allowed.lines

    def has(self, now: float) -> bool:
        """Fill up until ``now``; whether a line may pass.

        One that is larger than what is left passes, and is paid off later.
        """
        passed, self.at = max(now - self.at, 0.0), max(now, self.at)
        self.lines = min(self.lines + passed * self.allowed.a_second, self.allowed.lines)
        return self.lines >= 1

    def take(self, size: int) -> None:
        """A line of ``size`` bytes passes."""
        self.lines -= max(1.0, size / BYTES_A_LINE)

    def to_be_told(self) -> bool:
        """Whether whoever is over it is to be told, which then counts as done."""
        if self.at - self.told_at < TOLD_AGAIN_AFTER:
            return False
        self.told_at = self.at
        return True


class Buckets:
    """Buckets by name, of which a bounded number is kept.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[Hashable, Bucket] = OrderedDict()

    def refusing(self, size: int, named: Iterable[tuple[Hashable, Allowance]]) -> Bucket | None:
        """Take a line of ``size`` bytes out of all buckets; the first that has no room.

        Then nothing is taken from any.
        """
        now, found = self._clock(), []
        for name, allowed in named:
            bucket = self._known.setdefault(name, Bucket(allowed, now))
            self._known.move_to_end(name)
            if not bucket.has(now):
                return bucket
            found.append(bucket)
        for bucket in found:
            bucket.take(size)
        while len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return None
