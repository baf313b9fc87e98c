"""Secrets that this copy makes for itself, readable by its owner alone."""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path

from keepsake.errors import refusing


def read_or_create(path: Path, *, nbytes: int) -> str:
    """The secret in ``path``; a missing or empty file gets a fresh random one of ``nbytes``.

    Raises:
        KeepsakeError: The file can be neither read nor written.
    """
    cure = "Make KEEPSAKE_HOME a folder of your own that you can write to"
    with refusing(f"The secret in {path} cannot be used", cure):
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # Portal and Server start at once
            path.chmod(0o600)
            if not (secret := file.read().strip()):
                secret = secrets.token_urlsafe(nbytes)
                file.write(f"{secret}\n")
        return secret
