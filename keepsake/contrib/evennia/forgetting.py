"""`forget me`: erases a player's words from every agent, every log and the database.

:mod:`keepsake.erasure` deletes; this module names the stores of an Evennia game, and chooses the
threads. The database and the waiting memories belong to the reactor thread, all else to a worker
thread. An agent is suspended while its folder is cleaned.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol, cast

from django.db.models import Q
from evennia.comms.models import Msg
from twisted.python.failure import Failure

from keepsake.agent.agent_log import call_hook
from keepsake.agent.body import Body
from keepsake.agent.runtime import running, runtime
from keepsake.agent.surroundings.game_objects import CharacterObject
from keepsake.agent.surroundings.identity import identity_of
from keepsake.contrib.evennia.audit import AUDIT, REPORTS
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.hearing import object_of
from keepsake.contrib.evennia.minds import Suspension
from keepsake.database import scrub
from keepsake.erasure.archives import memories_of
from keepsake.erasure.caches import CacheCleaner
from keepsake.erasure.cleaner import Cleaner
from keepsake.erasure.erasure import Erasure
from keepsake.erasure.folder import AgentCleaner
from keepsake.erasure.logs import LogCleaner, ReportCleaner
from keepsake.erasure.person import ForgottenPerson
from keepsake.erasure.request import request_for, requests_in
from keepsake.erasure.texts import TextCleaner
from keepsake.erasure.traces import AgentMemories, Traces
from keepsake.erasure.waiting import SpillCleaner
from keepsake.happening import PersonId
from keepsake.logs import Subsystem, get_logger
from keepsake.models.embedders import CachedEmbedder
from keepsake.paths import Places

log = get_logger(Subsystem.ERASURE)

FORGOTTEN_AT = "forgotten"
"""The attribute of a character with the time when its words were deleted, in seconds."""
TIMEOUT_SECONDS = 3600.0
"""Seconds for one step in a worker thread. Logs take some seconds for each ten megabytes."""
_running: dict[PersonId, _Forgetting] = {}
"""The requests under way, by person. The first is carried out, the others wait for it."""


def is_being_forgotten(character: CharacterObject) -> bool:
    """Return whether the words of the character are being deleted now."""
    return identity_of(character) in _running


def forget_everywhere(character: CharacterObject, done: Callable[[list[str]], None]) -> None:
    """Erase a character's words from every store, one agent after the other.

    A worker thread cleans an agent's folder. Meanwhile the agent perceives and does not think: see
    :class:`~keepsake.contrib.evennia.minds.Suspension`. The request is on the disk until all is
    done: :func:`continue_requests` continues it after the next start.

    Args:
        done: Called at the end with the problems, in words; with an empty list if there are none.
    """
    agents = frozenset(map(identity_of, all_agents()))
    person = ForgottenPerson(identity_of(character), character.key, agents)
    _Forgetting(person, done).begin()


def continue_requests() -> None:
    """Continue what was interrupted by the end of the world, or by a full disk."""
    if not running():
        return
    folder = runtime().places.forgetting

    def go_on(people: list[ForgottenPerson]) -> None:
        for person in people:
            if person.key not in _running:
                log.info("An interrupted deletion is continued", person=person.key)
                _Forgetting(person, partial(_log_result, person)).begin()

    def failed(failure: Failure) -> None:
        log.error("Interrupted deletions could not be continued", exc_info=failure.value)

    # In a worker thread, because a request holds a long list of words.
    found = runtime().in_thread(
        lambda: [each.traces.person for each in requests_in(folder)], TIMEOUT_SECONDS
    )
    found.addCallback(go_on).addErrback(failed)


def _log_result(person: ForgottenPerson, problems: list[str]) -> None:
    # Without the name, which has just been deleted from the logs.
    if problems:
        log.error("Not all words could be deleted", person=person.key, problems=problems)
    else:
        log.info("The words have been deleted")


class _Forgetting:
    """One request: its steps, each of which runs in a worker thread or on the reactor thread."""

    def __init__(self, person: ForgottenPerson, done: Callable[[list[str]], None]) -> None:
        self._person = person
        self._done = done
        self._erasure: Erasure | None = None  # None until the request has been read
        self._problems: list[str] = []
        self._agents: list[Body] = []
        self._suspension: Suspension | None = None

    @property
    def _is_on_disk(self) -> bool:
        return self._erasure is not None

    @property
    def _is_under_way(self) -> bool:
        """Whether the world that began it still runs: a step may end after its world."""
        return _running.get(self._person.key) is self

    @property
    def _steps(self) -> Erasure:
        assert self._erasure is not None, "the request has been read"
        return self._erasure

    def begin(self) -> None:
        """Write the request to the disk, and start unless another is under way; returns at once.

        Two at a time would clean the same folder.
        """
        _running[self._person.key] = self
        folder = runtime().places.forgetting

        def write_request() -> None:
            request = request_for(folder, self._person)
            request.save()
            self._erasure = Erasure(request, self._problems)

        self._in_thread(write_request, self._start_if_first)

    def _start_if_first(self) -> None:
        if next(iter(_running.values())) is self:
            self._start()

    def _start(self) -> None:
        """Collect what the person left behind, and clean the logs, in a worker thread."""
        self._agents = list(all_agents())
        places = runtime().places
        archives = [_archive_of(agent, places) for agent in self._agents]

        def work() -> None:
            self._steps.begin(archives)
            # Before the archives: their deletion may be interrupted, and logs never end.
            self._steps.run(_log_cleaners(places))

        self._in_thread(work, self._clean_next_agent)

    def _in_thread(self, work: Callable[[], None], then: Callable[[], None]) -> None:
        """Run ``work`` in a worker thread, then ``then`` on the reactor thread."""

        def go_on(_: None) -> None:
            if self._is_under_way:
                then()

        def failed(failure: Failure) -> None:
            problem = str(failure.value) or repr(failure.value)
            log.error("Forgetting failed", person=self._person.key, exc_info=failure.value)
            if self._is_under_way:  # else the end itself has failed
                self._problems.append(problem)
                self._end()

        waiting = runtime().in_thread(work, TIMEOUT_SECONDS)
        waiting.addCallback(go_on).addErrback(failed)

    def _clean_next_agent(self) -> None:
        """Clean the folder of the next agent in a worker thread, while the agent is suspended."""
        if not self._agents:
            self._clean_database()
            return
        agent = self._agents.pop(0)
        if agent.pk is None:  # it was deleted meanwhile
            runtime().post(self._clean_next_agent)
            return
        self._suspension = Suspension(agent)
        folder = agent.memory_folder
        name = str(agent.key)
        cleaner = _folder_cleaner(folder, name)

        def then() -> None:
            # What waits for the archive, and what came meanwhile: it may quote the person.
            cleaners = SpillCleaner(runtime().spill, folder), FormerProfileCleaner(agent)
            self._steps.run(cleaners, name)
            self._end_suspension()
            runtime().post(self._clean_next_agent)

        self._in_thread(lambda: self._steps.run([cleaner], name), then)

    def _end_suspension(self) -> None:
        suspension = self._suspension
        self._suspension = None
        if suspension is not None:
            suspension.end()

    def _clean_database(self) -> None:
        """Delete the person's rows, then clean the logs once more."""
        self._steps.run([RowCleaner()])
        places = runtime().places
        # Logs again, for what was written since, such as thoughts that the closed minds gave up.
        last: list[Cleaner] = [
            *_log_cleaners(places),
            DatabaseFileCleaner(places),
            _cache_cleaner(),
        ]
        self._in_thread(lambda: self._steps.run(last), self._end)

    def _end(self) -> None:
        """End the request: report it, and start the one that waits behind it."""
        self._end_suspension()
        _running.pop(self._person.key, None)
        if running() and (indexes := runtime().indexes) is not None:
            indexes.follow()
        character = object_of(self._person.key)
        if not self._problems and character is not None:
            character.attributes.add(FORGOTTEN_AT, runtime().clock.now().timestamp())
        if self._erasure is not None:
            self._erasure.end()
        following = next(iter(_running.values()), None)
        if following is not None and following._is_on_disk:  # else it starts once it is
            following._start()
        self._done(self._problems)


