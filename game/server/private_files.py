"""Secrets that this copy makes for itself, readable by its owner alone."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from game.mind.errors import KeepsakeError

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
    try:
        if not (present := _read(path)):
            _publish(path, secrets.token_urlsafe(nbytes))
            present = _read(path)
        if stat.S_IMODE(path.stat().st_mode) != OWNER_ONLY:
            path.chmod(OWNER_ONLY)
    except OSError as error:
        raise KeepsakeError(
            f"The secret in {path} cannot be used: {error.strerror}",
            "Make KEEPSAKE_HOME a folder of your own that you can write to",
        ) from error
    return present


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return ""


def _publish(path: Path, secret: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secret + "\n")
    try:
        if path.exists():  # empty: left by a full disk
            draft.replace(path)
        else:
            with contextlib.suppress(FileExistsError):  # the other process was first
                path.hardlink_to(draft)
    finally:
        draft.unlink(missing_ok=True)
