"""Limits on the input of a line, a connection, a player and an address, as token buckets.

The Portal limits each connection before it passes a line to the Server. The Server limits each
player and each address before it reads a line. Lines over the limit are dropped. The sender gets a
warning, but not for every line.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

LONGEST_LINE = 6000
"""The most characters of a line; Evennia has the same limit, but only for telnet."""
LONGEST_MESSAGE = 64 * 1024
"""The most bytes of a message of the web client: the longest line with every character escaped."""
LOGIN_SECONDS = 600.0
"""Seconds after which a connection without a login is closed."""
WARNING_INTERVAL = 5.0
"""Seconds between two warnings to the same sender."""
MOST_BUCKETS = 10_000
"""The most buckets kept. The least recently used are dropped first."""

GONE = "The game has stopped. Your last line may not have been received."
AWAY = "The game is not available. Your last line was not received. Try again soon."
TOO_FAST = (
    "You are sending too fast. Some of your lines were dropped. "
    "Wait a few seconds, then continue more slowly."
)
TOO_LONG = f"Your line was dropped: a line may have at most {LONGEST_LINE:,} characters."
NO_LOGIN = (
    f"You have not logged in for {LOGIN_SECONDS / 60:.0f} minutes, so the connection is closed. "
    "Connect again at any time."
)


@dataclass(frozen=True, slots=True)
class Allowance:
    """The size of a bucket in lines, and the lines that are added each second."""

    lines: float
    per_second: float


BYTES_PER_LINE = 400
"""A line with more bytes counts as several lines."""
CONNECTION = Allowance(80, 80)
OPTIONS = Allowance(300, 20)
"""Telnet commands and options of a connection, which are no lines. A client sends some twenty when
it connects, and one for each new size of its window."""
PLAYER = Allowance(40, 4)
ADDRESS = Allowance(400, 40)
"""As much as ten players, for a school class or a family behind one address."""


@dataclass(slots=True)
class Bucket:
    """A token bucket; it starts full."""

    allowed: Allowance
    at: float
    lines: float = field(init=False)
    warned_at: float = float("-inf")

    def __post_init__(self) -> None:
        self.lines = self.allowed.lines

    def has(self, now: float) -> bool:
        """Refill the bucket up to ``now``, and return whether a line may pass.

        A line larger than the rest may pass too: the bucket then goes below zero.
        """
        passed = max(now - self.at, 0.0)
        self.at = max(now, self.at)
        self.lines = min(self.lines + passed * self.allowed.per_second, self.allowed.lines)
        return self.lines >= 1

    def take(self, size: int) -> None:
        """Take out a line of ``size`` bytes."""
        self.lines -= max(1.0, size / BYTES_PER_LINE)

    def should_warn(self) -> bool:
        """Return whether to warn the sender now, and count that as a warning."""
        if self.at - self.warned_at < WARNING_INTERVAL:
            return False
        self.warned_at = self.at
        return True


class Buckets:
    """A bounded number of buckets by name.

    Args:
        clock: A monotonic clock, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[Hashable, Bucket] = OrderedDict()

    def charge(self, size: int, named: Iterable[tuple[Hashable, Allowance]]) -> Bucket | None:
        """Take a line of ``size`` bytes out of all named buckets, or out of none.

        Return the first bucket that is empty; None if the line may pass.
        """
        now = self._clock()
        found = []
        for name, allowed in named:
            bucket = self._known.setdefault(name, Bucket(allowed, now))
            self._known.move_to_end(name)
            if not bucket.has(now):
                return bucket
            found.append(bucket)
        for bucket in found:
            bucket.take(size)
        while len(self._known) > MOST_BUCKETS:
            self._known.popitem(last=False)
        return None
