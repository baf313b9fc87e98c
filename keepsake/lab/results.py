"""The results of a sweep: each memory's figures by source, and tests between memories.

An *arm* is a memory with its settings and the profile that answers. Differences are paired by
question. All p values of one table are corrected together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from keepsake.lab.estimates import (
    by_question,
    clusters_of,
    estimate_kinds,
    estimates_of,
    unmarked,
)
from keepsake.lab.evaluate import Row
from keepsake.lab.intervals import (
    LEVEL,
    MIN_CLUSTERS,
    Estimate,
    difference,
    holm,
    least_p,
    most_tests,
    smallest_shown,
)
from keepsake.lab.measures import (
    ALL_HIT,
    F1,
    IN_CONTEXT,
    IN_REACH,
    JUDGED,
    KEPT,
    NAMES,
    RECALL,
    RIGHT,
    WITHIN,
)
from keepsake.lab.pictures import bars, curves, differences, first_known
from keepsake.lab.sweep import CellRecord, SweepPlan, TrialSource

HEADLINES = (RECALL[10], ALL_HIT[10], WITHIN[2000], RIGHT, F1, JUDGED, KEPT)
"""The measures that arms are compared by, where the rows have them."""
OVER_TIME = (IN_CONTEXT, IN_REACH, ALL_HIT[10], RIGHT)
"""The measures shown over time: the prompt alone, with recall, a ranking, a model's answers."""
DELAYS = {1.0: "an hour", 24.0: "a day", 168.0: "a week"}
"""The names of the probes' delays, by hours."""


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
