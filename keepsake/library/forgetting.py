"""Forgetting a person: deletes what they said and did from one memory.

The memory is closed meanwhile. The request is on the disk until all is deleted: a deletion that was
interrupted is continued when the memory is opened again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from keepsake.books.person_page import PersonPage
from keepsake.erasure.archives import memories_of
from keepsake.erasure.cleaner import Cleaner
from keepsake.erasure.erasure import Erasure
from keepsake.erasure.folder import AgentCleaner
from keepsake.erasure.logs import LogCleaner
from keepsake.erasure.person import ForgottenPerson
from keepsake.erasure.request import ErasureRequest, request_for, requests_in
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.log import EventLog
from keepsake.events.types import Events
from keepsake.files import OWN
from keepsake.happening import Person
from keepsake.library.happenings import Who, person_of
from keepsake.library.opened import INDEX, AgentProfile, requests_of
from keepsake.library.results import Forgotten
from keepsake.logs import Subsystem, get_logger

log = get_logger(Subsystem.ERASURE)

_CURE = "Free some disk space or fix the permissions, and ask again"


def meant(named: Who, known: Iterable[PersonPage]) -> Person:
    """Return the person that a name means: the only one who is known by it, whatever their id.

    Raises:
        KeepsakeError: Several people have that name.
    """
    given = person_of(named)
    if isinstance(named, Person) and named.id:
        return given
    same = [page for page in known if page.name.casefold() == given.name.casefold()]
    if len(same) > 1:
        ids = ", ".join(page.key for page in same)
        cure = f"Name one by id, as in Person({given.name!r}, id=…): {ids}"
        raise KeepsakeError(f"{len(same)} people are called {given.name}", cure)
    return Person(same[0].name, same[0].key) if same else given


def forget(folder: Path, agent: AgentProfile, person: Person, events: Events) -> Forgotten:
    """Delete what a person said and did from a closed memory and its event log; blocks.

    Raises:
        KeepsakeError: The request cannot be written. Nothing was deleted.
    """
    request = request_for(requests_of(folder), ForgottenPerson(person.id, person.name))
    return _run(folder, agent, request, events)


def continue_requests(folder: Path, agent: AgentProfile, events: Events) -> None:
    """Continue what was interrupted, before the memory is opened; blocks."""
    for request in requests_in(requests_of(folder)):
        log.info("An interrupted deletion is continued", agent=agent.name)
        _run(folder, agent, request, events)


def _run(folder: Path, agent: AgentProfile, request: ErasureRequest, events: Events) -> Forgotten:
    erasure = Erasure(request)
    with refusing("The person was not forgotten", _CURE):
        erasure.begin([memories_of(folder, agent.name, agent.persona)])

    def drop_index() -> None:
        """Delete the index, which is made anew, and the list of private memories."""
        shutil.rmtree(folder / OWN / INDEX, ignore_errors=True)
        (folder / OWN / "private.json").unlink(missing_ok=True)

    cleaners: list[Cleaner] = []
    if isinstance(events, EventLog):
        cleaners.append(LogCleaner(events.folder, events.flush))
    cleaners.append(AgentCleaner(folder, agent.name, drop_index))
    erasure.run(cleaners, agent.name)
    erasure.end()
    found = request.traces.numbers.get(folder.name, ())
    return Forgotten(len(found), tuple(erasure.problems))
