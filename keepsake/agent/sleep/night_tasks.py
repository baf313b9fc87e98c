"""What an agent does at night: its journal, reflection, people's paragraphs.

Everything here runs in the thread of a night. Each task may be broken off at any line and done
again: what is on the disk by then is found there.
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
from keepsake.archive.privacy import NOBODY, is_private, outward
from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.entries import EntryOrigin, Judge
from keepsake.books.entries import line as entry_line
from keepsake.books.files import replace_file
from keepsake.books.person_page import PageLine, PersonPage
from keepsake.language.heard import heard
from keepsake.prompt.script import about_memory
from keepsake.tasks.night import journal_task, memory_line, people_task, reflect_task

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


class NightWork:
    """What one agent asks a model in its sleep, and what it writes of the answers.

    Each method may be broken off by :class:`NightOver`: what was written stays. Each raises
    ModelError where there is no answer, NoteRefused where a file cannot be read or written.
    """

    def __init__(self, memory: MemoryComponent, books: Books, services: Runtime) -> None:
        self._memory, self._books, self._services = memory, books, services
        self.tasks: Mapping[str, NightTask] = {
            "consolidate": self.consolidate,
            "reflect": self.reflect,
            "profiles": self.profiles,
        }

    def _read(self, first: int, last: int) -> list[Memory]:
        # What a night makes is in all prompts.
        return [outward(each) for each in self._memory.memory.archive.read(first, last)]

    def _may(self, numbers: Sequence[int]) -> bool:
        """Whether anybody may hear what rests on these memories."""
        return self._memory.private.may_hear(numbers, audience=NOBODY)

    def consolidate(self, ask: NightAsk) -> Figures:
        """Write journal entries about the memories since the last night."""
        newest, path = self._memory.memory.archive.last_number, self._memory.folder / THROUGH
        since = max(_through(path), newest - NEWEST)
        asked = ask.available  # else what it is not asked about waits for a night in which it is
        figures = self.write_day(ask, self._read(since + 1, newest) if newest > since else [])
        if asked:
            replace_file(path, json.dumps({"through": newest}) + "\n")
        return figures

    def profiles(self, ask: NightAsk) -> Figures:
        """Bring the pages of people up to date, then :meth:`write_portraits`."""
        self._books.settle(self._memory.memory.archive)
        return self.write_portraits(ask)

    def write_day(self, ask: NightAsk, memories: Sequence[Memory]) -> Figures:
        """Have a model write the journal of these memories; no figures where none was asked."""
        # What anybody may know of, and no use of the agent's own memory.
        events = (each for each in memories if not (is_private(each) or about_memory(each)))
        shown = {memory.number: memory for memory in events}
        if len(shown) < LEAST_MEMORIES or not ask.available:
            return {}
        prompts, journal = self._services.prompts["journal"].current, self._books.journal
        drafts = ask.do(journal_task(prompts, self._memory.name, list(shown.values())))
        for draft in drafts:
            rests_on = [shown[number] for number in draft.memories]
            was_told = any(heard(memory) is not None for memory in rests_on)
            journal.write(
                draft.text,
                importance=draft.importance,
                judge=Judge.MODEL,
                origin=EntryOrigin.TOLD if was_told else EntryOrigin.SEEN,
                memories=draft.memories,
                who=[memory.source_id for memory in rests_on if memory.source_id],
                now=self._services.clock.now(),
                by="night",
            )
        return {"written": len(drafts)}

    def reflect(self, ask: NightAsk) -> Figures:
        """Have a model say what follows from the journal, once enough importance has gathered.

        Each insight rests on memories of the entries that the model was shown. Without a model an
        agent does not reflect.
        """
        services, journal, name = self._services, self._books.journal, self._memory.name
        everything, config = journal.entries(), services.sleeping.current
        # What was only concluded is no ground for more.
        inferred, may = EntryOrigin.INFERRED, self._may
        lived = [e for e in everything if e.origin is not inferred and may(e.memories)]
        insights = [each for each in everything if each.is_insight]
        newest = max((each.order for each in insights), default=(0, 0))
        gathered = sum(each.importance for each in lived if each.order > newest)
        figures: Figures = {"gathered": gathered}
        if gathered < config.reflect_after or not ask.available:
            return {**figures, "needed": config.reflect_after}
        shown, now = lived[-_ENTRIES:], services.clock.now()
        lines = tuple(entry_line(each, now) for each in shown)
        numbers = {number for each in shown for number in each.memories}
        known = [each.text for each in insights]
        prompts, most = services.prompts["reflect"].current, config.insights
        task = reflect_task(prompts, name, lines, known[-_KNOWN:], numbers, most)
        found = [each for each in ask.do(task) if each.text not in known]
        for insight in found:
            cited = [each for each in shown if set(insight.memories) & set(each.memories)]
            score = max((each.importance for each in cited), default=_USUAL)
            journal.write(
                insight.text,
                importance=min(max(score, _LEAST_INSIGHT), _MOST_INSIGHT),
                judge=Judge.MODEL,
                origin=inferred,
                memories=insight.memories,
                who=[key for each in cited for key in each.who],
                now=now,
                by="night",
            )
        return {**figures, "insights": len(found)}

    def write_portraits(self, ask: NightAsk) -> Figures:
        """Have a model write anew what the agent makes of everybody of whom enough is new.

        It is shown the paragraph as it is, and both sides of what was said and done since, as far
        as anybody may hear it: so the paragraph may stand in every prompt.
        """
        asked, people, name = 0, self._books.people, self._memory.name
        for page in people.all():
            ask.check()
            heard_by_all = tuple(each for each in page.lines if self._may(each.numbers))
            public = replace(page, lines=heard_by_all)
            new = [line for line in public.lines if line.numbers[-1] > page.studied]
            if len(new) < LEAST_LINES or not ask.available:
                continue
            asked += 1
            lines = self._exchange(public, new if public.portrait else public.lines)
            prompts = self._services.prompts["people"].current
            portrait = ask.do(people_task(prompts, name, public.name, public.portrait, lines))
            people.conclude(page.key, partial(_studied, before=public, portrait=portrait))
        return {"asked": asked}

    def _exchange(self, page: PersonPage, lines: Sequence[PageLine]) -> tuple[str, ...]:
        """What the person said and did in these lines, with the agent's own words to them."""
        last = _last(lines)
        first = max(min(line.numbers[0] for line in lines) - 1, last - NEWEST)
        between = [each for each in self._read(first, last + 1) if _is_between(each, page)]
        shown = tuple(memory_line(each) for each in between if self._may((each.number,)))
        return shown or tuple(f"- {x.time.astimezone():%d %B %Y}: {x.shown}" for x in lines)


def _through(path: Path) -> int:
    """Number of the newest memory of which the journal was written; 0 where nobody knows."""
    try:
        return int(json.loads(path.read_text("utf-8"))["through"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0


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
