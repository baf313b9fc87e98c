"""The tar file of a backup: written from files, and read back as plain files.

A tar file is input that somebody else may have written, and Python's own extraction filters had
gaps (``filter="data"`` of 3.13.0 lets a chain of links lead outside). So :func:`unpack` creates
every file itself. It creates folders and regular files below one folder, and nothing else.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from keepsake.shipped_config import COPIED

DAMAGED = (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, ValueError)
"""The errors that :func:`unpack` raises for a file that is damaged or holds something else."""
_REGULAR = (tarfile.REGTYPE, tarfile.AREGTYPE)
_CHUNK = 1 << 20  # bytes
_FASTEST_USEFUL = 3  # the level of compression; higher ones cost time and save little


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What a backup holds.

    Attributes:
        digests: The SHA-256 of each file, by its name in the backup.
        links: The links in it, which were not created: backups of earlier versions have some.
    """

    digests: dict[str, str]
    links: tuple[str, ...]


def write(path: Path, files: Iterable[tuple[Path, str]]) -> dict[str, str]:
    """Write files, each with its name, into a new compressed tar file.

    Links are followed, so that the tar file holds regular files alone. A file that was removed
    since it was listed is left out.

    Returns:
        The SHA-256 of each file as it was written, by its name.

    Raises:
        OSError: A file cannot be read, or the tar file cannot be written.
    """
    digests: dict[str, str] = {}
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)  # it holds secrets
    with os.fdopen(fd, "wb") as file:
        with tarfile.open(
            fileobj=file, mode="w:gz", compresslevel=_FASTEST_USEFUL, dereference=True
        ) as tar:
            for source, name in files:
                with suppress(FileNotFoundError), source.open("rb") as content:
                    info = tar.gettarinfo(arcname=name, fileobj=content)
                    reader = _DigestingReader(content)
                    tar.addfile(info, reader)
                    digests[name] = reader.digest.hexdigest()
        file.flush()
        os.fsync(file.fileno())
    return digests


class _DigestingReader:
    """A file that computes the digest of what is read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.digest.update(data)
        return data


def unpack(source: Path, folder: Path) -> Unpacked:
    """Create the files of a compressed tar file below a new folder.

    Raises:
        tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error, ValueError: The file is damaged,
            or a member is neither a file nor a folder nor a link, or lies outside the folder.
        OSError: A file cannot be written.
    """
    digests: dict[str, str] = {}
    links: list[str] = []
    folder.mkdir(parents=True)
    with gzip.open(source) as packed:
        with tarfile.open(fileobj=packed, mode="r|") as tar:
            for member in tar:
                path = folder.joinpath(*_parts(member.name))
                if member.issym() or member.islnk():
                    links.append(f"{member.name} (to {member.linkname})")
                elif member.isdir():
                    path.mkdir(parents=True, exist_ok=True)
                elif member.type in _REGULAR:
                    digests[member.name] = _create(tar, member, path)
                else:
                    raise ValueError(f"{member.name!r} in it is no regular file")
        while packed.read(_CHUNK):  # gzip's checksum comes after the end of the tar data
            pass
    return Unpacked(digests, tuple(links))


def _parts(name: str) -> tuple[str, ...]:
    """Return the parts of a member's name; raise ValueError if it leads outside the folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name or not path.parts:
        raise ValueError(f"{name!r} in it is outside the destination")
    return path.parts


def _create(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> str:
    """Create the file of a member; return its SHA-256."""
    content = tar.extractfile(member)
    if content is None:
        raise ValueError(f"{member.name!r} in it has no content")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("xb") as file:
            reader = _DigestingReader(content)
            shutil.copyfileobj(reader, file, _CHUNK)
    except FileExistsError as error:
        raise ValueError(f"{member.name!r} is in it twice") from error
    if path.stat().st_size != member.size:
        raise EOFError(f"the end of {member.name!r} is missing")
    os.utime(path, (member.mtime, member.mtime))
    path.chmod(0o600 | member.mode & 0o055)
    return reader.digest.hexdigest()


def files_below(top: Path) -> Iterator[Path]:
    """Yield the regular files below a folder, sorted, in the way the game sees them.

    Links to files and folders are followed. Files and folders whose names begin with a dot (drafts
    and locks) are left out, but for the digests of the copied configuration.

    Raises:
        FileNotFoundError: A link leads to nothing: a file that the game expects would be missing.
        OSError: A folder cannot be listed.
    """
    yield from _files_below(top, ())


def _files_below(folder: Path, above: tuple[str, ...]) -> Iterator[Path]:
    """Yield the files; ``above`` has the real paths of the folders above, to stop at a loop."""
    real = os.path.realpath(folder)
    if real in above:
        return
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") and path.name != COPIED:
            continue
        if path.is_symlink() and not path.exists():
            reason = f"The link {path} leads to {path.readlink()}, which is missing"
            raise FileNotFoundError(errno.ENOENT, reason)
        if path.is_dir():
            yield from _files_below(path, (*above, real))
        elif path.is_file():
            yield path
