"""What an agent does at night: its journal, its reflections, its paragraphs about people.

Everything here runs in the thread of a night. Each task may be interrupted anywhere and run
again, because it finds its earlier results on disk.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from keepsake.agent.memory.books import Books
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.plans.shown_plans import lines_of
from keepsake.agent.runtime import Runtime
from keepsake.agent.sleep.night import Figures, NightAsk, NightTask
from keepsake.archive.privacy import NO_PRIVATE_WORDS, is_private, redacted
from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.transcript import about_memory
from keepsake.books.entries import EntryOrigin, Rater
from keepsake.books.entries import line as entry_line
from keepsake.books.person_page import PageLine, PersonPage
from keepsake.books.plan_lines import read_plan
from keepsake.books.plans import MOST_OPEN
from keepsake.errors import NoteRefused
from keepsake.events.values import Author
from keepsake.files import replace_file
from keepsake.happening import Person, PersonId
from keepsake.logs import Subsystem, get_logger
from keepsake.tasks.night import (
    DraftEntry,
    intentions_task,
    journal_task,
    memory_line,
    people_task,
    reflect_task,
)

log = get_logger(Subsystem.NIGHT)

PROFILES = "profiles"
"""The name of the task that writes paragraphs about people."""
THROUGH = "sleep.json"
"""The file in an agent's folder with the number of the last memory in the journal."""
NEWEST = 2000
"""How many memories are read from the archive at a time."""
MOST_REFUSALS = 3
"""Nights on which the model's answer about the same memories may be refused."""
LEAST_MEMORIES = 6
"""A model is asked for a journal only about at least this many new memories."""
LEAST_LINES = 3
"""A model is asked about a person only if there are at least this many new lines."""
_LEAST_INSIGHT = 4
"""The lowest importance of an insight; entries below it are never shown."""
_MOST_INSIGHT = 8
"""The highest importance of an insight: what happened can matter more than what is concluded."""
_USUAL = 5
"""The importance of an insight whose entries give none."""
_LONGEST_ANSWER = 8
"""How many memories after somebody's last words are read for what the agent answered."""
_ENTRIES_OF_A_DAY = 24
"""How many of the newest entries the intentions of a night read."""
_ENTRIES = 60
"""How many of the newest entries a reflection reads."""
_KNOWN = 20
"""How many of the newest insights a reflection must not repeat."""


@dataclass(frozen=True, slots=True)
class NightFacts:
    """What a night's tasks know of the game, read before they run."""

    persona: str = ""
    usual_day: str = ""  # what the agent does on other days
    places: frozenset[str] = frozenset()  # names of places


