"""What the system refuses, as an error with a cure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from game.mind.errors import KeepsakeError


@contextmanager
def refusing(what: str, cure: str) -> Iterator[None]:
    """Have a refusal of disk or system told as ``what``, with its reason and the cure.

    Raises:
        KeepsakeError: In place of any :class:`OSError`.
    """
    try:
        yield
    except OSError as error:
        raise KeepsakeError(f"{what} ({error.strerror or error})", cure) from error
