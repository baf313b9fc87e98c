"""The people whom the agent knows, and forgetting one of them."""

from __future__ import annotations

from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.library.happenings import Who
from keepsake.library.opened import OpenMemory
from keepsake.library.results import Forgotten, KnownPerson
from keepsake.library.verbs.shared import OfMemory


class Knowing(OfMemory):
    """The verbs ``people`` and ``forget``."""

    def people(self) -> list[KnownPerson]:
        """Return the people whom the agent knows, the most recently met first; blocks.

        Words that were said in confidence are left out.
        """
        with self._gate.together():
            opened = self._opened
            opened.read_up()
            opened.shelf.update_people(opened.archive)
            private = opened.private
            return [
                KnownPerson.of(
                    page,
                    [
                        line.shown
                        for line in page.lines
                        if private.may_hear(line.numbers, NO_PRIVATE_WORDS)
                    ],
                )
                for page in opened.shelf.people.all()
            ]

    def forget(self, person: Who) -> Forgotten:
        """Delete what a person said and did, with all that was made from it; blocks.

        A name means the only person who is known by it. What others said on their own stays. Other
        calls wait meanwhile.

        Returns:
            How many memories were deleted. If something could not be, its ``problems`` say so, and
            it is tried again when the memory is opened.

        Raises:
            KeepsakeError: Several people have that name, or nothing could be written.
        """
        from keepsake.library.forgetting import forget, meant  # noqa: PLC0415 - seldom

        with self._gate.alone():
            opened = self._opened
            opened.shelf.update_people(opened.archive)
            found = meant(person, opened.shelf.people.known.values())
            opened.close()
            try:
                return forget(self.folder, self._agent, found, self._parts.events)
            finally:
                self._opened = OpenMemory(self.folder, self._agent, self._parts)
