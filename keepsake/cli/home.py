"""One copy from outside: its folders, its lock, and the socket on which its world answers."""

from __future__ import annotations

import fcntl
import json
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import REPOSITORY, Places

SHIPPED_CONFIG = REPOSITORY / "vault" / "config"


def prepare(here: Places) -> None:
    """Make the folders, and put the shipped configuration where the vault has none.

    Raises:
        KeepsakeError: A folder cannot be made or written to.
    """
    for folder, variable in (
        (here.logs, "KEEPSAKE_HOME"),
        (here.config, "KEEPSAKE_VAULT"),
        (here.agents, "KEEPSAKE_VAULT"),
    ):
        cure = f"Make it yours, or set {variable} to a folder that you can write to"
        with refusing(f"{folder} cannot be written to", cure):
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / ".writable"
            probe.touch()
            probe.unlink()
    cure = "Free some disk space, or set KEEPSAKE_VAULT to a folder that you can write to"
    with refusing(f"The configuration could not be copied to {here.config}", cure):
        for shipped in sorted(SHIPPED_CONFIG.rglob("*")):
            copy = here.config / shipped.relative_to(SHIPPED_CONFIG)
            if shipped.is_dir():
                copy.mkdir(exist_ok=True)
            elif not copy.exists():  # a file that is there is somebody's work
                draft = copy.with_name(f".{copy.name}.draft")  # half a file must not stay
                shutil.copyfile(shipped, draft)
                draft.replace(copy)


@contextmanager
def alone(here: Places) -> Iterator[None]:
    """Hold this copy's lock, so that no other ``keepsake`` starts or stops it meanwhile.

    Raises:
        KeepsakeError: Another command holds it.
    """
    here.home.mkdir(parents=True, exist_ok=True)
    with (here.home / "command.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise KeepsakeError(
                f"Another keepsake command is at work on {here.home}",
                "Wait until it is done, then try again",
            ) from None
        yield


class NotRunning(KeepsakeError):
    """No world answers on the control socket."""


def ask(here: Places, operation: str, *, seconds: float = 10.0) -> Any:
    """Ask the running world, and return the ``result`` of its answer.

    Args:
        here: The copy to ask.
        operation: One that ``game/server/control.py`` is given.
        seconds: How long to wait for each part of the answer.

    Raises:
        NotRunning: Nothing listens there.
        KeepsakeError: It did not answer in time, or refused.
    """
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(seconds)
            line.connect(str(here.control_socket))
            line.sendall(f"{operation}\n".encode())
            with line.makefile("rb") as file:
                answer = json.loads(file.readline())
    except TimeoutError as error:
        raise KeepsakeError(
            f"The world did not answer within {seconds:.0f} seconds",
            "It is busy, or hangs: try again; `keepsake doctor` looks for the cause",
        ) from error
    except (OSError, ValueError) as error:
        raise NotRunning("Keepsake is not running here", "Start it with `make run`") from error
    if "error" in answer:
        raise KeepsakeError(answer["error"])
    return answer["result"]
