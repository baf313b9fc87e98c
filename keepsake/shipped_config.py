"""The copy of the shipped configuration in a vault: what is missing is copied, what is old renewed.

A file that a person has changed is never touched. A file that is still as it was copied follows the
installed version: its digest is kept beside it when it is copied.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

COPIED = ".copied.json"
"""The file in the copy with the digest of each file as it was copied."""


def update_copy(shipped: Path, copy: Path) -> None:
    """Copy the files that the copy lacks, and those that nobody has changed since they were copied.

    Raises:
        OSError: A file cannot be read or written.
    """
    if shipped.samefile(copy):  # a checkout's own vault
        return
    copied = _copied(copy)
    before = dict(copied)
    for file, name in _files(shipped):
        own = copy / name
        new = _digest(file)
        if own.exists():
            old = copied.get(name)
            if _digest(own) == new:
                copied[name] = new
            if old in (None, new) or _digest(own) != old:
                continue
        own.parent.mkdir(parents=True, exist_ok=True)
        draft = own.with_name(f".{own.name}.draft")  # so that no partial file stays
        shutil.copyfile(file, draft)
        draft.replace(own)
        copied[name] = new
    if copied != before:
        draft = copy / f"{COPIED}.draft"
        draft.write_text(json.dumps(copied, indent=1, sort_keys=True))
        draft.replace(copy / COPIED)


def other_files(shipped: Path, copy: Path) -> list[str]:
    """Return the names of the copy's files that are not as this version ships them, in order."""
    return [name for file, name in _files(shipped) if _differ(file, copy / name)]


def _files(shipped: Path) -> Iterator[tuple[Path, str]]:
    """Yield each shipped file with its name below the folder: ``prompts/talk.md``."""
    for file in sorted(shipped.rglob("*")):
        name = file.relative_to(shipped)
        if file.is_file() and not any(part.startswith(".") for part in name.parts):
            yield file, name.as_posix()


def _copied(copy: Path) -> dict[str, str]:
    """Return the digests of the files as they were copied; none if that is not known."""
    with suppress(OSError, ValueError):
        found = json.loads((copy / COPIED).read_text())
        if isinstance(found, dict):
            return {str(name): str(digest) for name, digest in found.items()}
    return {}


def _differ(shipped: Path, own: Path) -> bool:
    return own.exists() and shipped.read_bytes() != own.read_bytes()


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
