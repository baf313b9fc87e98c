"""Statistics of result rows: means with intervals, tests between memories, the report, the table.

A cluster (:mod:`keepsake.lab.intervals`) is all questions of one conversation, or of one probe
template. Differences are paired by question. All p values of one table are corrected together. The
report is one self-contained HTML file.
"""

from __future__ import annotations

import itertools
import json
import math
import platform
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from keepsake.errors import refusing
from keepsake.lab.evaluate import Row
from keepsake.lab.intervals import (
    LEVEL,
    MIN_CLUSTERS,
    Estimate,
    difference,
    estimate,
    holm,
    least_p,
    mean_of,
    most_tests,
    smallest_shown,
)
from keepsake.lab.measures import (
    ALL_HIT,
    COSTS,
    F1,
    IN_CONTEXT,
    IN_REACH,
    JUDGED,
    KEPT,
    MEASURES,
    NAMES,
    RECALL,
    RIGHT,
    WITHIN,
)
from keepsake.lab.pictures import bars, curves, differences, first_known
from keepsake.lab.sweep import CellRecord, SweepPlan, TrialSource
from keepsake.paths import REPOSITORY

TEMPLATE = "report.html.j2"
ALL = "all"
ANSWERED = "with an answer"
HEADLINES = (RECALL[10], ALL_HIT[10], WITHIN[2000], RIGHT, F1, JUDGED, KEPT)
"""The measures that arms are compared by, where the rows have them."""
OVER_TIME = (IN_CONTEXT, IN_REACH, ALL_HIT[10], RIGHT)
"""The measures shown over time: the prompt alone, with recall, a ranking, a model's answers."""
DELAYS = {1.0: "an hour", 24.0: "a day", 168.0: "a week"}
"""The names of the probes' delays, by hours."""
MOST_NAMED = 40
"""The most questions without evidence that are named one by one."""
type Question = tuple[str, str]
"""The key of a question, the same for every memory: its trial, and its id in that trial."""

# -- measures of rows


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


# -- arms: an arm is a memory with its settings and the profile that answers


@dataclass(frozen=True, slots=True)
class ArmPair:
    """The comparison of two arms by one measure, over the questions that both were asked."""

    measure: str
    first: str
    second: str
    found: Estimate  # the first minus the second
    p: float
    corrected: float  # p after Holm's correction over all pairs of the source
    smallest: float  # the smallest difference that could be shown; infinite if none could be

    @property
    def name(self) -> str:
        """Both arms, as a difference."""
        return f"{self.first} − {self.second}"

    @property
    def can_show(self) -> bool:
        """Whether any difference could be shown."""
        return math.isfinite(self.smallest)

    @property
    def significant(self) -> bool:
        """Whether the corrected p is below 0.05."""
        return self.corrected < 1 - LEVEL


