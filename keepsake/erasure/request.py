"""Requests to be forgotten, on the disk until all is done.

A request is one JSON file. It is written before anything is deleted, and holds the word list that
recognises texts after the archives have been cleaned. It is deleted at the very end, so a request
that a crash or a full disk interrupts is continued after the next start.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from keepsake.erasure.person import ForgottenPerson
from keepsake.erasure.traces import Traces
from keepsake.files import sync
from keepsake.json_lines import in_json

_SUFFIX = ".json"
_UNFINISHED = ".new"
_OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """One request, and where it is kept.

    Attributes:
        path: The file.
        traces: What the person left behind, as far as it was collected.
    """

    path: Path
    traces: Traces

    def save(self) -> None:
        """Write it to the disk.

        Raises:
            OSError: The disk refused; an earlier file of this request stays.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = self.path.with_suffix(_UNFINISHED)
        try:
            fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_ONLY)
            with os.fdopen(fd, "wb") as file:
                file.write(in_json(self.traces.to_record()).encode("utf-8", "replace"))
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
            sync(self.path.parent)
        finally:
            new.unlink(missing_ok=True)

    def done(self) -> None:
        """Delete the file: everything is deleted.

        Raises:
            OSError: The file cannot be deleted.
        """
        self.path.unlink(missing_ok=True)


def request_for(folder: Path, person: ForgottenPerson) -> ErasureRequest:
    """Return the request of a person: the one that was interrupted, or a new one.

    ``folder``: Where requests are kept.
    """
    path = folder / f"{person.key}{_SUFFIX}"
    traces = Traces(person)
    if (earlier := _read(path)) is not None:
        traces.add_all(earlier)
    return ErasureRequest(path, traces)


def requests_in(folder: Path) -> Iterator[ErasureRequest]:
    """Yield the requests that were interrupted; skips files that cannot be read."""
    for unfinished in folder.glob(f"*{_UNFINISHED}"):
        unfinished.unlink(missing_ok=True)
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        if (traces := _read(path)) is not None:
            yield ErasureRequest(path, traces)


def _read(path: Path) -> Traces | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return Traces.from_record(json.loads(path.read_text(encoding="utf-8")))
    return None
