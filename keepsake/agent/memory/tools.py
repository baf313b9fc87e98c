"""The tools with which an agent uses its own memory, and its searches.

These tool calls do not pass through the game's commands or rooms. The act and its result go
only into the agent's own memory. What each does is in
:mod:`keepsake.agent.memory.commitment_tools` (plans, promises) and
:mod:`keepsake.agent.memory.note_tools` (notes, pins); the searches are here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from cachetools import LRUCache
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from keepsake.agent.memory import search_results
from keepsake.agent.memory.books import Books
from keepsake.agent.memory.commitment_tools import CommitmentTools
from keepsake.agent.memory.compacting import Compactions
from keepsake.agent.memory.confidences import IN_CONFIDENCE, confided
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.note_tools import NoteTools
from keepsake.agent.memory.recaller import Recaller
from keepsake.agent.plans.appointments import Appointments
from keepsake.agent.plans.plans import Plans
from keepsake.agent.plans.shown_plans import PUBLIC, Known
from keepsake.agent.runtime import Runtime
from keepsake.archive.privacy import Audience
from keepsake.books.aloud import Aloud
from keepsake.errors import KeepsakeError
from keepsake.events.values import RecallPurpose
from keepsake.happening import KnownVerb, Person, PersonId, Result
from keepsake.language.perception import shorten
from keepsake.logs import Subsystem, get_logger
from keepsake.prompt.verbs import ANSWERS, PRIVATE, Command
from keepsake.recall.documents import DocumentKind, Hit
from keepsake.recall.finding import SearchResult
from keepsake.recall.ranking.merging import MOST_PARTS
from keepsake.tasks.questions.passing_on import PassedOn
from keepsake.tasks.scene import Excerpt
from keepsake.tasks.stated import NOTHING_STATED

type Tool = Callable[[Command, str], str | Excerpt]
"""Carries out a command at a place, and returns its result in a line; blocks."""

log = get_logger(Subsystem.TOOLS)

WRITES = frozenset({KnownVerb.NOTE, KnownVerb.PIN, KnownVerb.REMEMBER})
"""Verbs that write what others may read."""
WRITES_FOR_ALL = WRITES - {KnownVerb.REMEMBER}
"""Those of them whose result appears in prompts whose answers others hear, in any case. They are
not offered if the prompt holds words that were confided to the agent."""
PLAN_VERBS = frozenset({KnownVerb.PLAN, KnownVerb.DONE, KnownVerb.CANCEL, *ANSWERS})
"""Verbs that the setting ``plans: no`` takes away."""
TOOL_SECONDS = 10.0
"""Seconds that a tool call may take."""
_DIVIDES = ";"
"""What divides the things that one ``> recall`` asks for, as the verb's own line says."""


