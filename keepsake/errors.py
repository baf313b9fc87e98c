"""One hierarchy of errors; each says what went wrong and what to do next.

::

    KeepsakeError
    ├── ConfigError               a file in vault/config that cannot be used
    ├── NameRefused               a name that no agent may have
    ├── NoteRefused               a note or pinned line that cannot be kept, found or moved
    ├── ArchiveError
    │   ├── ArchiveUnwritable     the disk is full, read-only or gone
    │   └── ArchiveInUse          another process writes this archive
    ├── CompactionError
    │   └── CompactionRunning     a second one was asked for meanwhile
    ├── IndexUnavailable          recall cannot search now; words may still work
    └── ModelError
        ├── ModelUnavailable      no server answers (refused, silent when last looked at, stopped)
        │   ├── CallGivenUp       nobody wants the answer any more
        │   └── ModelBusy         it loads the model, or is asked too often (HTTP 429, 503)
        ├── ModelMissing          the server is there, the model is not
        ├── ModelTimeout          no answer within the profile's time limit
        ├── ModelRejected         the server refused the request (HTTP 4xx)
        │   └── PromptTooLong     the prompt has more tokens than the model looks at
        ├── ModelFailed           the server broke on the request (HTTP 5xx)
        └── BadAnswer             empty, or not what the protocol promises
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path


class KeepsakeError(Exception):
    """Something Keepsake can name, with the cure beside it.

    Args:
        what: What went wrong, one sentence without its full stop.
        cure: What the reader can do about it, one sentence; may be empty.
    """

    def __init__(self, what: str, cure: str = "") -> None:
        super().__init__(f"{what}. {cure}" if cure else what)
        self.what = what
        self.cure = cure


@contextmanager
def refusing(what: str, cure: str = "", *also: type[Exception]) -> Iterator[None]:
    """Have a refusal of disk or system told as ``what``, with its reason and the cure.

    Raises:
        KeepsakeError: In place of any :class:`OSError`, and of what is named in ``also``.
    """
    refusals: tuple[type[Exception], ...] = (OSError, *also)
    try:
        yield
    except refusals as error:
        reason = getattr(error, "strerror", None) or error
        raise KeepsakeError(f"{what} ({reason})", cure) from error


EXTRAS = {
    "evennia": ("evennia", "django", "twisted", "ninja", "prometheus_client", "chromadb"),
    "lab": ("matplotlib", "pyarrow", "scipy"),
}
"""The modules that come with an extra of the package alone."""


def not_installed(module: str) -> KeepsakeError | None:
    """The error for a missing module of an extra, with its cure; None for other modules."""
    name = module.partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if name in modules), "")
    cure = f'pip install "evennia-keepsake[{extra}]" (in a checkout: make install)'
    return KeepsakeError(f"The package {name} is not installed", cure) if extra else None


def require(extra: str) -> None:
    """Look whether the modules of an extra are there, without importing them.

    Raises:
        KeepsakeError: One is not; names the extra.
    """
    for name in EXTRAS[extra]:
        if find_spec(name) is None and (problem := not_installed(name)):
            raise problem


class ConfigError(KeepsakeError):
    """A configuration file that cannot be used; names file, line and reason."""

    def __init__(self, path: Path, line: int, reason: str, cure: str = "") -> None:
        super().__init__(f"{path}, line {line}: {reason}", cure)
        self.path = path
        self.line = line
        self.reason = reason


class NameRefused(KeepsakeError):
    """A name that no agent may have."""


class NoteRefused(KeepsakeError):
    """A note or a pinned line that cannot be kept, found or moved."""


class ArchiveError(KeepsakeError):
    """The archive could not be read or written."""


class ArchiveUnwritable(ArchiveError):
    """The disk is full, read-only or gone."""


class ArchiveInUse(ArchiveError):
    """Another process writes this archive."""


class CompactionError(KeepsakeError):
    """A compaction that changed nothing, and why."""


class CompactionRunning(CompactionError):
    """A compaction of this memory is already under way."""


class IndexUnavailable(KeepsakeError):
    """The recall index cannot be asked now."""


class ModelError(KeepsakeError):
    """A model call that gave no usable answer; ``said`` is what the server sent in its place."""

    said: str = ""
    until: float = 0.0  # before which the server wants to be left alone, in monotonic seconds


class ModelUnavailable(ModelError):
    """No server answers: connection refused, silent when last looked at, or stopped."""


class CallGivenUp(ModelUnavailable):
    """Nobody wants the answer any more; says nothing of the server."""


class ModelBusy(ModelUnavailable):
    """The server is there and not ready: it loads the model, or is asked too often."""


class ModelMissing(ModelError):
    """The server is there, the model is not."""


class ModelTimeout(ModelError):
    """No answer within the profile's time limit."""


class ModelRejected(ModelError):
    """The server refused the request (HTTP 4xx)."""


class PromptTooLong(ModelRejected):
    """The prompt has more tokens than the model looks at: build a shorter one."""


class ModelFailed(ModelError):
    """The server broke on the request (HTTP 5xx)."""


class BadAnswer(ModelError):
    """Empty, broken off after a part of it was handed on, or not what the protocol promises."""