class NightWork:
    """The tasks of one agent's night: what it asks a model, and what it writes.

    :class:`NightOver` may interrupt each method; results already written stay. Each raises
    ModelError if a model does not answer, and NoteRefused if a file cannot be read or written.

    Attributes:
        tasks: The tasks by name, in the order in which they run.
        facts: What they know of the game.
    """

    def __init__(self, memory: MemoryComponent, books: Books, services: Runtime) -> None:
        self._memory = memory
        self._books = books
        self._services = services
        self.facts = NightFacts()
        tasks: Mapping[str, NightTask] = {
            "consolidate": self.consolidate,
            "reflect": self.reflect,
            PROFILES: self.profiles,
            "intentions": self.intend,
        }
        self.tasks = {step: partial(self._with_memory, task) for step, task in tasks.items()}

    def _with_memory(self, task: NightTask, ask: NightAsk) -> Figures:
        """Run a task. Agents without a memory have nothing to think over at night."""
        return task(ask) if self._services.thinking.current.memory else {}

    def _read(self, first: int, last: int) -> list[Memory]:
        # Results of a night appear in all prompts, so private words are removed.
        return [redacted(each) for each in self._memory.memory.archive.read(first, last)]

    def _is_public(self, numbers: Sequence[int]) -> bool:
        """Return whether everybody may hear a text based on these memories."""
        return self._memory.private.may_hear(numbers, audience=NO_PRIVATE_WORDS)

    def consolidate(self, ask: NightAsk) -> Figures:
        """Write journal entries about all memories since the last night, in pieces that fit.

        The file :data:`THROUGH` moves on after each piece. What is left waits for the next night:
        memories of too small a day, those behind the limit of calls, and those about which the
        model's answer was refused. After :data:`MOST_REFUSALS` nights such a piece is left out.
        """
        newest = self._memory.memory.archive.last_number
        path = self._memory.folder / THROUGH
        position = _read_position(path)
        if not path.exists():  # an archive of before there were nights: only its newest part
            position = _JournalPosition(max(newest - NEWEST, 0))
        written = 0
        refused = 0
        while ask.available and position.through < newest:
            last = min(newest, position.through + NEWEST)
            shown = _for_journal(self._read(position.through + 1, last))
            if len(shown) < LEAST_MEMORIES and last == newest:
                break
            drafts, read = self._ask_for_journal(ask, shown)
            if drafts is None:
                refused += 1
                self._say_refused(position)
            if drafts is None and position.refused + 1 < MOST_REFUSALS:
                _write_position(path, replace(position, refused=position.refused + 1))
                break
            written += self._write_entries(drafts or (), shown)
            through = last if read == len(shown) else shown[read - 1].number
            position = _JournalPosition(through)
            _write_position(path, position)
        return {"written": written, "left": newest - position.through, **_if_any(refused=refused)}

    def _say_refused(self, position: _JournalPosition) -> None:
        """Say that the model's answer about a piece of the day was refused, and what follows."""
        nights = position.refused + 1
        again = "it is asked again the next night"
        over = f"these memories are left out after {MOST_REFUSALS} such nights"
        log.warning(
            f"The model wrote nothing usable about memories from {position.through + 1} on: "
            f"{again if nights < MOST_REFUSALS else over}",
            agent=self._memory.name,
            nights=nights,
        )

    def profiles(self, ask: NightAsk) -> Figures:
        """Update the pages of people, then call :meth:`write_portraits`."""
        self._books.update_people(self._memory.memory.archive)
        return self.write_portraits(ask) if self._services.sleeping.current.reflect else {}

    def write_journal(self, ask: NightAsk, memories: Sequence[Memory]) -> Figures:
        """Have a model write journal entries about memories that fit in one prompt."""
        shown = _for_journal(memories)
        if len(shown) < LEAST_MEMORIES or not ask.available:
            return {}
        drafts, _ = self._ask_for_journal(ask, shown)
        return {"written": self._write_entries(drafts or (), shown)}

    def _ask_for_journal(
        self, ask: NightAsk, shown: Sequence[Memory]
    ) -> tuple[tuple[DraftEntry, ...] | None, int]:
        """Return entries about the oldest of these memories, and how many of them were shown.

        The entries are None if the model's answers were refused.
        """
        if not shown:
            return (), 0
        prompts = self._services.prompts["journal"].current
        task = journal_task(prompts, self._memory.name, shown)
        drafts = ask.do(task)
        return drafts, min(task.taken)

    def _write_entries(self, drafts: Sequence[DraftEntry], shown: Sequence[Memory]) -> int:
        """Write each entry on the day of its sources; return the number of entries."""
        known = {memory.number: memory for memory in shown}
        for draft in drafts:
            sources = [known[number] for number in draft.memories]
            was_told = any(memory.heard is not None for memory in sources)
            self._books.journal.write(
                draft.text,
                importance=draft.importance,
                rated_by=Rater.MODEL,
                origin=EntryOrigin.TOLD if was_told else EntryOrigin.SEEN,
                memories=draft.memories,
                who=[memory.source_id for memory in sources if memory.source_id],
                now=max(memory.time for memory in sources),
                by=Author.NIGHT,
            )
        return len(drafts)

    def reflect(self, ask: NightAsk) -> Figures:
        """Have a model draw insights from the journal, once enough importance has accumulated.

        Each insight cites memories of entries that the model was shown. Without a model, an agent
        does not reflect.
        """
        services = self._services
        config = services.sleeping.current
        if not config.reflect:
            return {}
        journal = self._books.journal
        name = self._memory.name
        everything = journal.entries()
        # An insight is not evidence for further insights.
        inferred = EntryOrigin.INFERRED
        may = self._is_public
        experienced = [e for e in everything if e.origin is not inferred and may(e.memories)]
        insights = [each for each in everything if each.is_insight]
        newest = max((each.order for each in insights), default=(0, 0))
        gathered = sum(each.importance for each in experienced if each.order > newest)
        figures: Figures = {"gathered": gathered}
        if gathered < config.reflect_after or not ask.available:
            return {**figures, "needed": config.reflect_after}
        shown = experienced[-_ENTRIES:]
        now = services.clock.now()
        lines = tuple(entry_line(each, now) for each in shown)
        numbers = {number for each in shown for number in each.memories}
        known = [each.text for each in insights]
        prompts = services.prompts["reflect"].current
        most = config.insights
        task = reflect_task(prompts, name, lines, known[-_KNOWN:], numbers, most)
        found = [each for each in ask.do(task) or () if each.text not in known]
        for insight in found:
            cited = [each for each in shown if set(insight.memories) & set(each.memories)]
            score = max((each.importance for each in cited), default=_USUAL)
            journal.write(
                insight.text,
                importance=min(max(score, _LEAST_INSIGHT), _MOST_INSIGHT),
                rated_by=Rater.MODEL,
                origin=inferred,
                memories=insight.memories,
                who=[key for each in cited for key in each.who],
                now=now,
                by=Author.NIGHT,
            )
        return {**figures, "insights": len(found)}

    def after_talk(self, people: Collection[PersonId]) -> Mapping[str, NightTask]:
        """Return the tasks that follow a talk with these people: the paragraphs about them."""

        def profiles(ask: NightAsk) -> Figures:
            self._books.update_people(self._memory.memory.archive)
            return self.write_portraits(ask, frozenset(people))

        return {PROFILES: partial(self._with_memory, profiles)}

    def write_portraits(self, ask: NightAsk, only: Collection[PersonId] | None = None) -> Figures:
        """Have a model rewrite the paragraph about each person with enough new lines.

        The model sees the current paragraph, and what both sides said and did since. It sees no
        private memories, because the paragraph may appear in every prompt. What the limit of calls
        leaves, and lines about which the model's answer was refused, wait for the next night.

        Args:
            only: About whom; None for everybody.
        """
        asked = 0
        refused = 0
        for page in self._books.people.all():
            if only is not None and page.key not in only:
                continue
            ask.check()
            heard_by_all = tuple(each for each in page.lines if self._is_public(each.numbers))
            public = replace(page, lines=heard_by_all)
            new = [line for line in public.lines if line.numbers[-1] > page.studied]
            if len(new) < LEAST_LINES or not ask.available:
                continue
            asked += 1
            refused += not self._write_portrait(ask, public)
        return {"asked": asked, **_if_any(refused=refused)}

    def _write_portrait(self, ask: NightAsk, page: PersonPage) -> bool:
        """Have a model rewrite the paragraph about a person, in pieces that fit.

        The page notes after each piece how far the model has read.

        Returns:
            Whether the model's answers could be used.
        """
        rest = self._conversation(page)
        portrait = page.portrait
        while rest and ask.available:
            prompts = self._services.prompts["people"].current
            shown = [line for _, line in rest]
            task = people_task(prompts, self._memory.name, page.name, portrait, shown)
            found = ask.do(task)
            if found is None:
                return False
            taken = min(task.taken)
            studied = rest[taken - 1][0]
            if taken == len(rest):  # the page may end with lines that were not read
                studied = max(studied, _last(page.lines))
            rest = rest[taken:]
            self._books.people.conclude(
                page.key, partial(_with_portrait, before=portrait, after=found, studied=studied)
            )
            portrait = found
        return True

    def intend(self, ask: NightAsk) -> Figures:
        """Have a model say what the agent means to do tomorrow; it sees no private memories."""
        if not self._services.thinking.current.plans:
            return {}
        plans = self._books.plans
        lines = self._left_by_the_day()
        if not ask.available or not lines or len(plans.current) >= MOST_OPEN:
            return {}
        services = self._services
        now = services.clock.now().astimezone()
        sleep = services.sleeping.current
        slept = timedelta(hours=sleep.sleep_hours) if ask.is_late else timedelta()
        evening = sleep.evening_before(now - slept)
        people = [Person(page.name, page.key) for page in self._books.people.all()]
        values = {
            "persona": self.facts.persona,
            "today": f"{evening:%A} {evening.day} {evening:%B %Y}",
            "known": lines_of(tuple(each for each in plans.current if each.private is None)),
            "usual": self.facts.usual_day,
            "places": sorted(self.facts.places),
        }
        prompts = services.prompts["intentions"].current
        read = partial(read_plan, now=evening, places=self.facts.places, people=people)
        task = intentions_task(prompts, self._memory.name, lines, values, read)
        made = 0
        for draft in ask.do(task) or ():
            if draft.plan.at is not None and draft.plan.at <= now:
                continue  # the night's work was late
            with suppress(NoteRefused):  # it means to do that already
                plans.add_or_join(
                    replace(draft.plan, since=max(draft.memories, default=0)), by=Author.NIGHT
                )
                made += 1
        return {"planned": made}

    def _left_by_the_day(self) -> list[str]:
        """Return promises, people and the journal of the last days, as lines with their numbers."""
        now = self._services.clock.now()
        promises = self._memory.commitments.lines(None, lambda n: self._is_public([n]))
        entries = [each for each in self._books.journal.entries() if self._is_public(each.memories)]
        people = [page for page in self._books.people.all() if page.portrait]
        return [
            *(f"- {line}" for line in promises),
            *(f"- {page.name}: {page.portrait}" for page in people),
            *(entry_line(each, now) for each in entries[-_ENTRIES_OF_A_DAY:]),
        ]

    def _conversation(self, page: PersonPage) -> list[tuple[int, str]]:
        """Return what the two said and did since the paragraph was written, each with its number.

        Without a paragraph it is all of the newest memories. The page itself keeps fewer lines.
        """
        last = _last(page.lines)
        first = max(page.studied if page.portrait else 0, last - NEWEST) + 1
        between = [
            each for each in self._read(first, last + _LONGEST_ANSWER) if _is_between(each, page)
        ]
        public = [each for each in between if self._is_public((each.number,))]
        if public:
            return [(each.number, memory_line(each)) for each in public]
        return [
            (each.numbers[-1], f"- {each.time.astimezone():%d %B %Y}: {each.shown}")
            for each in page.lines
            if each.numbers[-1] >= first
        ]


