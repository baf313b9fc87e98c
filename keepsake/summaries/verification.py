"""Does what an agent sees after a compaction still hold what it must? The verdict on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from keepsake.language.details import Detail, details, vocabulary
from keepsake.language.perception import shorten
from keepsake.language.words import sentences, telling
from keepsake.summaries import draft_checks
from keepsake.summaries.attribution import swapped
from keepsake.summaries.extractive import binding
from keepsake.summaries.sections import plain
from keepsake.summaries.survival import Constraint, Seen, compare, read_constraint

_HALF = 0.5
"""The share of a constraint's words that a sentence has to deny to say its opposite, and of what
somebody said that a sentence has to have to tell it."""
_NEAR = 64
"""Sentences that one constraint is compared with."""

_LEAST_CHARACTERS, _LEAST_SHARE = 120, 0.04
"""A summary shorter than either of both says nothing of what it stands for."""
_LEAST_DETAILS, _LEAST_DETAIL_SHARE, _FEW_DETAILS = 4, 0.15, 8
"""The same for names, places and numbers; with fewer than the last it cannot be said."""
_MOST_INVENTED, _MOST_INVENTED_SHARE = 3, 0.25
"""So many invented names and numbers, and such a share of all in the summaries, are a tale."""

_MOST_SHOWN = 6
"""How many lost names and numbers are told."""
_MOST_WORDS = 0.6
"""The share of the words of a rule or promise that tell it still."""

_COUNTS, _LISTS = ("wanted", "details", "vanished", "tries"), ("put_back", "invented", "problems")

type Details = Mapping[tuple[str, ...], Detail]

_FURNITURE = re.compile(
    r"^[ \t]*#+[^\n]*$|^[ \t]*[-*•][ \t]+|[ \t]*\(memor(?:y|ies) [\d ,–-]+\)", re.M
)
"""What a structured summary has beside its notes."""


@dataclass(frozen=True, slots=True)
class SummaryVerdict:
    """What the check of a compaction found."""

    wanted: int = 0  # constraints and open loops that had to survive
    put_back: tuple[str, ...] = ()  # those of them that had not, and were put back word for word
    details: int = 0  # names, places and numbers in what was summarised
    vanished: int = 0  # those of them that the agent no longer sees
    # names and numbers in the summaries that nothing before them held
    invented: tuple[str, ...] = ()
    # what is wrong with the summaries, one sentence each; empty for a good one
    problems: tuple[str, ...] = ()
    tries: int = 1  # how often summaries were written until these were taken

    @property
    def words(self) -> str:
        """What it found; empty for nothing worth a word."""
        parts = []
        if self.wanted:
            kept, back = self.wanted - len(self.put_back), len(self.put_back)
            parts.append(f"{kept} of {self.wanted} rules and promises kept")
            parts += [f"{back} put back word for word"] if back else []
        if self.details:
            parts.append(f"{self.vanished} of {self.details} details gone from the prompt")
        if self.invented:
            parts.append(f"invented: {', '.join(self.invented)}")
        if self.tries > 1:
            parts.append(f"written {self.tries} times")
        return "; ".join([*parts, *self.problems])

    @property
    def good(self) -> bool:
        """Whether the summaries may stand as they are."""
        return not self.problems

    def to_record(self) -> dict[str, Any]:
        """Part of the compaction's archive line."""
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> SummaryVerdict:
        """Read it back; what an older line lacks is empty."""
        values: dict[str, Any] = {key: int(record[key]) for key in _COUNTS if key in record}
        values |= {key: tuple(map(str, record[key])) for key in _LISTS if key in record}
        return cls(**values)


