"""A memory for any program: what it perceives, recalls, answers, plans, and forgets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from keepsake.archive.privacy import NO_PRIVATE_WORDS, Audience
from keepsake.archive.records import Memory as Record
from keepsake.archive.records import Tier
from keepsake.books.plan import Plan, PlanState
from keepsake.books.plan_lines import read_plan
from keepsake.errors import IndexUnavailable, KeepsakeError
from keepsake.events.types import Events
from keepsake.events.values import Author, CompactReason
from keepsake.happening import ME, Manner, Person
from keepsake.language.perception import one_line
from keepsake.library.gate import Gate
from keepsake.library.happenings import Happened, HappeningReader, Speech, person_of
from keepsake.library.happenings import Who as Named
from keepsake.library.models import Answerer, ModelName
from keepsake.library.opened import OpenMemory, Parts, Who, requests_of
from keepsake.library.parts import agent_name, embedder_of, profile_in, vectors_of
from keepsake.library.results import (
    Answer,
    Forgotten,
    KnownPerson,
    MemoryPrompt,
    RecalledMemory,
    Status,
    Summaries,
)
from keepsake.library.settings import Given, MemorySettings
from keepsake.memory.types import CompactionResult, UndoResult
from keepsake.ports import Clock, Embedder, SystemClock

if TYPE_CHECKING:  # templates and forms are loaded with the first prompt
    from keepsake.library.prompting import Talk

RECALL_SECONDS = 10.0
"""Seconds that a search of a program may take by meaning. After that it is by words alone."""
NO_EMBEDDER = (
    'Recall is by words alone: open the memory with embedder="embedded" '
    '(pip install "evennia-keepsake[vectors]") to search by meaning too'
)
_FIRST_YEAR = 1000
_LAST_YEAR = 9000
"""Years outside cannot be shown in every time zone."""
_CLOSED = ("The memory is closed", "Open it again with Memory(folder)")


class Memory:
    """The memory of one agent, in a folder of its own; safe for threads.

    It numbers memories and keeps the clock itself, and reopens with everything. One process at a
    time has a folder open: a second one gets :class:`keepsake.ArchiveInUse`.

    Use it as a context manager, or call :meth:`close`. A process that is killed loses nothing that
    :meth:`perceive` had returned.

    Args:
        folder: The folder; made if it is missing.
        name: The agent's name; the folder's name with a capital letter if empty.
        persona: Who the agent is, as its prompts begin; the text of ``profile.md`` in the folder
            if empty. A sentence with ``(secret)`` in it is kept from everybody.
        model: ``ollama:MODEL``, ``ollama:MODEL@HOST``, ``openai:MODEL@HOST``, a
            :class:`keepsake.Profile`, or an object with ``generate``; None for a memory without
            answers, whose summaries are made by rules.
        embedder: ``embedded``, ``embedded:MODEL``, ``ollama:MODEL``, ``openai:MODEL@HOST`` or an
            object with ``embed``; None for recall by words alone.
        prompt_tokens: The most tokens of a prompt; 0 for what the model allows, at most 8,000.
        settings: Settings of ``memory_compaction.md`` and ``recall.md``, by name.
        examples: Lines that show the agent's voice to a small model: ``~Mira> say Sit down.``
        clock: Tells the time; the machine's clock if None.
        events: Takes an event for each change, from any thread; None for nobody.

    Raises:
        ArchiveInUse: The folder is open already.
        ArchiveUnwritable: The folder cannot be created or written.
        KeepsakeError: An argument cannot be used; the message says which, and the cure.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        name: str = "",
        persona: str = "",
        model: ModelName | None = None,
        embedder: str | Embedder | None = None,
        prompt_tokens: int = 0,
        settings: Given | None = None,
        examples: Sequence[str] = (),
        clock: Clock | None = None,
        events: Events | None = None,
    ) -> None:
        self.folder = Path(folder).expanduser().resolve()
        name = name or self.folder.name[:1].upper() + self.folder.name[1:]
        name = agent_name(name)
        self._who = Who(name, persona or profile_in(self.folder), tuple(examples))
        read = MemorySettings.of(settings or {})
        answerer = Answerer(model, prompt_tokens)
        made = embedder_of(embedder)
        self._parts = Parts(
            answerer,
            read,
            clock or SystemClock(),
            made,
            vectors_of(self.folder) if made is not None else None,
            events or Events(),
        )
        self._reader = HappeningReader(self.name)
        self._gate = Gate(*_CLOSED)
        self._turn = threading.Lock()  # held during an answer: an agent says one thing at a time
        if requests_of(self.folder).is_dir():
            from keepsake.library.forgetting import continue_requests  # noqa: PLC0415 - seldom

            continue_requests(self.folder, self._who, self._parts.events)
        self._opened = OpenMemory(self.folder, self._who, self._parts)

    @property
    def name(self) -> str:
        """The agent's name."""
        return self._who.name

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write everything to the disk, and let go of the folder; a second call does nothing.

        Calls that run are waited for; an answer that is asked for is given up.

        Raises:
            ArchiveUnwritable: The disk refused.
        """
        self._parts.answerer.end()
        with self._gate.alone(closing=True) as was_open:
            if was_open:
                self._opened.close()

    # -- remembering

    def perceive(
        self,
        what: Happened,
        *,
        place: str = "",
        time: datetime | None = None,
        only_for: Collection[Named] | None = None,
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
            return self._perceive(
                what,
                place=place,
                time=time,
                only_for=only_for,
                happening=happening,
                rests_on=rests_on,
            ).number

    def _perceive(
        self,
        what: Happened,
        *,
        place: str = "",
        time: datetime | None = None,
        only_for: Collection[Named] | None = None,
        happening: str = "",
        rests_on: Sequence[int] = (),
    ) -> Record:
        told, event = self._reader.what(what)
        when = time or self._parts.clock.now()
        if not _FIRST_YEAR <= when.year <= _LAST_YEAR:
            cure = f"Give a year from {_FIRST_YEAR} to {_LAST_YEAR}"
            raise KeepsakeError(f"Nothing can be remembered of the year {when.year}", cure)
        witnesses = None
        if only_for is not None:
            people = map(self._reader.person, [*only_for])
            witnesses = tuple(sorted({each.id for each in people} - {ME.id}))
        return self._opened.add(
            Record(
                0,
                when if when.tzinfo else when.astimezone(),
                told,
                place=one_line(place),
                event=event,
                happening=one_line(happening),
                rests_on=self._known_numbers(rests_on),
                witnesses=witnesses,
            )
        )

    def _known_numbers(self, numbers: Sequence[int]) -> tuple[int, ...]:
        newest = self._opened.archive.last_number
        wrong = [each for each in numbers if not 0 < each <= newest]
        if wrong:
            cure = f"The newest memory is {newest}; take rests_on from a prompt"
            raise KeepsakeError(f"There is no memory {wrong[0]}", cure)
        return tuple(sorted(set(numbers)))

    # -- asking

    def prompt(
        self,
        words: str,
        *,
        by: Named,
        whisper: bool = False,
        here: Sequence[Named] | None = None,
        place: str = "",
        facts: Sequence[str] = (),
        budget: int = 0,
    ) -> MemoryPrompt:
        """Return the prompt for an answer to ``words``; blocks. Nothing is remembered.

        The arguments are those of :meth:`answer`. ``budget``: The most tokens; 0 for what the
        model allows, or 8,000 without one.

        Raises:
            KeepsakeError: An argument cannot be used.
        """
        from keepsake.library.prompting import Prompting  # noqa: PLC0415 - loads templates

        with self._gate.together():
            opened = self._opened
            prompting = Prompting(opened)
            target = self._parts.answerer.target
            if budget:
                target = replace(target, prompt_tokens=budget)
            form = prompting.form(target)
            asked = self._speech(words, by, whisper=whisper)
            what, event = self._reader.what(asked)
            number = opened.archive.last_number + 1
            now = self._parts.clock.now()
            question = Record(number, now, what, place=one_line(place), event=event)
            talk = self._talk(question, by, whisper=whisper, here=here, facts=facts)
            recalled = prompting.recall(talk, form)
            built = prompting.build(talk, form, recalled, extra=question)
        prompt = built.prompt
        only_for = None if built.confidants is None else tuple(sorted(built.confidants))
        messages = [{"role": m.role, "content": m.text} for m in prompt.request.messages]
        return MemoryPrompt(
            messages or [{"role": "user", "content": prompt.rendered.text}],
            prompt.rendered.text,
            built.tokens,
            prompt.budget,
            tuple(each for each in prompt.rests_on if each < number),
            only_for,
        )

    def answer(
        self,
        words: str,
        *,
        by: Named,
        whisper: bool = False,
        here: Sequence[Named] | None = None,
        place: str = "",
        facts: Sequence[str] = (),
        on_line: Callable[[str], object] | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Answer:
        """Remember what somebody says to the agent, and what its model answers; blocks.

        Answers of one memory come one after the other. Everything else may be called meanwhile.

        Args:
            words: What is said.
            by: Who says it.
            whisper: Whether nobody else hears it; then the answer is for that person alone, too.
            here: Who else hears the answer. Give it if several people talk in one place. Only
                those words that all of them know in confidence can be in the prompt; None for no
                confidential words at all, unless it is a whisper.
            place: Where it is: a channel, a room.
            facts: Lines about the moment that only this prompt shows: ``It rains.``
            on_line: Takes each line of the answer as soon as it is complete, in this thread.
            is_cancelled: Returns whether the answer is no longer needed; called often.

        Raises:
            ModelError: There was no answer. What was said is remembered all the same.
            ArchiveUnwritable: Nothing was remembered, or the answer was not.
            KeepsakeError: An argument cannot be used.
        """
        with ExitStack() as held:
            held.enter_context(self._gate.together())
            self._parts.answerer.check()
            held.enter_context(self._turn)
            from keepsake.library.answering import TalkAnswering  # noqa: PLC0415 - templates

            asked = self._speech(words, by, whisper=whisper)
            question = self._perceive(asked, place=place)
            talk = self._talk(question, by, whisper=whisper, here=here, facts=facts)
            return TalkAnswering(self._opened).answer(talk, on_line, is_cancelled)

    def _speech(self, words: str, by: Named, *, whisper: bool) -> Speech:
        if self._reader.person(by) == ME:
            raise KeepsakeError(f"{self.name} cannot ask itself", "Name somebody else in by=")
        manner = Manner.WHISPER if whisper else Manner.SAY
        return Speech(by, words, to=[ME], manner=manner)

    def _talk(
        self,
        question: Record,
        by: Named,
        *,
        whisper: bool,
        here: Sequence[Named] | None,
        facts: Sequence[str],
    ) -> Talk:
        from keepsake.library.prompting import Talk  # noqa: PLC0415 - loads templates

        partner = person_of(by)
        others = self._reader.people(here or ())
        people = dict.fromkeys((partner, *(each for each in others if each != ME)))
        audience: Audience = NO_PRIVATE_WORDS
        if whisper:
            audience = frozenset({partner.id})
        elif here is not None:
            audience = frozenset(each.id for each in people)
        return Talk(
            partner,
            question,
            tuple(people),
            audience,
            whispered=whisper,
            place=question.place,
            facts=tuple(map(one_line, facts)),
        )

    def recall(
        self, question: str, limit: int = 10, *, audience: Sequence[Named] | None = None
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
                text, limit, RECALL_SECONDS, audience=hearers, seeks=True
            )
            if found is None:
                raise opened.index.problem or IndexUnavailable("The index cannot be searched now")
            return [RecalledMemory.of(hit, self.name) for hit in found]

    # -- summaries

    def compact(self) -> CompactionResult:
        """Summarise the older memories now; blocks while the model writes.

        It is done in the background anyway when it is due. Nothing is lost: the archive keeps every
        memory, and :meth:`undo` takes the summary back.

        Returns:
            What was done; its ``outcome`` is ``nothing`` if the memories are too few.

        Raises:
            CompactionError: Nothing was changed; the message says why.
        """
        with self._gate.together():
            return self._opened.compact(CompactReason.MANUAL)

    def undo(self) -> UndoResult:
        """Take the last compaction back; may be repeated.

        Raises:
            CompactionError: There is none.
        """
        with self._gate.together():
            return self._opened.undo()

    def summaries(self) -> Summaries:
        """Return both summaries, and which memories prompts show word for word."""
        with self._gate.together():
            view = self._opened.memory.tiers.view()
        texts = {tier: view.state.summary(tier) for tier in Tier}
        window = (view.window[0].number, view.window[-1].number) if view.window else (0, 0)
        longterm = texts[Tier.LONGTERM]
        recent = texts[Tier.RECENT]
        return Summaries(longterm.text if longterm else "", recent.text if recent else "", window)

    # -- plans

    def plans(self, *, ended: bool = False) -> list[Plan]:
        """Return what the agent means to do, in order of time.

        A plan whose time passed a quarter of an hour ago is missed. ``ended``: Whether to return
        plans that are done, dropped or missed, too.

        Raises:
            NoteRefused: The file of plans cannot be read or written.
        """
        with self._gate.together():
            book = self._opened.shelf.plans
            book.adopt()
            now = self._parts.clock.now()
            for plan in book.current:
                if plan.is_overdue(now):
                    why = "its time passed"
                    book.set_state(plan, PlanState.MISSED, why, by=Author.WORLD)
            found = book.items if ended else book.current
        return sorted(found, key=lambda plan: (plan.at is None, plan.at or now, plan.number))

    def plan(self, line: str) -> Plan:
        """Have the agent mean to do something.

        ``line``: ``tomorrow 12:00, the Quay, Anneke: show her the ferry``. Time, place and person
        may be left out.

        Raises:
            NoteRefused: The line says nothing to do, or twelve plans are open.
        """
        with self._gate.together():
            opened = self._opened
            people = [Person(page.name, page.key) for page in opened.shelf.people.known.values()]
            now = self._parts.clock.now().astimezone()
            return opened.shelf.plans.add(read_plan(one_line(line), now, (), people))

    def end_plan(self, number: int, *, done: bool = True, why: str = "") -> Plan:
        """Mark a plan as done, or as dropped.

        Raises:
            NoteRefused: There is no open plan with that number.
        """
        with self._gate.together():
            book = self._opened.shelf.plans
            state = PlanState.DONE if done else PlanState.DROPPED
            return book.set_state(book.find(str(number)), state, one_line(why))

    # -- people

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

    def forget(self, person: Named) -> Forgotten:
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
                return forget(self.folder, self._who, found, self._parts.events)
            finally:
                self._opened = OpenMemory(self.folder, self._who, self._parts)

    # -- figures

    def status(self) -> Status:
        """Return figures, and why recall is by words alone if it is."""
        with self._gate.together():
            opened = self._opened
            index = opened.index.status()
            problem = index.problem
            if not problem and self._parts.embedder is None:
                problem = NO_EMBEDDER
            elif not problem and not index.by_meaning:
                problem = f"{index.waiting} memories wait for their vectors"
            return Status(
                opened.archive.last_number,
                opened.memory.tiers.compactions,
                index.by_meaning,
                problem,
                self._parts.answerer.name,
            )
