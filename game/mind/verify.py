"""Does what an agent sees after a compaction still hold what it must? The verdict on it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from game.mind import verdict
from game.mind.details import details, vocabulary
from game.mind.errors import ModelError
from game.mind.ports import Embedder
from game.mind.survival import Constraint, Seen, compare, read_constraint

_COVERAGE = 0.8
_CONTRARY = 0.2
_HALF = 0.5
_ALIKE = 0.82
_CANDIDATES = 6
_MOST_EMBEDDED = 96
_HEADING = re.compile(
    r"^\s*#+[^\n]*$|^\s*[-*•]?\s*\(?(?:none|nothing)(?: \w+){0,2}\)?\.?\s*$", re.M | re.I
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the check of a compaction found.

    Attributes:
        wanted: Constraints and open loops that had to survive.
        put_back: Those of them that had not, and were put back word for word.
        details: Names, places and numbers in what was summarised.
        vanished: Those of them that the agent no longer sees.
        invented: Names and numbers in the summaries that nothing before them held.
        problems: What is wrong with the summaries, one sentence each; empty for a good one.
        tries: How often summaries were written until these were taken.
    """

    wanted: int = 0
    put_back: tuple[str, ...] = ()
    details: int = 0
    vanished: int = 0
    invented: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    tries: int = 1

    @property
    def good(self) -> bool:
        """Whether the summaries may stand as they are."""
        return not self.problems

    def to_record(self) -> dict[str, Any]:
        """Part of the compaction's archive line."""
        return {
            "wanted": self.wanted,
            "put_back": list(self.put_back),
            "details": self.details,
            "vanished": self.vanished,
            "invented": list(self.invented),
            "problems": list(self.problems),
            "tries": self.tries,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Verdict:
        """Read it back; what an older line lacks is empty."""
        return cls(
            wanted=int(record.get("wanted", 0)),
            put_back=tuple(map(str, record.get("put_back", ()))),
            details=int(record.get("details", 0)),
            vanished=int(record.get("vanished", 0)),
            invented=tuple(map(str, record.get("invented", ()))),
            problems=tuple(map(str, record.get("problems", ()))),
            tries=int(record.get("tries", 1)),
        )


def judge(
    *,
    summaries: Sequence[str],
    sources: Sequence[str],
    visible: Sequence[str],
    must_keep: Sequence[str],
    embedder: Embedder | None = None,
) -> Verdict:
    """Check what a compaction leaves of what it was given; blocks if there is an embedder.

    Args:
        summaries: The new summaries.
        sources: What they were made of: memories and earlier summaries.
        visible: Every line that the agent sees afterwards: pins, summaries, window.
        must_keep: Constraints and open loops from before.
        embedder: Knows what means the same; None, or one that fails, leaves it to words.
    """
    wanted = tuple(dict.fromkeys(line for line in must_keep if line.strip()))
    there = details(sources)
    kept = vocabulary(visible)
    written = set(summaries)
    known = (
        kept
        if not written
        else vocabulary([*sources, *wanted, *(line for line in visible if line not in written)])
    )
    invented = [f.shown for f in details(summaries).values() if not known.issuperset(f.keys)]
    return Verdict(
        wanted=len(wanted),
        put_back=_lost(wanted, Seen(visible), embedder),
        details=len(there),
        vanished=sum(not kept.issuperset(found.keys) for found in there.values()),
        invented=tuple(invented),
        problems=tuple(_problems(summaries, sources)),
    )


def _problems(summaries: Sequence[str], sources: Sequence[str]) -> list[str]:
    found = []
    for summary in summaries:
        if reason := verdict.check(_HEADING.sub("", summary), sources):
            found.append(f"a summary {reason}")
    return found


def _lost(wanted: Sequence[str], seen: Seen, embedder: Embedder | None) -> tuple[str, ...]:
    """Those of ``wanted`` that are not seen any more."""
    constraints = [read_constraint(text) for text in wanted]
    missing = [c for c in constraints if not _kept(c, seen)]
    meant = _meant(missing, seen, embedder) if missing and embedder else set()
    return tuple(c.text for c in missing if c.text not in meant)


def _kept(constraint: Constraint, seen: Seen) -> bool:
    """Whether the words of one sentence keep it."""
    if seen.verbatim(constraint):
        return True
    found = (compare(constraint, unit) for unit in seen.near(constraint, 64))
    return any(k.firm and k.coverage >= _COVERAGE and k.contrary <= _CONTRARY for k in found)


def _meant(missing: Sequence[Constraint], seen: Seen, embedder: Embedder) -> set[str]:
    """Those of ``missing`` that a sentence keeps by its meaning; none if nobody can tell."""
    pairs = []
    for constraint in missing:
        near = ((compare(constraint, unit), unit) for unit in seen.near(constraint, 64))
        good = [u for k, u in near if k.firm and k.coverage >= _HALF and not k.contrary]
        pairs += [(constraint, unit) for unit in good[:_CANDIDATES]]
    pairs = pairs[: _MOST_EMBEDDED // 2]
    texts = list(dict.fromkeys(t for c, u in pairs for t in (c.unit.text, u.text)))
    try:
        vectors = dict(zip(texts, embedder.embed(texts), strict=True)) if texts else {}
    except ModelError:
        return set()
    return {c.text for c, u in pairs if _cosine(vectors[c.unit.text], vectors[u.text]) >= _ALIKE}


def _cosine(one: Sequence[float], two: Sequence[float]) -> float:
    dot = sum(a * b for a, b in zip(one, two, strict=True))
    size = (sum(a * a for a in one) * sum(b * b for b in two)) ** 0.5
    return dot / size if size else 0.0