def _archive_of(agent: Body, places: Places) -> AgentMemories:
    folder = places.agents / agent.memory_folder
    return memories_of(folder, agent.key, str(agent.db.profile or ""))


def _folder_cleaner(folder: str, name: str) -> AgentCleaner:
    """Return the cleaner of an agent's folder, for a worker thread."""
    shared = runtime()
    indexes = shared.indexes
    begin = partial(indexes.erase, folder) if indexes is not None else lambda: None
    return AgentCleaner(shared.places.agents / folder, name, begin)


def _log_cleaners(places: Places) -> list[Cleaner]:
    return [
        ReportCleaner(places.logs / f"{REPORTS}.jsonl"),
        LogCleaner(places.logs, _flush_events, named=[f"{AUDIT}.jsonl"]),
    ]


def _cache_cleaner() -> CacheCleaner:
    """Return the cleaner of what the library remembers in RAM."""
    shared = runtime()
    embedder = shared.embedder
    vectors = [embedder.forget] if isinstance(embedder, CachedEmbedder) else []
    return CacheCleaner(shared.gateway.forget, *vectors)


def _flush_events() -> None:
    if (events := runtime().event_log) is not None:
        events.flush()


class _Nicks(Protocol):
    def clear(self) -> None: ...


class _Account(Protocol):
    nicks: _Nicks


