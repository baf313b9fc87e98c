"""What an agent does at night: its journal, reflection, people's paragraphs, compaction.

Everything here runs in the thread of a night. Each task may be broken off at any line and done
again: what is on the disk by then is found there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from keepsake.agent.body import Life
from keepsake.agent.memory.plugged import PluggedMemory
from keepsake.agent.memory.remembering import Remembering
from keepsake.agent.runtime import Runtime
from keepsake.agent.sleep.log import THROUGH, Figures, SleepLog, Step
from keepsake.agent.sleep.night import NightAsk, NightTask
from keepsake.agent.sleep.tiredness import SleepConfig
from keepsake.archive.privacy import NOBODY, outward
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.entries import EntryOrigin, JournalEntry, Judge, order_of
from keepsake.books.entries import line as entry_line
from keepsake.books.journal import Journal, is_event
from keepsake.books.people import May, PeopleBook, hearable
from keepsake.books.person_page import PageLine, PersonPage
from keepsake.language.heard import heard
from keepsake.tasks.night import JournalTask, PeopleTask, ReflectTask, memory_line
from keepsake.tasks.prompt_file import Prompts

NEWEST = 2000
"""The most memories that one night goes through again."""
LEAST_MEMORIES, LEAST_LINES = 6, 3
"""New memories, and new lines of a person, that there have to be for a model to be asked."""
_LEAST_INSIGHT, _MOST_INSIGHT, _USUAL = 4, 8, 5
"""How much an insight matters, at least, at most, and where its entries do not say."""
_ENTRIES, _KNOWN = 60, 20
"""The newest entries of which a reflection is made, and insights that it is told not to repeat."""
_LOOK_SECONDS = 0.2

type Read = Callable[[int, int], Sequence[Memory]]
"""The memories from one number to another, as anybody may know of them."""


# -- the journal


def write_day(  # noqa: PLR0917 - each is another thing, and none can be left out
    journal: Journal,
    memories: Sequence[Memory],
    ask: NightAsk,
    prompts: Prompts,
    own_name: str,
    now: datetime,
) -> Figures:
    """Have a model write the entries of these memories; nothing is returned where none was asked.

    Raises:
        NightOver: The agent has woken, or the calls are spent; what was written stays.
        ModelError: The model does not answer.
        NoteRefused: A file cannot be read or written.
    """
    shown = {memory.number: memory for memory in memories if is_event(memory)}
    if len(shown) < LEAST_MEMORIES or not ask.available:
        return {}
    drafts = ask.do(JournalTask(prompts, own_name, list(shown.values())))
    # Broken off in an earlier try, it has written some of them.
    told = {n for each in journal.entries() if _by_model(each) for n in each.memories}
    new = [draft for draft in drafts if told.isdisjoint(draft.memories)]
    for draft in new:
        rests_on = [shown[number] for number in draft.memories]
        was_told = any(heard(memory) is not None for memory in rests_on)
        journal.write(
            draft.text,
            importance=draft.importance,
            judge=Judge.MODEL,
            origin=EntryOrigin.TOLD if was_told else EntryOrigin.SEEN,
            memories=draft.memories,
            who=[memory.source_id for memory in rests_on if memory.source_id],
            now=now,
            by="night",
        )
    return {"written": len(new)}


def _by_model(entry: JournalEntry) -> bool:
    return entry.judge is Judge.MODEL and entry.origin is not EntryOrigin.INFERRED


# -- reflection


def reflect(  # noqa: PLR0917 - each is another thing, and none can be left out
    journal: Journal,
    ask: NightAsk,
    config: SleepConfig,
    prompts: Prompts,
    own_name: str,
    now: datetime,
    may: May,
    through: str = "",
) -> Figures:
    """Have a model say what follows from the journal, once enough importance has gathered in it.

    Each insight rests on memories of the entries that the model was shown. Without a model an
    agent does not reflect.

    Args:
        journal: Where insights are written as well.
        ask: The model.
        config: How much has to gather, and how many insights there may be.
        prompts: The template.
        own_name: Who reflects.
        now: The time.
        may: Whether anybody may hear what rests on the memories of those numbers.
        through: The newest entry of the last reflection.

    Raises:
        NightOver: The agent has woken, or the calls are spent; it reflects in its next sleep.
        ModelError: There was no answer; the same.
        NoteRefused: A file cannot be read or written.
    """
    everything = journal.entries()
    # What was only concluded is no ground for more.
    lived = [e for e in everything if e.origin is not EntryOrigin.INFERRED and may(e.memories)]
    fresh = [each for each in lived if each.order > order_of(through)]
    gathered = sum(each.importance for each in fresh)
    figures: Figures = {"gathered": gathered, THROUGH: through}
    if gathered < config.reflect_after or not ask.available:
        return {**figures, "needed": config.reflect_after}
    shown = lived[-_ENTRIES:]
    lines = tuple(entry_line(each, now) for each in shown)
    numbers = frozenset(number for each in shown for number in each.memories)
    known = [each.text for each in everything if each.is_insight]
    task = ReflectTask(prompts, own_name, lines, known[-_KNOWN:], numbers, config.insights)
    found = [each for each in ask.do(task) if each.text not in known]
    for insight in found:
        cited = [each for each in shown if set(insight.memories) & set(each.memories)]
        score = max((each.importance for each in cited), default=_USUAL)
        score = min(max(score, _LEAST_INSIGHT), _MOST_INSIGHT)
        journal.write(
            insight.text,
            importance=score,
            judge=Judge.MODEL,
            origin=EntryOrigin.INFERRED,
            memories=insight.memories,
            who=[key for each in cited for key in each.who],
            now=now,
            by="night",
        )
    return {**figures, "insights": len(found), THROUGH: max(fresh, key=lambda each: each.order).id}


# -- people


def write_portraits(  # noqa: PLR0917 - each is another thing, and none can be left out
    book: PeopleBook, ask: NightAsk, prompts: Prompts, own_name: str, may: May, read: Read
) -> Figures:
    """Have a model write anew what the agent makes of everybody of whom enough is new.

    The model is shown the paragraph as it is, and both sides of what was said and done since.

    ``may``: Whether anybody may hear what rests on the memories of those numbers; nothing else is
    shown to the model, so the paragraph may stand in every prompt.

    Raises:
        NightOver: The agent has woken.
        ModelError: The model does not answer.
        NoteRefused: A file cannot be written.
    """
    asked = 0
    for page in book.all():
        ask.check()
        public = hearable(page, may)
        new = [line for line in public.lines if line.numbers[-1] > page.studied]
        if len(new) < LEAST_LINES or not ask.available:
            continue
        asked += 1
        lines = _exchange(public, new if public.portrait else public.lines, may, read)
        portrait = ask.do(PeopleTask(prompts, own_name, public.name, public.portrait, lines))
        book.conclude(page.key, partial(_studied, before=public, portrait=portrait))
    return {"asked": asked}


def _exchange(page: PersonPage, lines: Sequence[PageLine], may: May, read: Read) -> tuple[str, ...]:
    """What the person said and did in these lines, with the agent's own words to them."""
    last = _last(lines)
    first = max(min(line.numbers[0] for line in lines) - 1, last - NEWEST)
    between = [each for each in read(first, last + 1) if _is_between(each, page)]
    shown = tuple(memory_line(each) for each in between if may((each.number,)))
    return shown or tuple(f"- {line.time.astimezone():%d %B %Y}: {line.shown}" for line in lines)


