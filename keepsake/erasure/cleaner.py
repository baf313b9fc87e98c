"""The interface of what deletes a person's words from one store."""

from __future__ import annotations

from typing import Protocol

from keepsake.erasure.traces import Traces


class Cleaner(Protocol):
    """Deletes a person's words from one store.

    It may be called again for the same person: a deletion that was interrupted is continued.
    """

    @property
    def name(self) -> str:
        """The store, for a message to builders: ``event log``."""

    def clean(self, traces: Traces) -> None:
        """Delete what the traces find in the store; blocks.

        Raises:
            OSError: The store cannot be read or written. The same call works later.
        """
