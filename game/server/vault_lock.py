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
from dataclasses import dataclass, field
from pathlib import Path

from game.server.databases import DatabaseLock
from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import Places

_NAME = ".in-use"
_POLL_SECONDS = 0.2
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL)
"""What some network drives answer; each archive still has a lock of its own."""


class VaultInUse(KeepsakeError):
    """Another copy of Keepsake has this vault open."""


@dataclass(slots=True)
class VaultLock:
    """The lock on one vault, as long as it is held."""

    _fds: list[int] = field(default_factory=list)
    _database: DatabaseLock | None = None

    def keep(self) -> None:
        """Hold the database again where it was gone and is back; blocks.

        Raises:
            KeepsakeError: Another copy holds it by now, or it is gone still.
        """
        if self._database is not None:
            self._database.keep()

    def release(self) -> None:
        """Let go of vault and database; a second call does nothing."""
        while self._fds:
            os.close(self._fds.pop())
        if self._database is not None:
            self._database.release()


def take(here: Places, *, patience: float = 0.0) -> VaultLock:
    """Hold the vault of this copy.

    Args:
        here: The copy.
        patience: Seconds to wait for another holder, who may be about to end.

    Raises:
        VaultInUse: Another copy holds it; says which.
        KeepsakeError: There is no such folder, or it cannot be read.
    """
    held = VaultLock(_opened(here, os.O_CREAT), DatabaseLock(here))
    deadline = time.monotonic() + patience
    try:
        while not all(map(_locked, held._fds)):
            if time.monotonic() >= deadline:
                raise VaultInUse(
                    f"The vault {here.vault} is in use by {_holder(here.agents)}",
                    "Stop that copy, or set KEEPSAKE_VAULT to another folder for this one",
                )
            time.sleep(_POLL_SECONDS)
        if held._database is not None:
            held._database.take(deadline - time.monotonic())
    except BaseException:
        held.release()
        raise
    _sign(here)
    return held


def holder(here: Places) -> str:
    """Who holds the vault of this copy, in words; empty if nobody does."""
    try:
        looking = VaultLock(_opened(here))
    except KeepsakeError:
        return ""
    try:
        return "" if all(map(_locked, looking._fds)) else _holder(here.agents)
    finally:
        looking.release()


def _opened(here: Places, flags: int = 0) -> list[int]:
    """The folder, and the file in it where that can be written."""
    cure = "Make it yours, or set KEEPSAKE_VAULT to a folder of your own"
    with refusing(f"{here.agents} cannot be opened", cure):
        found = [os.open(here.agents, os.O_RDONLY | os.O_DIRECTORY)]
    with contextlib.suppress(OSError):  # full, or read-only: then it holds on this machine
        found.append(os.open(here.agents / _NAME, os.O_RDWR | flags, 0o644))
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
