"""Errors as HTTP statuses."""

from __future__ import annotations

from collections.abc import Mapping

from keepsake import errors
from keepsake.errors import KeepsakeError

_STATUS: Mapping[type[KeepsakeError], int] = {
    errors.ArchiveInUse: 409,
    errors.ArchiveUnwritable: 507,
    errors.ArchiveError: 500,
    errors.CompactionError: 409,
    errors.ConfigError: 500,
    errors.IndexUnavailable: 503,
    errors.ModelMissing: 502,
    errors.ModelTimeout: 504,
    errors.ModelUnavailable: 503,
    errors.ModelError: 502,
}
"""The status of each kind of error; the first that fits counts. All others are the caller's."""
BAD_REQUEST = 400


class Denied(KeepsakeError):
    """A request that its token does not allow, or that is one too many.

    Attributes:
        status: The HTTP status.
        after: Seconds after which it may be tried again; 0 for never.
    """

    def __init__(self, status: int, what: str, cure: str, after: int = 0) -> None:
        super().__init__(what, cure)
        self.status = status
        self.after = after


def status_of(error: KeepsakeError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, Denied):
        return error.status
    return next((code for kind, code in _STATUS.items() if isinstance(error, kind)), BAD_REQUEST)


def body_of(error: KeepsakeError) -> dict[str, str]:
    """Return an error as a JSON object."""
    return {"error": error.what, "cure": error.cure, "kind": type(error).__name__}