class _Played(CharacterObject, Protocol):
    """A character with what the database keeps of its player."""

    account: _Account | None
    nicks: _Nicks


class RowCleaner:
    """Deletes what a player wrote in Evennia's database: messages, nicks and the description.

    The game's own data is deleted by the character's method ``at_forgotten``, if it has one.
    """

    name = "database"

    def clean(self, traces: Traces) -> None:
        """Delete the rows; nothing if the character has been deleted."""
        character = cast("_Played | None", object_of(traces.person.key))
        if character is None:
            return
        account = character.account or character.db._last_account
        theirs = Q(db_sender_objects=character) | Q(db_receivers_objects=character)
        if account is not None:
            theirs |= Q(db_sender_accounts=account) | Q(db_receivers_accounts=account)
            account.nicks.clear()
        Msg.objects.filter(theirs).distinct().delete()
        character.nicks.clear()
        character.attributes.remove("desc")
        if hasattr(character, "at_forgotten"):
            call_hook(character, "at_forgotten", type(None), None)


class FormerProfileCleaner:
    """Deletes a person's words from the profiles that an agent had before; reactor thread only.

    The present profile is the builder's, as the file with it: words in it are nobody's own.
    """

    name = "former profiles"

    def __init__(self, agent: Body) -> None:
        self._agent = agent

    def clean(self, traces: Traces) -> None:
        """Delete the lines and sentences with their words or name, and profiles that are empty."""
        before = [str(each) for each in self._agent.db.former_profiles or ()]
        texts = TextCleaner(traces, self._agent.memory_folder)
        left = [kept for each in before if (kept := texts.without(each)).strip()]
        if left != before:
            self._agent.db.former_profiles = left


class DatabaseFileCleaner:
    """Removes the remains of deleted rows from SQLite's file and its log."""

    name = "database file"

    def __init__(self, places: Places) -> None:
        self._places = places

    def clean(self, _: Traces) -> None:
        """Vacuum the database, and empty its log. PostgreSQL does both by itself."""
        if not self._places.database_url and self._places.database.exists():
            scrub(self._places.database)
