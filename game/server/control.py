"""The control socket: how the ``keepsake`` command talks to the running world.

A Unix socket, readable by its owner alone. A line is the name of an operation, and its argument
after a blank if it takes one. The answer is one line of JSON, ``{"result": …}`` or
``{"error": "…", "cure": "…"}``. Operations run on the reactor thread, so they
may touch Evennia's objects and must be quick.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from twisted.internet import reactor
from twisted.internet.protocol import Factory
from twisted.logger import Logger
from twisted.protocols.basic import LineOnlyReceiver

from keepsake.errors import KeepsakeError

type Operations = Mapping[str, Callable[..., object]]
"""The operations by name; each returns a value that JSON can hold."""


def listen(path: Path, operations: Operations) -> Any:
    """Open the socket, replacing one that a killed process left; return Twisted's port."""
    path.unlink(missing_ok=True)
    factory = Factory.forProtocol(_ControlProtocol)
    factory.operations = operations  # each protocol reads them there
    factory.noisy = False
    listening: Any = reactor
    return listening.listenUNIX(str(path), factory, mode=0o600)


class _ControlProtocol(LineOnlyReceiver):
    delimiter = b"\n"

    def lineReceived(self, line: bytes) -> None:  # noqa: N802 - Twisted's name
        name, _, argument = line.decode(errors="replace").partition(" ")
        operations = self.factory.operations
        if name not in operations:
            answer = {"error": f"{name!r} is not an operation. Use one of: {', '.join(operations)}"}
        else:
            try:
                answer = {"result": operations[name](*filter(None, [argument]))}
            except KeepsakeError as error:
                answer = {"error": error.what, "cure": error.cure}
            except Exception as error:  # a bug: the log gets its traceback
                Logger().failure("The control operation {name} failed", name=name)
                answer = {"error": f"{type(error).__name__}: {error}"}
        self.transport.write(json.dumps(answer).encode() + b"\n")
