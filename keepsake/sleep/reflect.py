"""Reflection: a few questions, evidence from memory, and what an agent makes of it.

Nothing that a model says is believed for its own sake. An insight has to cite two memories at
least, all of them among the evidence that it was shown; its names and numbers have to stand
there, and most of its other words. What says who the agent is, what it has to do, or what only
the machinery of a prompt says, is refused: no player can dictate an insight.

How far a reflection has come is kept beside the journal (``reflection.json``), so that one
that was broken off asks no question twice and loses none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import filterfalse
from pathlib import Path

from keepsake.books.journal.book import Journal
from keepsake.books.journal.entries import EntryOrigin, Importance, JournalEntry, is_gathered
from keepsake.language.heard import names
from keepsake.language.perception import for_prompt
from keepsake.language.words import telling
from keepsake.sleep import course as courses
from keepsake.sleep import insight as insights_of
from keepsake.sleep.asking import Ask, CallsSpent
from keepsake.sleep.config import SleepConfig
from keepsake.sleep.course import Evidence, Insight, ReflectionProgress
from keepsake.sleep.history import INSIGHT_TAG, insights
from keepsake.sleep.insight import FEWEST_CITED, MOST_CITED
from keepsake.sleep.steps import Figures

__all__ = ["Evidence", "Insight", "Recall", "reflect"]

type Recall = Callable[[str], Sequence[Evidence]]
"""Raw memories that speak to a question, best first; blocks."""

_LEAST, _MOST, _USUAL = 4, 8, 5
"""How much an insight matters, at least, at most, and where its entries do not say."""
_FROM_JOURNAL = 6


def reflect(  # noqa: PLR0917 - each is another thing, and most cannot be left out
    journal: Journal,
    recall: Recall,
    ask: Ask,
    config: SleepConfig,
    own_name: str,
    now: datetime,
    people: Iterable[tuple[str, str]] = (),
) -> tuple[Figures, Sequence[Insight]]:
    """Reflect if enough importance has gathered, or go on where a reflection was broken off.

    Returns:
        Figures, and the insights that stand in the journal now and did not before.

    Raises:
        NightOver: The agent has woken; what is left waits.
        ModelError: There was no answer; what is left waits.
        NoteRefused: A file cannot be read or written.
    """
    ask.check()
    path = journal.folder / courses.NAME
    desk = _Desk(
        journal, recall, ask, own_name, now, dict(people), path, courses.load(path), ask.available
    )
    if not desk.course.open and desk.course.drawn is None:
        gathered = sum(entry.importance.score for entry in desk.fresh())
        if gathered < config.reflect_after:
            return {"gathered": gathered, "needed": config.reflect_after}, ()
        desk.begin(gathered, config.questions)
    desk.go_on()
    return desk.figures(), tuple(desk.found)


@dataclass(slots=True)
class _Desk:
    """One reflection: its questions one by one, each step on the disk before the next."""

    journal: Journal
    recall: Recall
    ask: Ask
    own_name: str
    now: datetime
    known: PresentNames
    path: Path
    course: ReflectionProgress
    with_model: bool
    evidence: int = 0
    found: list[Insight] = field(default_factory=list)

    def fresh(self) -> list[JournalEntry]:
        """What was written since the last reflection, insights apart."""
        through = _order(self.course.through)
        return [e for e in _lived(self.journal.entries()) if _order(e.id) > through]

    def begin(self, gathered: int, many: int) -> None:
        """Find the questions, and keep them."""
        fresh = self.fresh()
        asked: tuple[str, ...] = ()
        if self.with_model:
            prompt = insights_of.questions_prompt(fresh, self.own_name, many)
            asked = insights_of.questions_in(self.ask(prompt, insights_of.STOP), fresh, many)
        if not asked:  # of whom the entries tell most
            about = [name_of(key, self.known) for key in most_about(fresh)]
            asked = tuple(f"What do I know of {for_prompt(name)}?" for name in about if name)[:many]
        self._save(ReflectionProgress(max(fresh, key=lambda e: _order(e.id)).id, gathered, asked))

    def go_on(self) -> None:
        """Answer what is not answered yet."""
        if self.course.drawn is not None:
            self._keep(self.course.drawn)
        while self.course.open:
            self.ask.check()
            if self.with_model and not self.ask.available:
                return  # the calls are spent: the questions that are left wait
            try:
                drawn = self._answer(self.course.open[0])
            except CallsSpent:
                return
            if drawn is None:
                self._save(replace(self.course, answered=self.course.answered + 1))
            else:
                self._save(replace(self.course, drawn=drawn))
                self._keep(drawn)

    def figures(self) -> Figures:
        """What came of it."""
        course = self.course
        return {
            "gathered": course.gathered,
            "questions": len(course.questions),
            "evidence": self.evidence,
            "insights": len(self.found),
            **({"questions left": len(course.open)} if course.open else {}),
        }

    def _answer(self, question: str) -> Insight | None:
        entries = _lived(self.journal.entries())
        evidence = _together(self.recall(question), entries, question)
        self.evidence += len(evidence)
        if len(evidence) < insights_of.FEWEST_CITED:
            return None
        if self.with_model:
            prompt = insights_of.insight_prompt(question, evidence, self.own_name)
            answer = self.ask(prompt, insights_of.STOP)
            found = insights_of.insight_in(answer, evidence, self.own_name)
        else:
            new = filterfalse(self._stands, counted(question, entries, evidence, self.known))
            found = next(new, None)
        return found and replace(found, who=_who(found, entries))

    def _keep(self, drawn: Insight) -> None:
        """Bring an insight into the journal, unless it stands there; its question is done."""
        if not self._stands(drawn):
            self.journal.write(
                drawn.text,
                importance=_importance(drawn, self.journal.entries()),
                origin=EntryOrigin.INFERRED,
                memories=drawn.memories,
                tags=(INSIGHT_TAG,),
                who=drawn.who,
                now=self.now,
                by="night",
            )
            self.found.append(drawn)
        done = self.course.answered + 1
        self._save(replace(self.course, answered=done, drawn=None))

    def _stands(self, insight: Insight) -> bool:
        """Whether the journal says the same already, of the same people."""
        return any(
            telling(entry.text) == telling(insight.text)
            and not (entry.who and insight.who and set(entry.who).isdisjoint(insight.who))
            for entry in insights(self.journal.entries())
        )

    def _save(self, course: ReflectionProgress) -> None:
        courses.save(self.path, course)
        self.course = course


def _lived(entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """Entries that rest on what happened: what was only concluded is no ground for more.

    Nor is the line that gathers what mattered least: it says of no memory alone what it was.
    """
    return [
        entry
        for entry in entries
        if entry.origin is not EntryOrigin.INFERRED
        and INSIGHT_TAG not in entry.tags
        and not is_gathered(entry)
    ]


def _order(id: str) -> tuple[int, int]:
    """``20261121-3`` as something to compare by; (0, 0) for what is no id."""
    day, _, number = id.partition("-")
    return (int(day), int(number)) if day.isdecimal() and number.isdecimal() else (0, 0)


def _together(
    recalled: Sequence[Evidence], entries: Sequence[JournalEntry], question: str
) -> list[Evidence]:
    """What recall found, and what the journal has of the same, each memory once.

    The newest memories are in the window, where recall does not look: the journal knows them.
    """
    found = {each.number: each for each in recalled[: insights_of.MOST_EVIDENCE - _FROM_JOURNAL]}
    wanted = telling(question)
    near = [e for e in entries if e.memories and telling(e.text) & wanted]
    near.sort(key=lambda e: (len(telling(e.text) & wanted), e.importance.score), reverse=True)
    for entry in near:
        if len(found) >= insights_of.MOST_EVIDENCE:
            break
        number = entry.memories[0]
        found.setdefault(number, Evidence(number, entry.text, entry.time))
    return [found[number] for number in sorted(found)]


def _who(insight: Insight, entries: Sequence[JournalEntry]) -> tuple[str, ...]:
    """Whom it is about: those of its entries whose memories it cites."""
    cited = set(insight.memories)
    keys = [key for entry in entries if cited & set(entry.memories) for key in entry.who]
    return tuple(dict.fromkeys((*insight.who, *keys)))


def _importance(insight: Insight, entries: Sequence[JournalEntry]) -> Importance:
    cited = set(insight.memories)
    scores = [e.importance.score for e in entries if cited & set(e.memories)]
    score = min(max(max(scores, default=_USUAL), _LEAST), _MOST)
    return Importance(score, reasons=("an insight",))


_HABITS = (
    ("gift", re.compile(r"(?!I )[^:'\"]{1,60} gave me\b"), "has given me something"),
    ("promise", re.compile(r"(?!I )[^:'\"]{1,60} told me\b"), "has promised me something"),
)
"""What an entry is about, how it begins when somebody did that to the agent, and how to say so."""


type PresentNames = Mapping[str, str]
"""What those whom the agent knows are called now, by their keys."""


def most_about(entries: Iterable[JournalEntry]) -> list[str]:
    """Keys of those whom the entries tell of, by how much that matters."""
    weights: Counter[str] = Counter()
    for entry in entries:
        weights.update(dict.fromkeys(entry.who, entry.importance.score))
    return [key for key, _ in weights.most_common()]


def name_of(key: str, known: PresentNames) -> str:
    """What somebody is called; empty where nothing says it."""
    return known.get(key, "") or key.partition("name:")[2]


def counted(
    question: str,
    entries: Sequence[JournalEntry],
    evidence: Sequence[Evidence],
    known: PresentNames,
) -> Iterator[Insight]:
    """What those whom the question names did more than once, and the memories of it."""
    there = {each.number for each in evidence}
    for key in most_about(entries):
        name = name_of(key, known)
        if not names(question, name):
            continue
        # Of one person alone: who did it is sure then, whatever they were called at the time.
        own = [entry for entry in entries if entry.who == (key,)]
        for sign, begins, did in _HABITS:
            signs = {sign, f"a {sign}"}
            bearing = [
                e
                for e in own
                if begins.match(e.text) and not signs.isdisjoint((*e.tags, *e.importance.reasons))
            ]
            cited = {min(there & set(e.memories)) for e in bearing if there & set(e.memories)}
            if len(cited) >= FEWEST_CITED:
                numbers = tuple(sorted(cited)[-MOST_CITED:])
                yield Insight(f"{for_prompt(name)} {did} more than once.", numbers, (key,))
