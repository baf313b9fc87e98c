"""The tools with which an agent uses its own memory: notes, promises, searches, pins.

These tool calls do not pass through the game's commands or rooms. The act and its result go
only into the agent's own memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain, count

from cachetools import LRUCache
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from keepsake.agent.appointments import Appointments
from keepsake.agent.memory import search_results
from keepsake.agent.memory.books import Books
from keepsake.agent.memory.compacting import Compactions
from keepsake.agent.memory.confidences import IN_CONFIDENCE, confided
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.memory.recaller import Recaller
from keepsake.agent.memory.shown_plans import missed_among
from keepsake.agent.plans import Plans
from keepsake.agent.runtime import Runtime
from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience, is_private
from keepsake.archive.records import Memory
from keepsake.books.aloud import Aloud
from keepsake.books.kept_lines import PINNED_LIMIT, Commitment, CommitmentKind
from keepsake.books.notes import after_words
from keepsake.books.plan import Plan, PlanState
from keepsake.books.plan_lines import read_plan
from keepsake.errors import KeepsakeError, NoteRefused
from keepsake.events.values import Author, RecallPurpose
from keepsake.happening import KnownVerb, Person, PersonId, Result
from keepsake.language.perception import for_prompt, shorten
from keepsake.logs import Subsystem, get_logger
from keepsake.prompt import results
from keepsake.prompt.verbs import ANSWERS, PRIVATE, Command
from keepsake.recall.documents import DocumentKind, Hit
from keepsake.recall.finding import SearchResult
from keepsake.recall.several import MOST_PARTS
from keepsake.tasks.questions.passing_on import PassedOn
from keepsake.tasks.scene import Excerpt
from keepsake.tasks.stated import NOTHING_STATED

type Tool = Callable[[Command, str], str | Excerpt]
"""Carries out a command at a place, and returns its result in a line; blocks."""

log = get_logger(Subsystem.TOOLS)

WRITES = frozenset({KnownVerb.NOTE, KnownVerb.PIN, KnownVerb.REMEMBER})
"""Verbs whose result appears in prompts whose answers others hear. They are not offered if the
prompt holds words that were confided to the agent."""
_TEXT_LIMIT = 20_000
"""Characters of a note or a pin that are passed on. Its book has a limit of its own."""
_MOST_WORDS_OF_A_NAME = 3
"""More words after ``promise`` are no name, but what is promised: ``a bowl of soup``."""
PLAN_VERBS = frozenset({KnownVerb.PLAN, KnownVerb.DONE, KnownVerb.CANCEL, *ANSWERS})
"""Verbs that the setting ``plans: no`` takes away."""
TOOL_SECONDS = 10.0
"""Seconds that a tool call may take."""
_DIVIDES = ";"
"""What divides the things that one ``> recall`` asks for, as the verb's own line says."""


@dataclass(frozen=True, slots=True)
class Known:
    """Which plans and promises a tool call may name: those that its prompt showed.

    Attributes:
        audience: Who hears the answer; what others confided is not among them.
        plan: The number of the plan that is the reason for the answer; 0 for another reason.
    """

    audience: Audience = NO_PRIVATE_WORDS
    plan: int = 0

    def has_plan(self, plan: Plan) -> bool:
        """Return whether the prompt showed a plan."""
        return plan.number == self.plan or plan.as_known_to(self.audience) is not None

    def shown(self, plan: Plan) -> Plan:
        """Return a plan as the prompt showed it."""
        return plan.as_known_to(self.audience) or plan


PUBLIC = Known()
"""The plans and promises of which everybody may know."""


