"""Secrets that this copy makes for itself, readable by its owner alone."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keepsake.errors import refusing

OWNER_ONLY = 0o600


def read_or_create(path: Path, *, nbytes: int) -> str:
    """The secret in ``path``; a missing or empty file gets a fresh random one.

    The file appears whole or not at all, also when two processes start at once: both
    then read the same secret.

    Args:
        path: Where the secret lives; its folder is made when missing.
        nbytes: Bytes of randomness in a fresh secret.

    Raises:
        KeepsakeError: The file can be neither read nor written.
    """
    cure = "Make KEEPSAKE_HOME a folder of your own that you can write to"
    with refusing(f"The secret in {path} cannot be used", cure):
        present = _read(path) or _create(path, nbytes)
        if stat.S_IMODE(path.stat().st_mode) != OWNER_ONLY:
            path.chmod(OWNER_ONLY)
    return present


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""


def _create(path: Path, nbytes: int) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone_in(path.parent):
        if present := _read(path):  # somebody else was first
            return present
        descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(descriptor, "w", encoding="ascii") as file:  # mode 0600
            file.write(secrets.token_urlsafe(nbytes) + "\n")
        Path(draft).replace(path)
        return _read(path)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
