"""What an agent does at night: its journal, reflection, people's paragraphs, compaction.

Everything here runs in the thread of a night. Each task may be broken off at any line and done
again: what is on the disk by then is found there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from keepsake.agent.memory.books import Books
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.agent.settings import SleepConfig
from keepsake.agent.sleep.night import Figures, NightAsk, NightTask, Step
from keepsake.archive.privacy import NOBODY, outward
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.entries import EntryOrigin, JournalEntry, Judge
from keepsake.books.entries import line as entry_line
from keepsake.books.files import replace_file
from keepsake.books.journal import Journal, is_event
from keepsake.books.people import May, PageLine, PeopleBook, PersonPage, hearable
from keepsake.language.heard import heard
from keepsake.tasks.night import JournalTask, PeopleTask, ReflectTask, memory_line
from keepsake.tasks.task import Prompts

THROUGH = "sleep.json"
"""Where an agent's folder says of which memories the journal was written."""
NEWEST = 2000
"""The most memories that one night goes through again."""
LEAST_MEMORIES, LEAST_LINES = 6, 3
"""New memories, and new lines of a person, that there have to be for a model to be asked."""
_LEAST_INSIGHT, _MOST_INSIGHT, _USUAL = 4, 8, 5
"""How much an insight matters, at least, at most, and where its entries do not say."""
_ENTRIES, _KNOWN = 60, 20
"""The newest entries of which a reflection is made, and insights that it is told not to repeat."""

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


def _through(path: Path) -> int:
    """Number of the newest memory of which the journal was written; 0 where nobody knows."""
    try:
        return int(json.loads(path.read_text("utf-8"))["through"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


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

    Raises:
        NightOver: The agent has woken, or the calls are spent; it reflects in its next sleep.
        ModelError: There was no answer; the same.
        NoteRefused: A file cannot be read or written.
    """
    everything = journal.entries()
    # What was only concluded is no ground for more.
    lived = [e for e in everything if e.origin is not EntryOrigin.INFERRED and may(e.memories)]
    insights = [each for each in everything if each.is_insight]
    newest = max((each.order for each in insights), default=(0, 0))
    gathered = sum(each.importance for each in lived if each.order > newest)
    figures: Figures = {"gathered": gathered}
    if gathered < config.reflect_after or not ask.available:
        return {**figures, "needed": config.reflect_after}
    shown = lived[-_ENTRIES:]
    lines = tuple(entry_line(each, now) for each in shown)
    numbers = frozenset(number for each in shown for number in each.memories)
    known = [each.text for each in insights]
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
    return {**figures, "insights": len(found)}


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


def night_tasks(
    memory: MemoryComponent, books: Books, services: Runtime
) -> Mapping[Step, NightTask]:
    """What each step does, but for the last."""
    prompts, now = services.prompts, services.clock.now
    name = memory.name

    def may(numbers: Iterable[int]) -> bool:
        return memory.private.may_hear_all(numbers, audience=NOBODY)

    def read(first: int, last: int) -> list[Memory]:
        # What a night makes is in all prompts.
        return [outward(each) for each in memory.memory.archive.read(first, last)]

    def consolidate(ask: NightAsk) -> Figures:
        newest, path = memory.memory.archive.last_number, memory.folder / THROUGH
        since = max(_through(path), newest - NEWEST)
        memories = read(since + 1, newest) if newest > since else []
        asked = ask.available  # else what it is not asked about waits for a night in which it is
        journal = books.journal
        figures = write_day(journal, memories, ask, prompts.of("journal"), name, now())
        if asked:
            replace_file(path, json.dumps({"through": newest}) + "\n")
        return figures

    def reflects(ask: NightAsk) -> Figures:
        config, journal = services.sleeping.current, books.journal
        return reflect(journal, ask, config, prompts.of("reflect"), name, now(), may)

    def profiles(ask: NightAsk) -> Figures:
        books.settle(memory.memory.archive)
        return write_portraits(books.people, ask, prompts.of("people"), name, may, read)

    return {Step.CONSOLIDATE: consolidate, Step.REFLECT: reflects, Step.PROFILES: profiles}
