"""What an agent can conclude without a model: what can be counted in its journal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

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
            bearing = [e for e in own if begins.match(e.text) and _is(sign, e)]
            cited = {min(there & set(e.memories)) for e in bearing if there & set(e.memories)}
            if len(cited) >= FEWEST_CITED:
                numbers = tuple(sorted(cited)[-MOST_CITED:])
                yield Insight(f"{for_prompt(name)} {did} more than once.", numbers, (key,))


def _is(sign: str, entry: JournalEntry) -> bool:
    """Whether an entry is about that, by its tags or by why it matters."""
    return sign in entry.tags or f"a {sign}" in entry.importance.reasons
