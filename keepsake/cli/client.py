"""The command line's end of the control socket."""

from __future__ import annotations

import json
import socket
from typing import Any

from keepsake.errors import KeepsakeError
from keepsake.paths import Places


class NotRunning(KeepsakeError):
    """No world answers on the control socket."""


def ask(here: Places, operation: str, *, seconds: float = 10.0, **arguments: Any) -> Any:
    """Ask the running world and return the ``result`` of its answer.

    Args:
        here: The copy to ask.
        operation: A name that the world's control server knows.
        seconds: How long to wait for each part of the answer.
        **arguments: The rest of the request.

    Raises:
        NotRunning: Nothing listens there.
        KeepsakeError: It did not answer in time, or refused, or its answer makes no sense.
    """
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(seconds)
            line.connect(str(here.control_socket))
            line.sendall(json.dumps({"op": operation, **arguments}).encode() + b"\n")
            with line.makefile("rb") as file:
                said = file.readline()
    except TimeoutError as error:
        raise KeepsakeError(
            f"The world did not answer within {seconds:.0f} seconds",
            "It is busy, or hangs: try again; `keepsake doctor` looks for the cause",
        ) from error
    except OSError as error:
        raise NotRunning("Keepsake is not running here", "Start it with `make run`") from error
    try:
        answer = json.loads(said)
        if answer["ok"]:
            return answer["result"]
        refusal = str(answer["error"])
    except (ValueError, KeyError, TypeError) as error:
        raise KeepsakeError(
            f"The world's answer to {operation!r} makes no sense: {said[:80]!r}",
            "Restart it with `keepsake stop` and `keepsake start`",
        ) from error
    raise KeepsakeError(refusal)