def judge(
    *,
    summaries: Sequence[str],
    sources: Sequence[str],
    visible: Sequence[str],
    must_keep: Sequence[str],
    agent: str = "",
) -> SummaryVerdict:
    """Check what a compaction leaves of what it was given.

    What must be kept is looked for by words (:mod:`keepsake.summaries.survival`); what is not
    found is to be put back, which mends it, so it is no problem of the summaries. Neither is a
    name that they lack or add: a summary leaves things out, and counts. These are problems:

    * what :func:`keepsake.summaries.draft_checks.check` refuses: empty, repeating, longer than
      its source …
    * nothing in it: shorter than 120 characters and than 4 % of the source, or fewer than
      four of its names and numbers and than 15 % of them
    * a tale: three invented names or numbers, and a quarter of all that it has
    * a constraint turned round, which no source had turned round
    * what one person said of their own life, told of another
      (:mod:`keepsake.summaries.attribution`)

    Measured over believable evenings of 4 to 128 memories: none of 108 extractive summaries
    of 300 to 1,200 characters nor of 30 structured ones has a problem, or an invented name
    (the poorest keeps 7 of 23 names and numbers). Of 56 that gemma-3-270m wrote, 17 pass
    :func:`keepsake.summaries.draft_checks.check`, mostly one line for a whole evening, and four
    pass this: one that copied all six of its memories, three that kept a line of six or ten.

    ``sources``: What they were made of: memories and earlier summaries.
    ``visible``: Every line that the agent sees afterwards: pins, summaries, window.
    ``must_keep``: Constraints and open loops from before.
    ``agent``: Whose memories they are; empty leaves out who said what.
    """
    wanted, constraints = _wanted(must_keep), _constraints(must_keep)
    there, own = details(sources), details(summaries)
    kept = vocabulary(visible)
    invented = _invented(own, summaries, [*sources, *wanted], visible)
    texts = [_FURNITURE.sub("", summary).strip() for summary in summaries]
    problems = [*_refusals(texts, sources), *_emptiness(texts, sources, there)]
    if len(invented) >= max(_MOST_INVENTED, _MOST_INVENTED_SHARE * len(own)):
        problems.append(f"{len(invented)} of {len(own)} names and numbers are invented")
    problems += _turned_round(constraints, texts, sources)
    if agent:
        problems += (swap for text in summaries for swap in swapped(text, sources, agent))
    return SummaryVerdict(
        wanted=len(wanted),
        put_back=_lost(constraints, Seen(visible)) if constraints else (),
        details=len(there),
        vanished=sum(not kept.issuperset(found.keys) for found in there.values()),
        invented=invented,
        problems=tuple(problems),
    )


def lost(must_keep: Sequence[str], visible: Sequence[str]) -> tuple[str, ...]:
    """Those of ``must_keep`` that ``visible`` does not say, by words."""
    constraints = _constraints(must_keep)
    return _lost(constraints, Seen(visible)) if constraints else ()


def falls_short(summary: str, extract: str, sources: Sequence[str], agent: str) -> tuple[str, ...]:
    """What ``summary`` keeps less of than ``extract``, which was made without a model.

    Counted are the names and numbers of ``sources``; each rule and each promise that the extract
    tells has to be told, and whatever else somebody said there.
    """
    there, written, taken = details(sources), vocabulary([summary]), vocabulary([extract])
    kept = sum(written.issuperset(found.keys) for found in there.values())
    usual = [found for found in there.values() if taken.issuperset(found.keys)]
    reasons = []
    if kept < len(usual):
        lacking = [found.shown for found in usual if not written.issuperset(found.keys)]
        reasons.append(
            f"it keeps {kept} names and numbers where one without a model keeps {len(usual)} "
            f"(not {', '.join(lacking[:_MOST_SHOWN])})"
        )
    seen = Seen([summary])
    lost = [line for line in binding(extract, agent) if not _told_of(line, seen)]
    lost += (line for line in _untold(summary, extract) if line not in lost)
    return (*reasons, *(f"it lost: {shorten(line, 80)}" for line in lost))


def _untold(summary: str, extract: str) -> list[str]:
    """What is quoted in ``extract`` and has no sentence in ``summary`` with half its words.

    It may be a fact that has no name and no number: "I'm allergic to leeks".
    """
    written = [telling(each) for line in plain(summary) for each in sentences(line)]
    said = {line: telling(words) for line in plain(extract) if (words := line.partition('"')[2])}
    return [
        line
        for line, wanted in said.items()
        if not any(len(wanted & words) >= _HALF * len(wanted) for words in written)
    ]


