"""One world a vault: the process that opens its archives holds this lock, and says who it is.

The lock is the system's own (``flock``) on a file in the folder of the agents, so it is gone with
the process that held it, however that ended. On an NFS share other machines see it too. The holder
of the vault holds the database as well, where that is PostgreSQL's.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import time
from pathlib import Path

from keepsake import database
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import Places

_NAME = ".in-use"
_POLL_SECONDS = 0.2
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL)
"""What some network drives answer; each archive still has a lock of its own."""


class VaultInUse(KeepsakeError):
    """Another copy of Keepsake has this vault open."""


class VaultLock:
    """The lock on one vault, as long as it is held."""

    def __init__(self) -> None:
        self._held = contextlib.ExitStack()

    def release(self) -> None:
        """Let go of vault and database; a second call does nothing."""
        self._held.close()


def take(here: Places, *, patience: float = 0.0) -> VaultLock:
    """Hold the vault of this copy, and its database where that is PostgreSQL's.

    Args:
        here: The copy.
        patience: Seconds to wait for another holder, who may be about to end.

    Raises:
        VaultInUse: Another copy holds it; says which.
        KeepsakeError: There is no such folder, or it cannot be written to.
    """
    lock, deadline = VaultLock(), time.monotonic() + patience
    with contextlib.ExitStack() as held:
        cure = "Make it yours, or set KEEPSAKE_VAULT to a folder of your own"
        with refusing(f"{here.agents} cannot be locked", cure):
            fd = os.open(here.agents / _NAME, os.O_RDWR | os.O_CREAT, 0o644)
            held.callback(os.close, fd)
            while not _locked(fd):
                if time.monotonic() >= deadline:
                    raise VaultInUse(
                        f"The vault {here.vault} is in use by {_holder(here.agents)}",
                        "Stop that copy, or set KEEPSAKE_VAULT to another folder for this one",
                    )
                time.sleep(_POLL_SECONDS)
        if here.database_url:
            connection = database.hold(here, deadline - time.monotonic())
            held.callback(connection.close)
        lock._held = held.pop_all()
    _sign(here)
    return lock


def holder(here: Places) -> str:
    """The holder of this copy's vault, in words; empty if nobody holds it."""
    with contextlib.suppress(OSError), (here.agents / _NAME).open("r+") as file:
        return "" if _locked(file.fileno()) else _holder(here.agents)
    return ""


def _locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _sign(here: Places) -> None:
    """Write down who holds it, for the message to others; a full disk does not matter."""
    mine = {
        "home": str(here.home),
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "port_base": here.ports.base,
    }
    with contextlib.suppress(OSError):
        (here.agents / _NAME).write_text(json.dumps(mine) + "\n", encoding="utf-8")


def _holder(agents: Path) -> str:
    try:
        said = json.loads((agents / _NAME).read_text(encoding="utf-8"))
        return (
            f"the copy with the home {said['home']} and the port base {said['port_base']} "
            f"(process {said['pid']} on {said['host']})"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "another copy of Keepsake"
