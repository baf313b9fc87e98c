"""What a sweep shows: figures of each arm with intervals, and which arms differ."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from keepsake.lab.evaluating import IN_CONTEXT, IN_REACH, Row
from keepsake.lab.measures import (
    COSTS,
    LEVEL,
    MEASURES,
    RECALL,
    Difference,
    Estimate,
    MeasuredKind,
    by_question,
    difference,
    estimate_of,
    groups_of,
    holm,
    measured,
)
from keepsake.lab.probes import DELAY_NAMES, DELAYS
from keepsake.lab.sweep import CellRecord
from keepsake.lab.trial import F1, RIGHT

HEADLINES = (RECALL[10], IN_REACH, RIGHT, F1, "judged", "kept")
"""What arms are compared by, where there are such figures."""
OVER_TIME = (IN_CONTEXT, IN_REACH, RIGHT)
"""What is followed over time: the prompt alone, with recall, what a model says."""

HOURS = {DELAYS[delay].total_seconds() / 3600: name for delay, name in DELAY_NAMES.items()}
"""What delays of probes are called."""


@dataclass(frozen=True, slots=True)
class SweepArm:
    """One memory at some settings, with one profile that answers, at one source."""

    name: str
    rows: Sequence[Row]  # of all seeds
    kinds: Sequence[MeasuredKind]  # the last is of all questions together


@dataclass(frozen=True, slots=True)
class SourceResults:
    """All arms at one source."""

    name: str
    arms: Sequence[SweepArm]
    pairs: Sequence[ArmPair]

    @property
    def measures(self) -> list[str]:
        """The measures that some arm has, those that costs are among them."""
        there = {m for arm in self.arms for kind in arm.kinds for m in kind.estimates}
        return [measure for measure in (*MEASURES, *COSTS) if measure in there]

    @property
    def timed(self) -> list[str]:
        """The measures that are followed over time; none where nothing was planned in time."""
        planned = any(row.get("delay_hours") for arm in self.arms for row in arm.rows)
        return [m for m in OVER_TIME if planned and m in self.measures]

    @property
    def loads(self) -> list[float]:
        """The loads of questions that have a delay."""
        rows = (row for arm in self.arms for row in arm.rows if row.get("delay_hours"))
        return sorted({row["load"] for row in rows})

    def against(self, measure: str, hours: float | None = None) -> dict[str, dict[str, ArmPair]]:
        """What each arm is more than each other by a measure: by the first's name, the second's."""
        found: dict[str, dict[str, ArmPair]] = {}
        for pair in self.pairs:
            if (pair.measure, pair.hours) == (measure, hours):
                for each in (pair, pair.turned):
                    found.setdefault(each.first, {})[each.second] = each
        return found

    @property
    def headlines(self) -> list[str]:
        """Those of them that arms are compared by."""
        return [measure for measure in HEADLINES if measure in self.measures]


@dataclass(frozen=True, slots=True)
class ArmPair:
    """Two arms by one measure, over the questions that both were asked."""

    measure: str
    hours: float | None  # since it was told; None for all questions together
    first: str
    second: str
    found: Difference
    corrected: float = 1.0  # p by Holm, over all pairs of that source, measure and time

    @property
    def significant(self) -> bool:
        """Whether chance is an unlikely reason."""
        return self.corrected < 1 - LEVEL

    @property
    def turned(self) -> ArmPair:
        """The same seen from the other side."""
        found = self.found
        turned = replace(found, mean=0 - found.mean, low=0 - found.high, high=0 - found.low)
        return replace(self, first=self.second, second=self.first, found=turned)


def compared(records: Sequence[CellRecord]) -> list[SourceResults]:
    """Each source with its arms, in the order of the plan; failed cells are left out."""
    rows: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for record in records:
        if record.rows:
            # By its content too: two files of one name are two sources.
            source = record.source, str(record.cell["source"]["fingerprint"])
            arms = rows.setdefault(source, {})
            arms.setdefault(record.name, []).extend(record.rows)
    return [_with_pairs(results_of(name, arms)) for (name, _), arms in rows.items()]


def over_time(arm: SweepArm, load: float, measure: str) -> dict[float, Estimate]:
    """An arm's figure at one load, by the hours after which it was asked."""
    rows = [row for row in arm.rows if row.get("delay_hours") and row["load"] == load]
    found = {}
    for hours in sorted({row["delay_hours"] for row in rows}):
        here = _asked_after(hours, rows)
        if figures := by_question(here, measure):
            found[hours] = estimate_of(figures, groups_of(here))
    return found


def results_of(source: str, rows: Mapping[str, Sequence[Row]]) -> SourceResults:
    """The rows of each arm at one source, with no pairs."""
    arms = [SweepArm(name, own, measured(own)) for name, own in rows.items()]
    return SourceResults(source, arms, [])


def _with_pairs(found: SourceResults) -> SourceResults:
    families: list[tuple[str, float | None]] = [(measure, None) for measure in HEADLINES]
    families += [(measure, hours) for measure in found.timed for hours in HOURS]
    return replace(found, pairs=[p for family in families for p in _pairs(found.arms, *family)])


def _asked_after(hours: float | None, rows: Sequence[Row]) -> Sequence[Row]:
    return [row for row in rows if hours is None or row.get("delay_hours") == hours]


def _pairs(arms: Sequence[SweepArm], measure: str, hours: float | None) -> Iterator[ArmPair]:
    """All pairs by one measure at one time, a family for Holm."""
    arms = [arm for arm in arms if measure in arm.kinds[-1].estimates]
    figures = {arm.name: by_question(_asked_after(hours, arm.rows), measure) for arm in arms}
    groups = groups_of(row for arm in arms for row in arm.rows)
    found, pairs = [], list(itertools.combinations(figures, 2))
    for first, second in pairs:
        shared = sorted(figures[first].keys() & figures[second].keys())
        if shared:
            one, other = ([figures[name][key] for key in shared] for name in (first, second))
            about = [groups[key] for key in shared]
            differs = difference(one, other, about, family=len(pairs))
            found.append(ArmPair(measure, hours, first, second, differs))
    corrected = holm([pair.found.p for pair in found])
    for pair, p in zip(found, corrected, strict=True):
        yield replace(pair, corrected=p)