def _told_of(line: str, seen: Seen) -> bool:
    """Whether a sentence has most words of a rule or promise, in whatever person and order."""
    for constraint in read_constraint(line):
        near = (compare(constraint, unit) for unit in seen.near(constraint, _NEAR))
        if not any(kept.coverage >= _MOST_WORDS and not kept.contrary for kept in near):
            return False
    return True


# -- what must be kept


def _wanted(must_keep: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for line in must_keep if line.strip()))


def _constraints(must_keep: Sequence[str]) -> list[Constraint]:
    return [part for text in _wanted(must_keep) for part in read_constraint(text)]


def _lost(constraints: Sequence[Constraint], seen: Seen) -> tuple[str, ...]:
    """The texts of those that are not seen any more, with all their sentences."""
    return tuple(dict.fromkeys(each.text for each in constraints if not _kept(each, seen)))


def _kept(constraint: Constraint, seen: Seen) -> bool:
    """Whether it stands there word for word, or all its words in one sentence."""
    if seen.verbatim(constraint):
        return True
    found = (compare(constraint, unit) for unit in seen.near(constraint, _NEAR))
    return any(kept.firm and kept.coverage == 1 for kept in found)


# -- names and numbers


def _invented(
    own: Details, summaries: Sequence[str], before: Sequence[str], visible: Sequence[str]
) -> tuple[str, ...]:
    """What ``own`` of ``summaries`` neither ``before`` nor the rest of ``visible`` has."""
    written = {_bare(line) for summary in summaries for line in summary.splitlines()}
    written |= {_bare(summary) for summary in summaries}
    others = [line for line in visible if _bare(line) not in written]
    known = vocabulary([*before, *others])
    return tuple(each.shown for each in own.values() if not known.issuperset(each.keys))


def _bare(line: str) -> str:
    """A line of a summary, whether as it is kept or as a prompt shows it."""
    return " ".join(_FURNITURE.sub("", line).split())


# -- what is wrong with the summaries


def _refusals(texts: Sequence[str], sources: Sequence[str]) -> Iterator[str]:
    # Told in the first person, with who said it, four short lines can grow by a word.
    slack = " " * (sum(map(len, sources)) // 4)
    for text in texts:
        if reason := draft_checks.check(text, [*sources, slack]):
            yield f"a summary {reason}"


def _emptiness(texts: Sequence[str], sources: Sequence[str], there: Details) -> Iterator[str]:
    """Whether the summaries hold next to nothing of what they stand for."""
    if not texts:
        return
    written, before = sum(map(len, texts)), sum(map(len, sources))
    if written < min(_LEAST_SHARE * before, _LEAST_CHARACTERS):
        yield f"the summaries have {written} characters for {before:,}"
    words = vocabulary(texts)
    kept = sum(words.issuperset(found.keys) for found in there.values())
    least = min(_LEAST_DETAIL_SHARE * len(there), _LEAST_DETAILS)
    if len(there) >= _FEW_DETAILS and kept < least:
        yield f"the summaries hold {kept} of {len(there)} names and numbers"


def _turned_round(
    constraints: Sequence[Constraint], texts: Sequence[str], sources: Sequence[str]
) -> Iterator[str]:
    """Constraints of which a summary says the opposite, unless it was told so."""
    written = Seen(texts if constraints else ())
    if turned := [each for each in constraints if _denied(each, written)]:
        told = Seen(sources)
        for text in dict.fromkeys(each.text for each in turned if not _denied(each, told)):
            yield f"says the opposite of: {shorten(text, 120)}"


def _denied(constraint: Constraint, seen: Seen) -> bool:
    """Whether a sentence has all its words, but denies what it asserts or the reverse."""
    if len(constraint.unit.signs) < 2 or constraint.unit.question:
        return False
    found = (compare(constraint, unit) for unit in seen.near(constraint, _NEAR))
    return any(kept.complete and kept.contrary > _HALF for kept in found)
