"""Remembering what happened."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from keepsake.archive.records import Memory as Record
from keepsake.errors import KeepsakeError
from keepsake.happening import ME, PersonId
from keepsake.language.perception import one_line
from keepsake.library.happenings import Happened, Who
from keepsake.library.verbs.shared import OfMemory

_FIRST_YEAR = 1000
_LAST_YEAR = 9000
"""Years outside cannot be shown in every time zone."""


class Remembering(OfMemory):
    """The verb ``perceive``."""

    def perceive(
        self,
        what: Happened,
        *,
        place: str = "",
        time: datetime | None = None,
        only_for: Collection[Who] | None = None,
        happening: str = "",
        rests_on: Sequence[int] = (),
    ) -> int:
        """Remember what happened; it is in the archive when this returns.

        The same line of the same person within ten minutes is one memory with a count.

        Args:
            what: A :class:`keepsake.Speech`, ``Deed``, ``Pose`` or ``Sight``.
            place: Where it happened: a channel, a room.
            time: When it happened, if that is not now; without a zone it is local time.
            only_for: The only others who know it; None for everybody. A whisper needs none.
            happening: An id of your own, the same in the memories of all who perceived it.
            rests_on: For the agent's own words: the memories that its prompt showed; see
                :class:`keepsake.MemoryPrompt`.

        Returns:
            The number of the memory.

        Raises:
            ArchiveUnwritable: Nothing was remembered.
            KeepsakeError: A field cannot be used; the message says which.
        """
        with self._gate.together():
            record = replace(
                self._record(what, place, time),
                happening=one_line(happening),
                rests_on=self._known_numbers(rests_on),
                witnesses=self._witnesses(only_for),
            )
            return self._opened.add(record).number

    def _record(self, what: Happened, place: str, time: datetime | None = None) -> Record:
        """Return a memory of what happened at ``time``, now if None, which is not archived yet.

        Raises:
            KeepsakeError: A field cannot be used.
        """
        told, event = self._reader.what(what)
        when = time or self._parts.clock.now()
        if not _FIRST_YEAR <= when.year <= _LAST_YEAR:
            cure = f"Give a year from {_FIRST_YEAR} to {_LAST_YEAR}"
            raise KeepsakeError(f"Nothing can be remembered of the year {when.year}", cure)
        when = when if when.tzinfo else when.astimezone()
        return Record(0, when, told, place=one_line(place), event=event)

    def _witnesses(self, only_for: Collection[Who] | None) -> tuple[PersonId, ...] | None:
        """Return the identities of the only others who know of something; None for everybody."""
        if only_for is None:
            return None
        people = map(self._reader.person, [*only_for])
        return tuple(sorted({each.id for each in people} - {ME.id}))

    def _known_numbers(self, numbers: Sequence[int]) -> tuple[int, ...]:
        newest = self._opened.archive.last_number
        wrong = [each for each in numbers if not 0 < each <= newest]
        if wrong:
            cure = f"The newest memory is {newest}; take rests_on from a prompt"
            raise KeepsakeError(f"There is no memory {wrong[0]}", cure)
        return tuple(sorted(set(numbers)))
