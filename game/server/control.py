"""The control socket: how the ``keepsake`` command talks to the running world.

A Unix socket, readable by its owner alone. One JSON object a line in, one a line out::

    {"op": "ready"}    -> {"ok": true, "result": {...}}
    {"op": "nonsense"} -> {"ok": false, "error": "…"}

Operations run on the reactor thread, so they may touch Evennia's objects and must be quick; an
operation that has to wait returns a Deferred.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from twisted.internet import defer, reactor
from twisted.internet.protocol import Factory
from twisted.logger import Logger
from twisted.protocols.basic import LineOnlyReceiver
from twisted.python.failure import Failure

from keepsake.errors import KeepsakeError

type Operation = Callable[[dict[str, Any]], object]
"""Takes the request, returns what JSON can carry or a Deferred of it."""

_SOCKET_MODE = 0o600
_reactor: Any = reactor  # its module type lacks the methods of the installed reactor
_log = Logger()


class ControlServer:
    """Answers requests by name of operation.

    Args:
        operations: What can be asked, by the request's ``op``.
    """

    def __init__(self, operations: Mapping[str, Operation]) -> None:
        self._operations = dict(operations)
        self._port: Any = None

    def listen(self, path: Path) -> None:
        """Open the socket, replacing one that a killed process left behind.

        Raises:
            KeepsakeError: Another process answers there.
        """
        _remove_stale(path)
        factory = Factory.forProtocol(_ControlProtocol)
        factory.control = self  # how protocols reach it
        factory.noisy = False
        self._port = _reactor.listenUNIX(str(path), factory, mode=_SOCKET_MODE)

    def close(self) -> defer.Deferred[None]:
        """Close the socket and remove its file; fires when that is done."""
        port, self._port = self._port, None
        return defer.maybeDeferred(port.stopListening) if port else defer.succeed(None)

    def run(self, line: bytes) -> object:
        """The result of one request line."""
        try:
            request = json.loads(line)
            operation = self._operations[request["op"]]
        except (ValueError, TypeError, KeyError) as error:
            known = ", ".join(sorted(self._operations))
            raise KeepsakeError(f"{line[:80]!r} is no request", f"Known are: {known}") from error
        return operation(request)


class _ControlProtocol(LineOnlyReceiver):
    delimiter = b"\n"
    MAX_LENGTH = 65536

    def lineReceived(self, line: bytes) -> None:  # noqa: N802 - Twisted's name
        control: ControlServer = self.factory.control
        answer = defer.maybeDeferred(control.run, line)
        answer.addCallback(lambda result: json.dumps({"ok": True, "result": result}))
        answer.addErrback(_refusal)
        answer.addCallback(lambda text: self.transport.write(text.encode() + b"\n"))


def _refusal(failure: Failure) -> str:
    told = failure.getErrorMessage()
    if not failure.check(KeepsakeError):  # a fault of ours: its traceback is for the log
        _log.failure("A control operation failed", failure=failure)
        told = f"{failure.type.__name__}: {told}"
    return json.dumps({"ok": False, "error": told})


def _remove_stale(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except FileNotFoundError:
            return
        except OSError:
            path.unlink(missing_ok=True)
            return
    raise KeepsakeError(
        f"Another process answers on {path}",
        "Stop it with `keepsake stop`, or set KEEPSAKE_HOME to another folder",
    )
