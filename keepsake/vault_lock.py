"""The lock of a vault: only one process at a time may open its archives.

The lock is an ``flock`` on a file in the folder of the agents, so it ends with the process that
holds it. The file names the holder. The holder of the vault also locks the database if that is
PostgreSQL.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from pathlib import Path

from keepsake import database
from keepsake.errors import KeepsakeError, refusing
from keepsake.json_lines import claim
from keepsake.paths import DATABASE_URL, Places

_NAME = ".in-use"
_POLL_SECONDS = 0.2
"""Seconds between two tries to take the lock."""
PATIENCE = 5.0
"""Seconds to wait for another holder, which may be about to end."""


def take(here: Places, *, patience: float = PATIENCE) -> contextlib.ExitStack:
    """Lock the vault of this copy, and a PostgreSQL database, until the result is closed.

    Raises:
        KeepsakeError: Another copy holds the lock (the message names it), or the vault is not
            writable.
    """
    deadline = time.monotonic() + patience
    path = here.agents / _NAME
    while True:
        cure = "Fix its permissions, or set KEEPSAKE_VAULT to a folder of your own"
        with contextlib.ExitStack() as held, refusing(f"{here.agents} cannot be locked", cure):
            fd = claim(path, 0o644)
            connection = None
            if fd is not None:
                held.callback(os.close, fd)
            if fd is None:
                problem = f"The vault {here.vault} is in use by {_holder(here.agents)}"
                cure = "Stop that copy, or set KEEPSAKE_VAULT to another folder"
            elif here.database_url and not (connection := database.lock(here)):
                problem = f"The database {database.address(here)} is in use by another copy"
                cure = f"Stop that copy, or set {DATABASE_URL} to another database"
            else:
                if connection is not None:
                    held.callback(connection.close)
                mine = {"home": str(here.home), "pid": os.getpid(), "host": socket.gethostname()}
                with contextlib.suppress(OSError):  # a full disk does not matter
                    path.write_text(json.dumps(mine) + "\n", encoding="utf-8")
                return held.pop_all()
        if time.monotonic() >= deadline:
            raise KeepsakeError(problem, cure)
        time.sleep(_POLL_SECONDS)


def holder(here: Places) -> str:
    """Return a description of the holder of this copy's vault; empty if nobody holds it."""
    with contextlib.suppress(OSError):
        path = here.agents / _NAME
        if path.exists():
            fd = claim(path, 0o644)
            if fd is None:
                return _holder(here.agents)
            os.close(fd)
    return ""


def other_holder(here: Places) -> str:
    """Return a description of another copy that holds this copy's vault; empty if none does.

    A holder whose name could not be written counts as this copy.
    """
    named = _written(here.agents).get("home")
    own = named is None or Path(str(named)).resolve() == here.home.resolve()
    return "" if own else holder(here)


def _holder(agents: Path) -> str:
    said = _written(agents)
    try:
        return f"the copy with the home {said['home']} (process {said['pid']} on {said['host']})"
    except KeyError:
        return "another copy of Keepsake"


def _written(agents: Path) -> dict[str, object]:
    """Return what the last holder wrote about itself; empty if that cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        said = json.loads((agents / _NAME).read_text(encoding="utf-8"))
        return said if isinstance(said, dict) else {}
    return {}
