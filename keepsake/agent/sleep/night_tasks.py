"""What an agent does at night: its journal, its reflections, its paragraphs about people.

Everything here runs in the thread of a night. Each task may be interrupted anywhere and run
again, because it finds its earlier results on disk.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from keepsake.agent.memory.books import Books
from keepsake.agent.memory.memory import MemoryComponent
from keepsake.agent.runtime import Runtime
from keepsake.agent.sleep.night import Figures, NightAsk, NightTask
from keepsake.archive.privacy import NOBODY, is_private, redacted
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.entries import EntryOrigin, Rater
from keepsake.books.entries import line as entry_line
from keepsake.books.person_page import PageLine, PersonPage
from keepsake.files import replace_file
from keepsake.prompt.script import about_memory
from keepsake.tasks.night import journal_task, memory_line, people_task, reflect_task

THROUGH = "sleep.json"
"""The file in an agent's folder with the number of the last memory in the journal."""
NEWEST = 2000
"""How many memories one night reads at most."""
LEAST_MEMORIES = 6
LEAST_LINES = 3
"""How many new memories, and new lines about a person, a model call needs."""
_LEAST_INSIGHT = 4
_MOST_INSIGHT = 8
_USUAL = 5
"""The importance of an insight: minimum, maximum, and default if its entries give none."""
_ENTRIES = 60
_KNOWN = 20
"""How many newest entries a reflection reads, and how many insights it must not repeat."""


class NightWork:
    """The tasks of one agent's night: what it asks a model, and what it writes.

    :class:`NightOver` may interrupt each method; results already written stay. Each raises
    ModelError if a model does not answer, and NoteRefused if a file cannot be read or written.
    """

    def __init__(self, memory: MemoryComponent, books: Books, services: Runtime) -> None:
        self._memory = memory
        self._books = books
        self._services = services
        self.tasks: Mapping[str, NightTask] = {
            "consolidate": self.consolidate,
            "reflect": self.reflect,
            "profiles": self.profiles,
        }

    def _read(self, first: int, last: int) -> list[Memory]:
        # Results of a night appear in all prompts, so private words are removed.
        return [redacted(each) for each in self._memory.memory.archive.read(first, last)]

    def _is_public(self, numbers: Sequence[int]) -> bool:
        """Return whether everybody may hear a text based on these memories."""
        return self._memory.private.may_hear(numbers, audience=NOBODY)

    def consolidate(self, ask: NightAsk) -> Figures:
        """Write journal entries about the memories since the last night."""
        newest = self._memory.memory.archive.last_number
        path = self._memory.folder / THROUGH
        since = max(_last_in_journal(path), newest - NEWEST)
        asked = ask.available  # without a model, the memories wait for a later night
        figures = self.write_journal(ask, self._read(since + 1, newest) if newest > since else [])
        if asked:
            replace_file(path, json.dumps({"through": newest}) + "\n")
        return figures

    def profiles(self, ask: NightAsk) -> Figures:
        """Update the pages of people, then call :meth:`write_portraits`."""
        self._books.update_people(self._memory.memory.archive)
        return self.write_portraits(ask)

    def write_journal(self, ask: NightAsk, memories: Sequence[Memory]) -> Figures:
        """Have a model write journal entries; no figures are returned if none was asked."""
        # Leave out private memories, and uses of the agent's own memory.
        events = (each for each in memories if not (is_private(each) or about_memory(each)))
        shown = {memory.number: memory for memory in events}
        if len(shown) < LEAST_MEMORIES or not ask.available:
            return {}
        prompts = self._services.prompts["journal"].current
        journal = self._books.journal
        drafts = ask.do(journal_task(prompts, self._memory.name, list(shown.values())))
        for draft in drafts:
            sources = [shown[number] for number in draft.memories]
            was_told = any(memory.heard is not None for memory in sources)
            journal.write(
                draft.text,
                importance=draft.importance,
                rated_by=Rater.MODEL,
                origin=EntryOrigin.TOLD if was_told else EntryOrigin.SEEN,
                memories=draft.memories,
                who=[memory.source_id for memory in sources if memory.source_id],
                now=self._services.clock.now(),
                by="night",
            )
        return {"written": len(drafts)}

    def reflect(self, ask: NightAsk) -> Figures:
        """Have a model draw insights from the journal, once enough importance has accumulated.

        Each insight cites memories of entries that the model was shown. Without a model, an agent
        does not reflect.
        """
        services = self._services
        journal = self._books.journal
        name = self._memory.name
        everything = journal.entries()
        config = services.sleeping.current
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
        found = [each for each in ask.do(task) if each.text not in known]
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
                by="night",
            )
        return {**figures, "insights": len(found)}

    def write_portraits(self, ask: NightAsk) -> Figures:
        """Have a model rewrite the paragraph about each person with enough new lines.

        The model sees the current paragraph, and what both sides said and did since. It sees no
        private memories, because the paragraph may appear in every prompt.
        """
        asked = 0
        people = self._books.people
        name = self._memory.name
        for page in people.all():
            ask.check()
            heard_by_all = tuple(each for each in page.lines if self._is_public(each.numbers))
            public = replace(page, lines=heard_by_all)
            new = [line for line in public.lines if line.numbers[-1] > page.studied]
            if len(new) < LEAST_LINES or not ask.available:
                continue
            asked += 1
            lines = self._conversation(public, new if public.portrait else public.lines)
            prompts = self._services.prompts["people"].current
            portrait = ask.do(people_task(prompts, name, public.name, public.portrait, lines))
            people.conclude(page.key, partial(_with_portrait, before=public, portrait=portrait))
        return {"asked": asked}

    def _conversation(self, page: PersonPage, lines: Sequence[PageLine]) -> tuple[str, ...]:
        """Return what the person said and did in these lines, and the agent's acts to them."""
        last = _last(lines)
        first = max(min(line.numbers[0] for line in lines) - 1, last - NEWEST)
        between = [each for each in self._read(first, last + 1) if _is_between(each, page)]
        shown = tuple(memory_line(each) for each in between if self._is_public((each.number,)))
        return shown or tuple(f"- {x.time.astimezone():%d %B %Y}: {x.shown}" for x in lines)


def _last_in_journal(path: Path) -> int:
    """Return the number of the last memory in the journal; 0 if that is not known."""
    try:
        return int(json.loads(path.read_text("utf-8"))["through"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def _is_between(memory: Memory, page: PersonPage) -> bool:
    if memory.kind is MemoryKind.ACT:
        return page.key == memory.to_id if memory.to_id else page.name == memory.to
    return memory.source_id == page.key


def _with_portrait(known: PersonPage, before: PersonPage, portrait: str) -> PersonPage:
    """Return the page with its new paragraph, unless a person has edited the old one."""
    text = portrait if known.portrait == before.portrait else known.portrait
    return replace(known, portrait=text, studied=max(known.studied, _last(before.lines)))


def _last(lines: Iterable[PageLine]) -> int:
    return max((line.numbers[-1] for line in lines), default=0)
