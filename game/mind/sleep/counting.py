"""What an agent can conclude without a model: what can be counted in its journal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from game.mind.books.journal.entries import JournalEntry
from game.mind.language.heard import names
from game.mind.language.perception import for_prompt
from game.mind.sleep.course import Evidence, Insight
from game.mind.sleep.insight import FEWEST_CITED, MOST_CITED

_HABITS = (
    ("gift", re.compile(r"(?!I )[^:'\"]{1,60} gave me\b"), "has given me something"),
    ("promise", re.compile(r"(?!I )[^:'\"]{1,60} told me\b"), "has promised me something"),
)
"""What an entry is about, how it begins when somebody did that to the agent, and how to say so."""


@dataclass(frozen=True, slots=True)
class Known:
    """Whom the agent knows."""

    by_key: Mapping[str, str]
    others: tuple[str, ...] = ()

    @classmethod
    def of(cls, people: Iterable[str | tuple[str, str]]) -> Known:
        """From pairs of key and name, or names alone."""
        given = tuple(people)
        pairs = dict(each for each in given if not isinstance(each, str))
        return cls(pairs, tuple(each for each in given if isinstance(each, str)))

    def name(self, key: str, entries: Iterable[JournalEntry]) -> str:
        """What somebody is called; empty where nothing says it."""
        if found := self.by_key.get(key, "") or key.partition("name:")[2]:
            return found
        begun = Counter(
            name
            for entry in entries
            for name in self.others
            if key in entry.who and entry.text.startswith(f"{name} ")
        )
        return begun.most_common(1)[0][0] if begun else ""


def most_about(entries: Iterable[JournalEntry]) -> list[str]:
    """Keys of those whom the entries tell of, by how much that matters."""
    weights: Counter[str] = Counter()
    for entry in entries:
        weights.update(dict.fromkeys(entry.who, entry.importance.score))
    return [key for key, _ in weights.most_common()]


def counted(
    question: str, entries: Sequence[JournalEntry], evidence: Sequence[Evidence], known: Known
) -> Iterator[Insight]:
    """What those whom the question names did more than once, and the memories of it."""
    there = {each.number for each in evidence}
    for key in most_about(entries):
        name = known.name(key, entries)
        if not names(question, name):
            continue
        # Of one person alone: who did it is sure then, whatever they were called at the time.
        own = [entry for entry in entries if entry.who == (key,)]
        for sign, begins, did in _HABITS:
            bearing = [e for e in own if begins.match(e.text) and _is(sign, e)]
            cited = {min(there & set(e.memories)) for e in bearing if there & set(e.memories)}
            if len(cited) >= FEWEST_CITED:
                numbers = tuple(sorted(cited)[-MOST_CITED:])
                yield Insight(f"{for_prompt(name)} {did} more than once.", numbers, (key,))


def _is(sign: str, entry: JournalEntry) -> bool:
    """Whether an entry is about that, by its tags or by why it matters."""
    return sign in entry.tags or f"a {sign}" in entry.importance.reasons
