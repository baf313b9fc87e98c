"""One world a vault: whoever opens its archives holds this lock, and says who it is.

The lock is the system's own (``flock``), so that it is gone with the process that held it, however
that ended. It is on two things: on the folder of the agents, which needs no writing and holds
within one machine; and on a file in it. A file that is open for writing is what Linux asks the
server of an NFS share about, and so the lock that two machines see of each other.

Who holds the vault holds the database as well, where that is PostgreSQL's.
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

from game.server import databases
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
        KeepsakeError: There is no such folder, or it cannot be read.
    """
    lock, deadline = VaultLock(), time.monotonic() + patience
    with contextlib.ExitStack() as held:
        fds = _opened(here, held, os.O_CREAT)
        while not all(map(_locked, fds)):
            if time.monotonic() >= deadline:
                raise VaultInUse(
                    f"The vault {here.vault} is in use by {_holder(here.agents)}",
                    "Stop that copy, or set KEEPSAKE_VAULT to another folder for this one",
                )
            time.sleep(_POLL_SECONDS)
        if here.database_url:
            connection = databases.hold(here, deadline - time.monotonic())
            held.callback(connection.close)
        lock._held = held.pop_all()
    _sign(here)
    return lock


def holder(here: Places) -> str:
    """Who holds the vault of this copy, in words; empty if nobody does."""
    with contextlib.suppress(KeepsakeError), contextlib.ExitStack() as looking:
        if not all(map(_locked, _opened(here, looking))):
            return _holder(here.agents)
    return ""


def _opened(here: Places, held: contextlib.ExitStack, flags: int = 0) -> list[int]:
    """The folder, and the file in it where that can be written; closed with ``held``."""
    cure = "Make it yours, or set KEEPSAKE_VAULT to a folder of your own"
    with refusing(f"{here.agents} cannot be opened", cure):
        found = [os.open(here.agents, os.O_RDONLY | os.O_DIRECTORY)]
    with contextlib.suppress(OSError):  # full, or read-only: then it holds on this machine
        found.append(os.open(here.agents / _NAME, os.O_RDWR | flags, 0o644))
    for fd in found:
        held.callback(os.close, fd)
    return found


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
    """Write down who holds it, for who is refused; a full disk does not matter."""
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
            f"(process {said['pid']} on {said.get('host', 'this machine')})"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "another copy of Keepsake"
