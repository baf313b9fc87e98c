"""One world a vault: whoever opens its archives holds this lock, and says who it is.

The lock is the system's own (``flock``) on the folder of the agents, so that it is gone with
the process that held it, however that ended.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from game.mind.errors import KeepsakeError
from game.paths import Places

_NAME = ".in-use"
_POLL_SECONDS = 0.2
_NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL)
"""What some network drives answer; each archive still has a lock of its own."""


class VaultInUse(KeepsakeError):
    """Another copy of Keepsake has this vault open."""


@dataclass(slots=True)
class VaultLock:
    """The lock on one vault, as long as it is held."""

    _fd: int = -1

    def release(self) -> None:
        """Let go of the vault; a second call does nothing."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def take(here: Places, *, patience: float = 0.0) -> VaultLock:
    """Hold the vault of this copy.

    Args:
        here: The copy.
        patience: Seconds to wait for another holder, who may be about to end.

    Raises:
        VaultInUse: Another copy holds it; says which.
        KeepsakeError: There is no such folder, or it cannot be read.
    """
    try:
        fd = os.open(here.agents, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise KeepsakeError(
            f"{here.agents} cannot be opened: {error.strerror}",
            "Make it yours, or set KEEPSAKE_VAULT to a folder of your own",
        ) from error
    deadline = time.monotonic() + patience
    while not _locked(fd):
        if time.monotonic() >= deadline:
            os.close(fd)
            raise VaultInUse(
                f"The vault {here.vault} is in use by {_holder(here.agents)}",
                "Stop that copy, or set KEEPSAKE_VAULT to another folder for this one",
            )
        time.sleep(_POLL_SECONDS)
    _sign(here)
    return VaultLock(fd)


def holder(here: Places) -> str:
    """Who holds the vault of this copy, in words; empty if nobody does."""
    try:
        fd = os.open(here.agents, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return ""
    try:
        return "" if _locked(fd) else _holder(here.agents)
    finally:
        os.close(fd)


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
    mine = {"home": str(here.home), "pid": os.getpid(), "port_base": here.ports.base}
    with contextlib.suppress(OSError):
        (here.agents / _NAME).write_text(json.dumps(mine) + "\n", encoding="utf-8")


def _holder(agents: Path) -> str:
    try:
        said = json.loads((agents / _NAME).read_text(encoding="utf-8"))
        return (
            f"the copy with the home {said['home']} and the port base {said['port_base']} "
            f"(process {said['pid']})"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "another copy of Keepsake"
