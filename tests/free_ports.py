"""Free ports for tests. Each port belongs to one test process until that process ends.

Checking that a port is free is not enough: two test processes can find the same free port
and both use it a second later. So each port base is reserved by a guard: a socket that
listens on a port that no copy of Keepsake uses.
"""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Iterator

_FIRST = 10000
_LAST = 32700
_STEP = 10
"""The range of bases ends below the ports that the system gives to outgoing connections."""
_GUARD = 9
"""The guard's offset from the base. A copy of Keepsake uses the ports below it."""

_guards: list[socket.socket] = []


def _all_bases() -> Iterator[int]:
    """Cycle through all bases. Processes with adjacent ids start far apart."""
    number = (_LAST - _FIRST) // _STEP
    start = os.getpid() * 37 % (number // 10) * 10
    return itertools.cycle(_FIRST + (start + i) % number * _STEP for i in range(number))


_bases = _all_bases()


def free_base() -> int:
    """Return an unused port base for a copy, or a port for a server."""
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
    """Return a socket that listens on the port. None if the port is in use."""
    made = socket.socket()
    # Reuse ports that closed connections still hold (for about a minute).
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(("127.0.0.1", port))
        made.listen(1)  # with that option two sockets may bind, but only one may listen
    except OSError:
        made.close()
        return None
    return made