class MemoryTools:
    """The tool calls of one agent.

    Attributes:
        memory, books, recaller, compactions: The parts of the memory that the tools use.
        commitments: The tools that make, end and answer what it means to do.
    """

    def __init__(
        self,
        memory: MemoryComponent,
        books: Books,
        recaller: Recaller,
        compactions: Compactions,
        services: Runtime,
    ) -> None:
        self.memory = memory
        self.books = books
        self.recaller = recaller
        self.compactions = compactions
        self.plans: Plans | None = None  # their clock; set by the mind
        self.appointments: Appointments | None = None  # set by the mind
        # What the model said of words to somebody who does not know what was whispered: by that
        # person's identity, the words, and the memories that it was shown.
        self.consents: LRUCache[tuple[PersonId, str, tuple[int, ...], bool], PassedOn] = LRUCache(
            64
        )
        self.stated = NOTHING_STATED  # what the prompts of the agent have told
        self.commitments = CommitmentTools(memory, books, services)
        self._notes = NoteTools(memory, books, services)
        self._services = services

    def perform(
        self,
        command: Command,
        place: str,
        *,
        act: int = 0,
        to: Person | None = None,
        redact: str = "",
        seen: int = 0,
        known: Known = PUBLIC,
        witnesses: tuple[PersonId, ...] | None = None,
        aloud: Aloud | None = None,
    ) -> Deferred[None]:
        """Execute a command with a private verb in a worker thread.

        Args:
            act: The number of the memory of this act.
            to: The person whom it concerns; None for nobody.
            redact: Private words to cut from the result.
            seen: The newest memory of the prompt.
            known: The plans and promises that it may name.
            witnesses: Who else may know the act and its result; None for everybody.
            aloud: What was said aloud that asks for it; None for nothing.

        Returns:
            A Deferred that fires on the reactor thread when the result is in the memory.
        """

        def archive(result: str | Excerpt | Failure) -> None:
            found = self._outcome(command, result)
            text = found.text.replace(redact, "…") if redact else found.text
            line = shorten(" ".join(text.split()), search_results.LONGEST_RESULT)
            done = not isinstance(result, Failure)
            what = Result(verb=command.verb, act=act, done=done, shown=line)
            rests_on = (*found.numbers, act) if act else found.numbers
            # A search for somebody in confidence brings what only they may know.
            told = self.memory.private.confidants_of(found.numbers)
            may_know = told if witnesses is None else frozenset(witnesses) & (told or {*witnesses})
            knows = None if may_know is None else tuple(sorted(may_know))
            self.memory.remember(what, place=place, rests_on=rests_on, witnesses=knows)

        if command.verb == KnownVerb.RECALL:
            self.recaller.read_names()
        tool = self._tool(command, to, act, known=known, witnesses=witnesses, aloud=aloud)
        given = self._notes.with_source(command, seen) if command.verb in WRITES else command
        return self._services.in_thread(lambda: tool(given, place), TOOL_SECONDS).addBoth(archive)

    def _outcome(self, command: Command, result: str | Excerpt | Failure) -> Excerpt:
        """Return what a tool call brought, with the memories that it shows; log a bug."""
        if isinstance(result, Excerpt):
            return result
        if isinstance(result, str):
            return Excerpt((), result)
        if isinstance(result.value, KeepsakeError):
            return Excerpt((), f"You tried > {command.line}: {result.value}")
        told = "A tool call failed"
        name = self.memory.name
        log.error(told, agent=name, command=command.line, exc_info=result.value)
        return Excerpt((), f"You tried > {command.line}: it failed")

    def _tool(
        self,
        command: Command,
        to: Person | None,
        act: int,
        *,
        known: Known,
        witnesses: tuple[PersonId, ...] | None,
        aloud: Aloud | None,
    ) -> Tool:
        """Return the method that executes a command; the arguments are those of :meth:`perform`."""
        commit = self.commitments
        notes = self._notes
        met = self.appointments
        answer = partial(commit.answer, to=to, act=act, appointments=met)
        plan = partial(commit.plan, people=self.people_known, appointments=met)
        promise = partial(commit.promise, to=to)
        tools: Mapping[str, Tool] = {
            KnownVerb.NOTE: notes.note,
            KnownVerb.FORGET: notes.forget,
            KnownVerb.PIN: notes.pin,
            KnownVerb.UNPIN: notes.unpin,
            KnownVerb.RECALL: partial(self._recall, audience=known.audience),
            KnownVerb.REMEMBER: notes.remember if witnesses is None else notes.keep_private,
            KnownVerb.PROMISE: partial(promise, act=act, witnesses=witnesses, aloud=aloud),
            KnownVerb.KEPT: partial(commit.kept, known=known),
            KnownVerb.PLAN: partial(plan, act=act, known=known, witnesses=witnesses, aloud=aloud),
            KnownVerb.DONE: partial(commit.done, known=known),
            KnownVerb.CANCEL: partial(commit.cancel, known=known),
            KnownVerb.AGREE: answer,
            KnownVerb.DECLINE: answer,
        }
        return tools[command.verb]

    @property
    def has_memory(self) -> bool:
        """Whether prompts show more than the present talk: the setting ``memory``."""
        remembers: bool = self._services.thinking.current.memory
        return remembers

    @property
    def people_known(self) -> tuple[Person, ...]:
        """Everybody of whom the agent has a page."""
        pages = self.books.people.known.values()
        return tuple(Person(page.name, page.key) for page in pages)

    @property
    def withheld(self) -> frozenset[str]:
        """The verbs that the settings ``plans`` and ``memory`` take away from agents."""
        thinking = self._services.thinking.current
        of_plans = frozenset[str]() if thinking.plans else PLAN_VERBS
        return of_plans if thinking.memory else of_plans | (PRIVATE - PLAN_VERBS)

    # -- searches

    def _recall(self, command: Command, _place: str, *, audience: Audience) -> Excerpt:
        """Search; for each of several things by itself, so that each is found.

        ``audience``: Who hears the answer. What they told in confidence is found, too, if it bears
        on the words: the result is theirs alone then. :data:`IN_CONFIDENCE` finds only that.
        """
        parts = [part for part in map(str.strip, command.argument.split(_DIVIDES)) if part]
        others = [part for part in parts if part.casefold() != IN_CONFIDENCE]
        told = self.confided(audience) if len(others) < len(parts) else ()
        if told and not others:
            return search_results.result_line(SearchResult(), command.argument, told)
        asked = (others or parts)[:MOST_PARTS] or [command.argument]
        recalled = [
            self.recaller.recall_blocking(
                part,
                purpose=RecallPurpose.AGENT,
                seconds=TOOL_SECONDS / len(asked),
                audience=audience,
            )
            for part in asked
        ]
        found = search_results.one_result(recalled)
        if found is not None:
            hits = (hit for hit in found.hits if hit.bears or self._is_public(hit))
            found = search_results.telling(replace(found, hits=tuple(hits)), self.memory.name)
        return search_results.result_line(found, command.argument, told)

    def _is_public(self, hit: Hit) -> bool:
        document = hit.document
        if document.kind is not DocumentKind.MEMORY:
            return True
        return self.memory.private.confidants(document.first) is None

    def confided(self, audience: Audience) -> tuple[Excerpt, ...]:
        """Return what those who hear an answer told in confidence before the window."""
        if not self.has_memory:
            return ()
        pages = self.books.people.known.values()
        return confided(pages, audience, self.memory.private, self.shown_from)

    @property
    def shown_from(self) -> int | None:
        """The number of the first memory whose line a prompt shows; None if there is none."""
        return self.memory.memory.context().shown_from(self._services.limits.shown_lines)

    def to_show(
        self, recalled: SearchResult | None, now: datetime, beside: Sequence[str] = ()
    ) -> SearchResult:
        """Return what a prompt shows of a search; nothing if it failed.

        Args:
            now: When the prompt is read.
            beside: What it says besides the window, which need not be recalled.
        """
        if recalled is None:
            return SearchResult()
        services = self._services
        context = self.memory.memory.context()
        return search_results.results_to_show(
            recalled,
            context,
            services.recall_config,
            limits=services.limits,
            beside=beside,
            agent=self.memory.name,
            count=services.tokens.of,
            now=now,
        )