def _is_between(memory: Memory, page: PersonPage) -> bool:
    if memory.kind is MemoryKind.ACT:
        return page.key == memory.to_id if memory.to_id else page.name == memory.to
    return memory.source_id == page.key


def _studied(known: PersonPage, before: PersonPage, portrait: str) -> PersonPage:
    """The page with its new paragraph; what a person has written there meanwhile stays."""
    text = portrait if known.portrait == before.portrait else known.portrait
    return replace(known, portrait=text, studied=max(known.studied, _last(before.lines)))


def _last(lines: Iterable[PageLine]) -> int:
    return max((line.numbers[-1] for line in lines), default=0)


# -- all of them, for one agent


class NightTasks:
    """The tasks of one agent's nights, put together from what it remembers with."""

    def __init__(self, life: Life, mind: Remembering, log: SleepLog, services: Runtime) -> None:
        self._name, self._services = life.name, services
        self._mind, self._log = mind, log

    def by_step(self) -> Mapping[Step, NightTask]:
        """What does each step; another memory than ours rests in its own way."""
        recaller = self._mind.keeper.recaller
        if isinstance(recaller, PluggedMemory):

            def rest(_: NightAsk) -> Figures:
                recaller.rest()
                return {}

            return {Step.COMPACT: rest}
        return {
            Step.CONSOLIDATE: self._consolidate,
            Step.REFLECT: self._reflect,
            Step.PROFILES: self._profiles,
            Step.COMPACT: self._compact,
        }

    @property
    def _now(self) -> datetime:
        return self._services.clock.now()

    @property
    def _may(self) -> May:
        """Whether anybody may hear what rests on the memories of those numbers."""
        return partial(self._mind.memory.private.may_hear_all, audience=NOBODY)

    def _read(self, first: int, last: int) -> list[Memory]:
        """Memories as anybody may know of them: what a night makes stands in all prompts."""
        return [outward(each) for each in self._mind.memory.memory.archive.read(first, last)]

    def _consolidate(self, ask: NightAsk) -> Figures:
        diary, newest = self._mind.diary, self._mind.memory.memory.archive.last_number
        since = max(int(self._log.through(Step.CONSOLIDATE) or 0), newest - NEWEST)
        memories = self._read(since + 1, newest) if newest > since else []
        # What a model is not asked about waits for a night in which it can be.
        through = newest if ask.available else since
        prompts = self._services.prompts.of("journal")
        figures = write_day(diary.journal, memories, ask, prompts, self._name, self._now)
        if not figures:  # no model was asked of this day
            diary.leaving(self._mind.memory.context().window)
        return {**figures, THROUGH: through}

    def _reflect(self, ask: NightAsk) -> Figures:
        prompts, config = self._services.prompts.of("reflect"), self._services.sleeping.current
        journal, through = self._mind.diary.journal, self._log.through(Step.REFLECT)
        return reflect(journal, ask, config, prompts, self._name, self._now, self._may, through)

    def _profiles(self, ask: NightAsk) -> Figures:
        people, prompts = self._mind.acquaintances, self._services.prompts.of("people")
        people.settle()
        return write_portraits(people.book, ask, prompts, self._name, self._may, self._read)

    def _compact(self, ask: NightAsk) -> Figures:
        """Have the memory compacted if it is over its sleep mark, and wait for the end of it."""
        memory, idle = self._mind.memory, threading.Event()

        def look() -> None:  # on the reactor thread, where no change is half begun
            if not memory.compacting:
                idle.set()

        made, before = memory.memory.status().compactions, memory.memory.load().used
        self._services.post(memory.compact_if_due)
        self._services.post(look)
        # Whoever wakes meanwhile does not wait for it; it goes on by itself.
        while not self._services.wait(idle, _LOOK_SECONDS):
            ask.check()
            self._services.post(look)
        made = memory.memory.status().compactions - made
        after = memory.memory.load().used
        return {"compactions": made, "tokens before": before, "tokens after": after}
