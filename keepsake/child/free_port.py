"""Whether a TCP port is free, for whoever is about to listen there."""

from __future__ import annotations

import errno
import socket

LOOPBACK = "127.0.0.1"


def refusal(address: str, number: int) -> OSError | None:
    """Why nobody can listen there now; None if somebody can.

    llama.cpp's connections, which last for a minute after it has ended, share their port with
    SO_REUSEPORT alone, as it does itself. With that option two may listen side by side, so a
    listener is first looked for by calling it.
    """
    refused = _listening_refused(address, number)
    if refused is None or refused.errno != errno.EADDRINUSE or _answers(address, number):
        return refused
    return _listening_refused(address, number, shared=True)


def _answers(address: str, number: int) -> bool:
    with socket.socket() as caller:
        caller.settimeout(1)
        there = (LOOPBACK if address in ("", "0.0.0.0") else address, number)
        return caller.connect_ex(there) != errno.ECONNREFUSED


def _listening_refused(address: str, number: int, *, shared: bool = False) -> OSError | None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            probe.bind((address, number))
            probe.listen(1)  # with SO_REUSEADDR only this notices some listeners
        except OSError as error:
            return error
    return None
