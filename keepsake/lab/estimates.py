"""Means of result rows with their intervals, by measure and by category of question.

A cluster (:mod:`keepsake.lab.intervals`) is all questions of one conversation, or of one probe
template.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from keepsake.lab.evaluate import Row
from keepsake.lab.intervals import MIN_CLUSTERS, Estimate, estimate, mean_of
from keepsake.lab.measures import COSTS, MEASURES, NAMES

ALL = "all"
ANSWERED = "with an answer"
MOST_NAMED = 40
"""The most questions without evidence that are named one by one."""
type Question = tuple[str, str]
"""The key of a question, the same for every memory: its trial, and its id in that trial."""


def figure(each: Estimate | None, measure: str) -> str:
    """Format a share in per cent with its interval and clusters, or a cost as a plain number."""
    if each is None:
        return "–"
    if measure in COSTS:
        return f"{each.mean:,.0f}" if "tokens" in measure else f"{each.mean:.3g}"
    sure = f"{100 * each.low:.0f}–{100 * each.high:.0f}; " if each.clusters >= MIN_CLUSTERS else ""
    return f"{100 * each.mean:.1f} ({sure}{each.clusters})"


def by_question(rows: Iterable[Row], measure: str) -> dict[Question, float]:
    """Return each question's value; the mean if several seeds asked the question.

    So a question counts once: five seeds of one file are not five times as many questions.
    """
    found: defaultdict[Question, list[float]] = defaultdict(list)
    for row in rows:
        if row.get(measure) is not None:
            found[row["trial"], row["question"]].append(row[measure])
    return {question: statistics.fmean(figures) for question, figures in found.items()}


def clusters_of(rows: Iterable[Row]) -> dict[Question, str]:
    """Return the cluster of each question: its template, or its conversation."""
    return {(row["trial"], row["question"]): row["about"] or row["trial"] for row in rows}


def estimates_of(rows: Sequence[Row], wanted: Iterable[str] = NAMES) -> dict[str, Estimate]:
    """Return an estimate for each measure that some of the rows have."""
    groups = clusters_of(rows)
    found = {}
    for measure in wanted:
        if figures := by_question(rows, measure):
            about = [groups[question] for question in figures]
            of = estimate if measure in MEASURES else mean_of
            found[measure] = of([*figures.values()], about)
    return found


@dataclass(frozen=True, slots=True)
class MeasuredKind:
    """One category of questions."""

    kind: str
    questions: int
    estimates: Mapping[str, Estimate]  # by measure; without measures that none of its rows have


def estimate_kinds(rows: Sequence[Row], measures: Collection[str] = NAMES) -> list[MeasuredKind]:
    """Return each category in alphabetical order, then all of them together.

    Before all stand those with an answer, if some questions have evidence and no answer: a line
    that they misquote.
    """
    parts = {kind: [r for r in rows if r["kind"] == kind] for kind in {r["kind"] for r in rows}}
    parts.pop(ALL, None)
    together = [(ALL, rows)] if rows else []
    if any(row["evidence"] and not row["answerable"] for row in rows):
        together.insert(0, (ANSWERED, [row for row in rows if row["answerable"]]))
    return [
        MeasuredKind(kind, len(clusters_of(part)), estimates_of(part, measures))
        for kind, part in (*sorted(parts.items()), *together)
        if part
    ]


def measured(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows of questions that have evidence; all rows if none has."""
    return [row for row in rows if row["evidence"]] or rows


def unmarked(rows: Iterable[Row]) -> str:
    """Return which questions have an answer but no evidence, as a sentence; empty for none.

    Whether their evidence is found cannot be measured, so no figure of retrieval has them.
    """
    every = {(row["trial"], row["question"]): row for row in rows}
    known = [each for each in every.values() if each["answerable"]]
    lost = [each for each in known if not each["evidence"]]
    if not lost or len(lost) == len(known):  # without any evidence nothing of it was measured
        return ""
    named = ", ".join(_named(each) for each in lost[:MOST_NAMED])
    more = f" and {len(lost) - MOST_NAMED} more" if len(lost) > MOST_NAMED else ""
    return (
        f"{len(lost)} of {len(known)} questions name no evidence that the transcript has, and are "
        f"in no figure of retrieval: {named}{more}"
    )


def _named(row: Row) -> str:
    """Return a question's trial and id, with the evidence that it names in vain."""
    written = f" ({row['lost']})" if row["lost"] else ""
    return f"{row['trial']} {row['question']}{written}"
