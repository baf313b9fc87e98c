"""Ports for what tests start; each is one process's own until that process ends.

To look whether a port is free is not enough: two test processes that look at the same
moment find the same one, and start on it a second later. So every base that is handed out
is held by a guard, a socket that listens on a port which no copy of Keepsake uses.
"""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Iterator

_FIRST, _LAST, _STEP = 10000, 32700, 10
"""Below the ports that the system gives to connections."""
_GUARD = 9
"""From the base; a copy uses what lies before it."""

_guards: list[socket.socket] = []


def _all_bases() -> Iterator[int]:
    """Round and round; processes with numbers in a row begin far apart."""
    number = (_LAST - _FIRST) // _STEP
    start = os.getpid() * 37 % (number // 10) * 10
    return itertools.cycle(_FIRST + (start + i) % number * _STEP for i in range(number))


_bases = _all_bases()


def free_base() -> int:
    """A port base for one copy, or a port for one server; never the same twice."""
    for base in itertools.islice(_bases, (_LAST - _FIRST) // _STEP):
        guard = _listening(base + _GUARD)
        if guard is None:
            continue
        if all(map(_is_free, range(base, base + _GUARD))):
            _guards.append(guard)
            return base
        guard.close()
    raise AssertionError(f"no free ports between {_FIRST} and {_LAST}")


def _is_free(port: int) -> bool:
    probe = _listening(port)
    if probe is not None:
        probe.close()
    return probe is not None


def _listening(port: int) -> socket.socket | None:
    made = socket.socket()
    # A connection that has ended holds its port for a minute; that is no obstacle.
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(("127.0.0.1", port))
        made.listen(1)  # two may bind with that option, but one alone may listen
    except OSError:
        made.close()
        return None
    return made