class MemoryTools:
    """The tool calls of one agent.

    Attributes:
        memory, books, recaller, compactions: The parts of the memory that the tools use.
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
        # What a plan may name: places, and the people who are here. Set before the plan is made.
        self.places: frozenset[str] = frozenset()
        self.here: tuple[Person, ...] = ()
        # What the model said of words to somebody who does not know what was whispered: by that
        # person's identity, the words, and the memories that it was shown.
        self.consents: LRUCache[tuple[PersonId, str, tuple[int, ...]], PassedOn] = LRUCache(64)
        self.stated = NOTHING_STATED  # what the prompts of the agent have told
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
        given = self._with_source(command, seen) if command.verb in WRITES else command
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
        # Without its own memory, a promise rests on the newest words of that person, which may be
        # private.
        own = act if witnesses is not None else 0
        answer = partial(self._answer, to=to, act=act)
        tools: Mapping[str, Tool] = {
            KnownVerb.NOTE: self._note,
            KnownVerb.FORGET: self._forget,
            KnownVerb.PIN: self._pin,
            KnownVerb.UNPIN: self._unpin,
            KnownVerb.RECALL: partial(self._recall, audience=known.audience),
            KnownVerb.REMEMBER: self._remember,
            KnownVerb.PROMISE: partial(self._promise, to=to, act=own, aloud=aloud),
            KnownVerb.KEPT: partial(self._kept, known=known),
            KnownVerb.PLAN: partial(self._plan, act=act, witnesses=witnesses, aloud=aloud),
            KnownVerb.DONE: partial(self._done, known=known),
            KnownVerb.CANCEL: partial(self._cancel, known=known),
            KnownVerb.AGREE: answer,
            KnownVerb.DECLINE: answer,
        }
        return tools[command.verb]

    def _with_source(self, command: Command, seen: int) -> Command:
        """Say in the text who spoke since the agent's last words, because it may repeat a lie."""
        known = [m for m in self.memory.memory.context().window if not seen or m.number <= seen]
        since = next((m.answers or m.number for m in reversed(known) if m.said), 0)
        said = ((m.heard, m.number) for m in known if not is_private(m))
        spoke = [(words.speaker, number) for words, number in said if words is not None]
        last = {who: n for who, n in spoke if n > since} or dict(spoke[-1:])
        text = for_prompt(command.words, limit=_TEXT_LIMIT)
        if last:
            text = after_words(text, [who.name for who in last], [*last.values()])
        return replace(command, words=text)

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

    # -- the tools

    def _note(self, command: Command, place: str) -> str:
        now = self._services.clock.now()
        reason = command.reason
        known = self.books.notes.find(command.thing)
        if known is not None and known.has(command.words, now.astimezone().date()):
            return f"{results.NOTED}{known.title!r}"
        note = self.books.notes.write(
            command.thing, command.words, place=place, reason=reason, now=now
        )
        how = results.ADDED if note.created != note.updated else results.KEPT
        return f"{how}{note.title!r}"

    def _forget(self, command: Command, _place: str) -> str:
        note = self.books.notes.find(command.argument)
        aside = self.books.notes.forget(command.argument)
        return f"{results.PUT_AWAY}{note.title if note is not None else aside.stem!r} away"

    def _pin(self, command: Command, _place: str) -> str:
        line = self.books.pinned.add(command.words, own=True)
        used = sum(len(pin.text) for pin in self.books.pinned.items)
        return f"{results.PINNED}{line} ({used:,} of {PINNED_LIMIT:,} characters used)"

    def _unpin(self, command: Command, _place: str) -> str:
        return f"{results.UNPINNED}{self.books.pinned.remove(command.argument, only_own=True)}"

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

    def _remember(self, command: Command, place: str) -> str:
        """Keep a fact as a note of its own, with its day as the title; recall finds it."""
        now = self._services.clock.now().astimezone()
        known = self.books.notes.holding(command.words, now.date())
        if known is not None:
            return f"{results.NOTED}{known.title!r}"
        day = f"Remembered on {now.day} {now:%B %Y}"
        taken = {note.title for note in self.books.notes.all()}
        later = (f"{day} ({number})" for number in count(2))
        title = next(each for each in chain([day], later) if each not in taken)
        return self._note(replace(command, thing=title), place)

    def _promise(
        self,
        command: Command,
        _place: str,
        *,
        to: Person | None = None,
        act: int = 0,
        aloud: Aloud | None = None,
    ) -> str:
        """Note a promise; ``act``: the number of its own memory if that is private, else 0."""
        who = command.to.removeprefix("to ")
        what = command.words.strip()
        if len(who.split()) > _MOST_WORDS_OF_A_NAME:  # no name: ``a bowl of soup``
            who = ""
            what = command.argument.strip()
        person = to if who and to is not None else Person(who)
        made = self._basis_of_promise(person)
        key = person.id or ("" if made is None else made.source_id or made.to_id)
        number = self.memory.memory.archive.last_number if made is None else made.number
        number = act or number  # so that it is shown to those who may know of the act
        promise = Commitment(
            CommitmentKind.PROMISE, who, what, number, key, aloud=aloud if act else None
        )
        return f"{results.PROMISED}{self.books.commitments.add(promise).line}"

    def _plan(
        self,
        command: Command,
        place: str,
        *,
        act: int,
        witnesses: tuple[PersonId, ...] | None,
        aloud: Aloud | None,
    ) -> str:
        now = self._services.clock.now().astimezone()
        people = [*self.people_known, *self.here]
        plan = replace(read_plan(command.words, now, self.places, people, place), since=act)
        if witnesses is not None:
            plan = replace(plan, private=frozenset(witnesses))
            plan = plan.with_aloud(aloud, people) if aloud is not None else plan
        before = self.books.plans.current
        made = self.books.plans.add_or_join(plan)
        if self.appointments is not None:
            self.appointments.accept_by(made)
        if made in before:
            raise NoteRefused(f"That stands already as your plan {made.number}: {made.told}")
        return f"{results.PLANNED}{made.told}"

    def _answer(self, command: Command, _place: str, *, to: Person | None, act: int) -> str:
        """Answer an invitation: ``agree`` or ``decline``."""
        if self.appointments is None or to is None:
            raise KeepsakeError("Nobody has asked you to meet")
        plan = self.appointments.settle(to, agrees=command.verb == KnownVerb.AGREE, act=act)
        return f"{results.DECLINED}{to.name}" if plan is None else f"{results.PLANNED}{plan.told}"

    def _done(self, command: Command, _place: str, *, known: Known) -> str:
        plan = self._plan_named(command.words, known)
        self.books.plans.set_state(plan, PlanState.DONE)
        return f"{results.PLAN_DONE}{known.shown(plan).short}"

    def _cancel(self, command: Command, _place: str, *, known: Known) -> str:
        which, _, why = command.words.partition(": ")
        plan = self._plan_named(which, known)
        self.books.plans.set_state(plan, PlanState.DROPPED, why)
        return f"{results.PLAN_DROPPED}{known.shown(plan).short}"

    def _plan_named(self, which: str, known: Known) -> Plan:
        """Return the plan that an agent names: a current one, or one that it missed lately.

        Raises:
            NoteRefused: No plan matches, or several do.
        """
        now = self._services.clock.now()
        missed = missed_among(self.books.plans.items, known.audience, now)
        numbers = {each.number for each in missed}
        return self.books.plans.find(which, known.has_plan, known.shown, also=numbers)

    def _basis_of_promise(self, person: Person) -> Memory | None:
        """Return the newest memory of that person and the agent, on which a promise is based."""
        if not person.name:
            return None
        for memory in reversed(self.memory.memory.context().window):
            if memory.is_own and memory.verb in PRIVATE:
                continue
            if any(_is(each, person) for each in (memory.actor, memory.addressee)):
                return memory
        return None

    def _kept(self, command: Command, _place: str, *, known: Known) -> str:
        def shown(each: Commitment) -> Commitment | None:
            return each.as_known_to(lambda n: self.memory.private.may_hear([n], known.audience))

        promise = self.books.commitments.find(command.argument, shown)
        self.books.commitments.close(lambda each: each == promise, by=Author.AGENT)
        return f"{results.PROMISE_KEPT}{(shown(promise) or promise).line}"

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


def _is(known: Person | None, person: Person) -> bool:
    """Whether somebody in a memory is that person, whose identity may be unknown."""
    if known is None:
        return False
    if person.id:
        return known.is_same(person)
    return known.name.casefold() == person.name.casefold()
