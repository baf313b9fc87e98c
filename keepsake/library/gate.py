"""A gate: many calls may pass at once, and one that needs everything waits until all have left."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from keepsake.errors import KeepsakeError


class Gate:
    """Lets calls pass together, or one alone; safe for threads.

    A call that passes must not pass again before it has left: while one waits to be alone, nobody
    new is let in.

    Args:
        closed: Makes the error for a call after :meth:`close`.
    """

    def __init__(self, closed: str, cure: str) -> None:
        self._error = (closed, cure)
        self._changed = threading.Condition()
        self._inside = 0
        self._alone = False
        self._closed = False

    @contextmanager
    def together(self) -> Iterator[None]:
        """Pass with others.

        Raises:
            KeepsakeError: The gate is closed.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            if self._closed:
                raise KeepsakeError(*self._error)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self, *, closing: bool = False) -> Iterator[bool]:
        """Pass when everybody else has left; nobody passes meanwhile.

        Args:
            closing: Whether nobody may pass afterwards.

        Returns:
            Whether the gate was open; a second closing finds it closed.

        Raises:
            KeepsakeError: The gate is closed, and this is no closing.
        """
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            was_open = not self._closed
            if not was_open and not closing:
                raise KeepsakeError(*self._error)
            self._alone = True
            self._closed |= closing
            self._changed.wait_for(lambda: not self._inside)
        try:
            yield was_open
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()
