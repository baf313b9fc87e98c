"""Secrets that this copy makes for itself, readable by its owner alone."""

from __future__ import annotations

import fcntl
import os
import secrets
import tempfile
from pathlib import Path

from keepsake.errors import refusing

OWNER_ONLY = 0o600


def read_or_create(path: Path, *, nbytes: int) -> str:
    """The secret in ``path``; a missing or empty file gets a fresh random one of ``nbytes``.

    The file appears whole or not at all, also when two processes start at once: both then read the
    same secret.

    Raises:
        KeepsakeError: The file can be neither read nor written.
    """
    cure = "Make KEEPSAKE_HOME a folder of your own that you can write to"
    with refusing(f"The secret in {path} cannot be used", cure):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.parent, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists() or not path.stat().st_size:
                descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
                with os.fdopen(descriptor, "w", encoding="ascii") as file:
                    file.write(secrets.token_urlsafe(nbytes) + "\n")
                Path(draft).replace(path)
        finally:
            os.close(lock)
        path.chmod(OWNER_ONLY)
        return path.read_text(encoding="ascii").strip()
