"""Files of a person's vault, which may be links, pipes or nothing at all.

The game reads and writes what a person put into the vault. It follows links, and refuses what is
no regular file: a named pipe would block its reader for ever.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def read_bytes(path: Path, most: int | None = None) -> bytes:
    """Return the content of a regular file, or of one that a link leads to; never waits.

    ``most``: The most bytes; a longer file is not read. None for any number.

    Raises:
        FileNotFoundError: There is nothing at that path.
        OSError: It cannot be read, is too long, is no regular file, or is a link that leads to
            nothing.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        if (link := dangling(path)) is not None:
            raise _leads_nowhere(link) from None
        raise
    with os.fdopen(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "It is no regular file", str(path))
        if most is not None and found.st_size > most:
            raise OSError(errno.EFBIG, "It is too long: move a part of it into another file")
        return file.read()


def read_text(path: Path) -> str:
    """Return the text of a regular file without a byte order mark; all line ends become LF.

    Raises:
        OSError: As :func:`read_bytes`.
        UnicodeDecodeError: It is not UTF-8.
    """
    text = read_bytes(path).decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def dangling(path: Path) -> Path | None:
    """Return the link at or above this path that leads to nothing; None if there is none."""
    return next((each for each in (path, *path.parents) if _dangles(each)), None)


def target(path: Path) -> Path:
    """Return the file that a write to this path changes: through a link, the file it leads to.

    Raises:
        OSError: It, or a folder above it, is a link that leads to nothing.
    """
    if (link := dangling(path)) is not None:
        raise _leads_nowhere(link)
    return path.resolve() if path.is_symlink() else path


def _dangles(path: Path) -> bool:
    return path.is_symlink() and not path.exists()


def _leads_nowhere(link: Path) -> OSError:
    return OSError(
        errno.ENOLINK, f"The link {link.name} leads to {link.readlink()}, which is missing"
    )