class SourceResults:
    """The results of all arms for one source.

    Args:
        rows: The rows of each arm, of all seeds.
        compare: The measures that arms are compared by; empty for the headlines.

    Attributes:
        arms: The result of :func:`estimate_kinds` for each arm, in the order of the plan.
        measures: The measures and costs that some arm has.
        headlines: The measures among them that are shown first.
        compared: The measures among them that arms are compared by.
        loads: The loads of the questions that have a delay.
        timed: The measures that are shown over time; empty if no question has a planned delay.
    """

    def __init__(
        self, name: str, rows: Mapping[str, Sequence[Row]], compare: Sequence[str] = ()
    ) -> None:
        self.name = name
        self._rows = rows
        self.arms = {arm: estimate_kinds(own) for arm, own in rows.items()}
        known = {m for kinds in self.arms.values() for kind in kinds for m in kind.estimates}
        self.measures = [each for each in NAMES if each in known]
        self.headlines = [each for each in HEADLINES if each in known]
        self.compared = [each for each in compare or HEADLINES if each in known]
        every = itertools.chain.from_iterable(rows.values())
        self.loads = sorted({row["load"] for row in every if row["delay_hours"]})
        self.timed = [each for each in OVER_TIME if self.loads and each in known]

    def over_time(self, arm: str, load: float, measure: str) -> dict[float, Estimate]:
        """Return the estimates of an arm at one load, by the delay of the questions in hours."""
        if measure not in self.arms[arm][-1].estimates:
            return {}
        rows = [row for row in self._rows[arm] if row["load"] == load]
        each = {
            h: estimates_of([r for r in rows if r["delay_hours"] == h], [measure]) for h in DELAYS
        }
        return {hours: found[measure] for hours, found in each.items() if found}

    def pictures(self) -> list[Markup]:
        """Return a bar for each arm, by each headline; then the evidence over token budgets."""
        found = [
            bars(NAMES[m], {arm: kinds[-1].estimates.get(m) for arm, kinds in self.arms.items()})
            for m in self.headlines
        ]
        budgets = {float(tokens): m for tokens, m in WITHIN.items() if m in self.measures}
        lines = {
            arm: {t: each for t, m in budgets.items() if (each := kinds[-1].estimates.get(m))}
            for arm, kinds in self.arms.items()
        }
        ticks = {tokens: f"{tokens:,.0f} tokens" for tokens in budgets}
        return [*found, curves("Evidence within a budget of tokens", lines, ticks)]

    def pictures_of_pairs(self) -> list[Markup]:
        """Return the differences of each measure, with their intervals."""
        return [
            differences(
                f"{NAMES[measure]}: the first minus the second, in points",
                {each.name: each.found for each in self.pairs if each.measure == measure},
                {each.name for each in self.pairs if each.measure == measure and each.significant},
            )
            for measure in dict.fromkeys(each.measure for each in self.pairs)
        ]

    def pictures_over_time(self) -> list[Markup]:
        """Return a curve for each arm over the delays, by each timed measure and load."""
        return [
            curves(
                f"{NAMES[measure]}, {load:g} other memories a day",
                {arm: self.over_time(arm, load, measure) for arm in self.arms},
                DELAYS,
            )
            for measure in self.timed
            for load in self.loads
        ]

    def pictures_of_kinds(self) -> list[Markup]:
        """Return for each category a bar for each arm, by the first headline of all arms."""
        if not self.headlines:
            return []
        whole = [kinds[-1].estimates for kinds in self.arms.values()]
        measure = first_known(self.headlines, whole)
        names = dict.fromkeys(each.kind for kinds in self.arms.values() for each in kinds[:-1])
        of = {
            arm: {each.kind: each.estimates.get(measure) for each in kinds}
            for arm, kinds in self.arms.items()
        }
        return [
            bars(f"{kind}: {NAMES[measure]}", {arm: own.get(kind) for arm, own in of.items()})
            for kind in names
        ]

    @property
    def unmarked(self) -> str:
        """Which questions are not measured because their evidence is not in the transcript."""
        return unmarked(next(iter(self._rows.values())))

    @property
    def power(self) -> str:
        """What the comparisons can show at all; known before they are made."""
        groups = clusters_of(itertools.chain.from_iterable(self._rows.values()))
        tests = len(self.compared) * math.comb(len(self.arms), 2)
        return power(len(set(groups.values())), tests) if tests else ""

    @cached_property
    def pairs(self) -> list[ArmPair]:
        """All pairs of arms by each measure that both have. Holm's correction covers all of them.

        Pairs with fewer than :data:`MIN_CLUSTERS` shared clusters are left out: p would be > 0.05.
        """
        groups = clusters_of(itertools.chain.from_iterable(self._rows.values()))
        figures = {(m, a): by_question(self._rows[a], m) for m in self.compared for a in self.arms}
        found = []
        for measure, arms in itertools.product(self.compared, itertools.combinations(self.arms, 2)):
            one, other = (figures[measure, arm] for arm in arms)
            shared = sorted(one.keys() & other.keys())
            if len({groups[key] for key in shared}) >= MIN_CLUSTERS:
                first, second = ([each[key] for key in shared] for each in (one, other))
                differs = difference(first, second, [groups[key] for key in shared])
                found.append((measure, *arms, *differs))
        corrected = holm([p for *_, p in found])
        return [
            ArmPair(*each, by, smallest_shown(each[-2], len(found)))
            for each, by in zip(found, corrected, strict=True)
        ]


def results_by_source(
    records: Sequence[CellRecord], compare: Sequence[str] = ()
) -> list[SourceResults]:
    """Return each source with its arms, in the order of the plan, without the failed cells.

    ``compare``: The measures that arms are compared by; empty for the headlines.
    """
    rows: dict[TrialSource, dict[str, list[Row]]] = {}
    for record in records:
        if record.rows:
            arms = rows.setdefault(record.cell.source, {})
            arms.setdefault(record.cell.arm, []).extend(record.rows)
    return [SourceResults(source.name, arms, compare) for source, arms in rows.items()]