@dataclass(frozen=True, slots=True)
class _JournalPosition:
    """How far the journal has read the archive."""

    through: int = 0  # the last memory that it has read
    refused: int = 0  # nights on which the answer about the memories after it was refused


def _read_position(path: Path) -> _JournalPosition:
    """Return how far the journal is; at the beginning if that is not known."""
    try:
        found = json.loads(path.read_text("utf-8"))
        return _JournalPosition(int(found["through"]), int(found.get("refused", 0)))
    except (OSError, ValueError, KeyError, TypeError):
        return _JournalPosition()


def _write_position(path: Path, position: _JournalPosition) -> None:
    refused = {"refused": position.refused} if position.refused else {}
    replace_file(path, json.dumps({"through": position.through, **refused}) + "\n")


def _if_any(**counts: int) -> Figures:
    """Return the counts that are not 0."""
    return {name: count for name, count in counts.items() if count}


def _for_journal(memories: Iterable[Memory]) -> list[Memory]:
    """Return the memories that everybody may know, without uses of the agent's own memory."""
    return [each for each in memories if not (is_private(each) or about_memory(each))]


def _is_between(memory: Memory, page: PersonPage) -> bool:
    if memory.kind is MemoryKind.ACT:
        return page.key == memory.to_id if memory.to_id else page.name == memory.to
    return memory.source_id == page.key


def _with_portrait(known: PersonPage, before: str, after: str, studied: int) -> PersonPage:
    """Return the page with its new paragraph, unless a person has edited the old one."""
    text = after if known.portrait == before else known.portrait
    return replace(known, portrait=text, studied=max(known.studied, studied))


def _last(lines: Iterable[PageLine]) -> int:
    return max((line.numbers[-1] for line in lines), default=0)
