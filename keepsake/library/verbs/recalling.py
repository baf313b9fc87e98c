"""Searching the memory."""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.errors import IndexUnavailable, KeepsakeError
from keepsake.language.perception import one_line
from keepsake.library.happenings import Who
from keepsake.library.results import RecalledMemory
from keepsake.library.verbs.shared import OfMemory

RECALL_SECONDS = 10.0
"""Seconds that a search of a program may take by meaning. After that it is by words alone."""


class Recalling(OfMemory):
    """The verb ``recall``."""

    def recall(
        self, question: str, limit: int = 10, *, audience: Sequence[Who] | None = None
    ) -> list[RecalledMemory]:
        """Return the memories that answer ``question`` or share its words, best first; blocks.

        Args:
            limit: The most memories, 1 to 200.
            audience: Who hears the results; what others confided is left out. None for the program
                itself, which may know all.

        Raises:
            IndexUnavailable: The index cannot be searched now.
            KeepsakeError: ``limit`` is out of range.
        """
        if not 1 <= limit <= 200:
            raise KeepsakeError(f"limit is {limit}", "Give a number from 1 to 200")
        with self._gate.together():
            opened = self._opened
            opened.read_up()
            hearers = None
            if audience is not None:
                hearers = frozenset(each.id for each in self._reader.people([*audience]))
            text = one_line(question)
            found = opened.finder.find_memories(
                text, limit, RECALL_SECONDS, audience=hearers, wants_answer=True
            )
            if found is None:
                raise opened.index.problem or IndexUnavailable("The index cannot be searched now")
            return [RecalledMemory.of(hit, self.name) for hit in found]