def compared_by(plan: SweepPlan, source: TrialSource) -> Sequence[str]:
    """Return the measures by which a plan compares memories on a source, before it is run."""
    if plan.compare:
        return plan.compare
    cells = [cell for cell in plan.cells if cell.source == source]
    having = {
        RIGHT: any(cell.profile for cell in cells),
        F1: any(cell.profile for cell in cells),
        JUDGED: any(cell.judge for cell in cells),
        KEPT: source.probes is not None,
    }
    return [each for each in HEADLINES if having.get(each, True)]


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


def power(clusters: int, tests: int) -> str:
    """Return what a number of comparisons can show with this number of clusters, as a sentence."""
    if clusters < MIN_CLUSTERS:
        return (
            f"{clusters} clusters are too few for an interval or a comparison; {MIN_CLUSTERS} are "
            "needed"
        )
    least = least_p(clusters)
    told = (
        f"{clusters} clusters, {tests} comparisons: p is at least {least:.2g}, after Holm's "
        f"correction {min(1.0, tests * least):.2g} for the clearest"
    )
    most = most_tests(clusters)
    if tests <= most:
        return told
    return (
        f"{told}. No difference can be shown, however large: compare at most {most}, chosen before "
        "the run (`compare` and `memories` of the plan)"
    )


# -- the page and the table


def title_of(plan: SweepPlan, sources: Sequence[SourceResults]) -> str:
    """Return what a report is of: ``locomo, longmemeval: 3 memories compared (plan)``."""
    arms = {arm for source in sources for arm in source.arms}
    compared = f"{len(arms)} memories compared" if len(arms) > 1 else ", ".join(arms) or "no result"
    return f"{', '.join(each.name for each in sources) or 'Evaluation'}: {compared} ({plan.name})"


def write_report(
    plan: SweepPlan,
    records: Sequence[CellRecord],
    sources: Sequence[SourceResults],
    command: str,
    path: Path,
) -> None:
    """Write the HTML report of a plan's cells.

    Raises:
        KeepsakeError: The file cannot be written.
    """
    loader = FileSystemLoader(Path(__file__).parent)
    page = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page.filters["figure"] = figure
    page.globals["names"] = NAMES
    text = page.get_template(TEMPLATE).render(
        plan=plan,
        title=title_of(plan, sources),
        command=command,
        records=records,
        failed=[record for record in records if record.problem],
        seconds=sum(record.seconds for record in records),
        sources=sources,
        versions={name: number for name, number in _versions().items() if number},
        times=DELAYS,
        min_clusters=MIN_CLUSTERS,
    )
    with refusing(f"{path} could not be written", "Free some disk space"):
        path.write_text(text, encoding="utf-8")


@cache
def _versions() -> dict[str, str]:
    """Return package versions and the checkout's commit (``+``: with uncommitted changes)."""
    found = {"python": platform.python_version(), "commit": ""}
    command = ["git", "describe", "--always", "--abbrev=12", "--dirty=+"]
    if (REPOSITORY / ".git").exists():  # else it is installed, maybe inside another checkout
        with suppress(OSError):  # git is not installed
            output = subprocess.run(
                command, cwd=REPOSITORY, capture_output=True, text=True, check=False
            )
            found["commit"] = output.stdout.strip()
    packages = ("evennia-keepsake", "numpy", "scipy", "onnxruntime")
    return found | {package: version(package) for package in packages}


def write_parquet(records: Sequence[CellRecord], path: Path) -> None:
    """Write all results as Parquet: one row per question, and one per failed cell.

    docs/evaluation.md explains the columns.

    Raises:
        KeepsakeError: The file cannot be written.
    """
    rows = []
    for record in records:
        cell = record.cell.as_json() | {"problem": record.problem, "cell_seconds": record.seconds}
        cell |= {"commit": _versions()["commit"], "settings": json.dumps(cell["settings"])}
        rows += [{**cell, **row} for row in record.rows or [{}]]
    columns = dict.fromkeys((*(name for row in rows for name in row), *MEASURES))
    table = pa.table({name: [row.get(name) for row in rows] for name in columns})
    with refusing(f"{path} could not be written", "Free some disk space"):
        pq.write_table(table, path)
