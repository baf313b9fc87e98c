"""What a sweep shows: figures of each arm with intervals, which arms differ, a page, a table.

The page is one HTML file that needs nothing beside it; the table has the rows, as Parquet.
"""

from __future__ import annotations

import io
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from jinja2 import Environment, FileSystemLoader

from keepsake.errors import refusing
from keepsake.lab.evaluating import IN_CONTEXT, IN_REACH, Row
from keepsake.lab.measures import (
    COSTS,
    LEVEL,
    MEASURES,
    RECALL,
    ROUNDS,
    Estimate,
    MeasuredKind,
    by_question,
    difference,
    estimate_of,
    figure,
    groups_of,
    holm,
    measured,
    value,
)
from keepsake.lab.plan import SweepPlan
from keepsake.lab.sweep import CellRecord
from keepsake.lab.trial import F1, RIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEMPLATE = "report.html.j2"
HEADLINES = (RECALL[10], IN_REACH, RIGHT, F1, "judged", "kept")
"""What arms are compared by, where there are such figures."""
OVER_TIME = (IN_CONTEXT, IN_REACH, RIGHT)
"""What is followed over time: the prompt alone, with recall, what a model says."""

HOURS = {1.0: "an hour", 24.0: "a day", 168.0: "a week"}
"""What delays of probes are called."""


@dataclass(frozen=True, slots=True)
class SweepArm:
    """One memory at some settings, with one profile that answers, at one source."""

    name: str
    rows: Sequence[Row]  # of all seeds
    kinds: Sequence[MeasuredKind]  # the last is of all questions together


@dataclass(frozen=True, slots=True)
class ArmPair:
    """Two arms by one measure, over the questions that both were asked."""

    measure: str
    first: str
    second: str
    found: Estimate  # the first less the second
    p: float
    corrected: float  # p by Holm, over all pairs of that source and measure

    @property
    def significant(self) -> bool:
        """Whether chance is an unlikely reason."""
        return self.corrected < 1 - LEVEL


@dataclass(frozen=True, slots=True)
class SourceResults:
    """All arms at one source.

    Attributes:
        measures: Those that some arm has, those that cost are among them.
        headlines: Those of them that arms are compared by.
        timed: Those that are followed over time; none where nothing was planned in time.
        loads: The loads of questions that have a delay.
    """

    name: str
    arms: Sequence[SweepArm]
    measures: Sequence[str]
    headlines: Sequence[str]
    timed: Sequence[str]
    loads: Sequence[float]

    def pairs(self) -> list[ArmPair]:
        """All pairs of arms, by each measure that both have."""
        return [pair for measure in self.headlines for pair in _pairs(self.arms, measure)]


def compared(records: Sequence[CellRecord]) -> list[SourceResults]:
    """Each source with its arms, in the order of the plan; failed cells are left out."""
    rows: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for record in records:
        if record.rows:
            # By its content too: two files of one name are two sources.
            source = record.source, str(record.cell["source"]["fingerprint"])
            arms = rows.setdefault(source, {})
            arms.setdefault(record.name, []).extend(record.rows)
    return [results_of(name, arms) for (name, _), arms in rows.items()]


def results_of(source: str, rows: Mapping[str, Sequence[Row]]) -> SourceResults:
    """The rows of each arm at one source."""
    arms = [SweepArm(name, own, measured(own)) for name, own in rows.items()]
    there = {m for arm in arms for kind in arm.kinds for m in kind.estimates}
    loads = sorted({r["load"] for arm in arms for r in arm.rows if r.get("delay_hours")})
    return SourceResults(
        name=source,
        arms=arms,
        measures=[each for each in (*MEASURES, *COSTS) if each in there],
        headlines=[each for each in HEADLINES if each in there],
        timed=[each for each in OVER_TIME if loads and each in there],
        loads=loads,
    )


def over_time(arm: SweepArm, load: float, measure: str) -> dict[float, Estimate]:
    """An arm's figure at one load, by the hours after which it was asked."""
    rows = [row for row in arm.rows if row.get("delay_hours") and row["load"] == load]
    found = {}
    for hours in sorted({row["delay_hours"] for row in rows}):
        here = [row for row in rows if row["delay_hours"] == hours]
        if figures := by_question(here, measure):
            found[hours] = estimate_of(figures, groups_of(here))
    return found


def _pairs(arms: Sequence[SweepArm], measure: str) -> list[ArmPair]:
    """All pairs by one measure, a family for Holm."""
    arms = [arm for arm in arms if measure in arm.kinds[-1].estimates]
    figures = {arm.name: by_question(arm.rows, measure) for arm in arms}
    groups = groups_of(row for arm in arms for row in arm.rows)
    found, pairs = [], list(itertools.combinations(figures, 2))
    for first, second in pairs:
        if shared := sorted(figures[first].keys() & figures[second].keys()):
            one, other = ([figures[name][key] for key in shared] for name in (first, second))
            about = [groups[key] for key in shared]
            differs = difference(one, other, about, family=len(pairs))
            found.append((first, second, *differs))
    corrected = holm([p for *_, p in found])
    return [ArmPair(measure, *each, by) for each, by in zip(found, corrected, strict=True)]


# -- the page


def write_report(plan: SweepPlan, records: Sequence[CellRecord], command: str, path: Path) -> None:
    """Write the report of the cells of a plan.

    Raises:
        KeepsakeError: The file cannot be written.
    """
    loader = FileSystemLoader(Path(__file__).parent)
    page = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page.filters["figure"], page.globals["names"] = figure, {**MEASURES, **COSTS}
    page.globals["over_time"], page.globals["times"] = over_time, HOURS
    text = page.get_template(TEMPLATE).render(
        plan=plan,
        command=command,
        records=records,
        failed=[record for record in records if record.problem],
        seconds=sum(record.seconds for record in records),
        sources=[(found, found.pairs(), _charts(found)) for found in compared(records)],
        versions=Counter(json.dumps(each.versions)[1:-1] for each in records).most_common(),
        rounds=ROUNDS,
    )
    with refusing(f"{path} could not be written", "Free some disk space; what is done is kept"):
        path.write_text(text, encoding="utf-8")


# -- charts


def _charts(found: SourceResults) -> list[tuple[str, str]]:
    """Each chart's name and itself as SVG; the same results give the same picture."""
    import matplotlib as mpl  # noqa: PLC0415 - takes a second
    from matplotlib.figure import Figure  # noqa: PLC0415

    style: dict[Any, Any] = {"font.size": 9, "svg.fonttype": "none", "axes.grid": True}
    style |= {"grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False}
    drawn, svgs = [("By measure", _by_measure)] * bool(found.headlines), []
    drawn += [("Known over time", _known_over_time)] * bool(found.timed)
    for name, draw in drawn:
        # Ids are made from the salt: charts of one page must not share them.
        with mpl.rc_context({**style, "svg.hashsalt": f"{found.name} {name}"}):
            draw(found, picture := Figure(layout="constrained"))
            text = io.StringIO()
            picture.savefig(text, format="svg", metadata={"Date": None})
            svgs.append((name, text.getvalue()[text.getvalue().index("<svg") :]))
    return svgs


def _by_measure(found: SourceResults, picture: Figure) -> None:
    """A panel a measure, a point an arm with its interval."""
    names, panels = [arm.name for arm in found.arms], len(found.headlines)
    picture.set_size_inches(2.6 + 2.1 * panels, 1.1 + 0.28 * len(names))
    every = picture.subplots(1, panels, sharey=True, squeeze=False)
    for axes, measure in zip(every[0], found.headlines, strict=True):
        for row, arm in enumerate(found.arms):
            if (each := arm.kinds[-1].estimates.get(measure)) is not None:
                axes.plot([100 * each.low, 100 * each.high], [row, row], color=f"C{row % 10}")
                axes.plot(100 * each.mean, row, "o", color=f"C{row % 10}", markersize=5)
        axes.set(title=MEASURES[measure], xlim=(-3, 103), xlabel="per cent")
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)


def _known_over_time(found: SourceResults, picture: Figure) -> None:
    """A panel a measure and load."""
    rows = len(found.timed)
    picture.set_size_inches(7.2, 3.2 * rows)
    every = picture.subplots(rows, len(found.loads), sharey=True, squeeze=False)
    for panels, measure in zip(every, found.timed, strict=True):
        for axes, load in zip(panels, found.loads, strict=True):
            for arm in found.arms:
                known = over_time(arm, load, measure)
                means = [100 * each.mean for each in known.values()]
                below = [100 * abs(each.mean - each.low) for each in known.values()]
                above = [100 * abs(each.high - each.mean) for each in known.values()]
                axes.errorbar([*known], means, (below, above), label=arm.name, marker="o")
            axes.set_xscale("log")
            axes.set_xticks(list(HOURS), [f"after {name}" for name in HOURS.values()])
            axes.minorticks_off()
            axes.set(title=f"{load:g} memories a day", ylim=(-3, 103))
        panels[0].set_ylabel(f"per cent {MEASURES[measure]}")
        panels[-1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))


# -- the rows


_COLUMNS = {
    pa.string(): "cell source memory settings profile judge writer problem commit trial question "
    "kind about asker text expected answer model",
    pa.int64(): "seed limit budget recalled evidence recalled_lines memory_tokens prompt_tokens "
    "completion_tokens",
    pa.float64(): "cell_seconds delay_hours load memory_seconds answer_seconds "
    + " ".join(MEASURES),
    pa.bool_(): "answerable abstained",
    pa.list_(pa.int64()): "ranks",
}
"""The columns of the table by type; docs/evaluation.md has what they mean."""
SCHEMA = pa.schema((name, kind) for kind, names in _COLUMNS.items() for name in names.split())


def write_parquet(records: Sequence[CellRecord], path: Path) -> None:
    """Write everything that was found: a row a question, and one for a cell that failed.

    Raises:
        KeepsakeError: The file cannot be written.
    """
    table = pa.Table.from_pylist([row for each in records for row in _rows(each)], schema=SCHEMA)
    with refusing(f"{path} could not be written", "Free some disk space; what is done is kept"):
        pq.write_table(table, path)


def _rows(record: CellRecord) -> Iterator[dict[str, Any]]:
    same = {
        **record.cell,
        "cell": record.key,
        "source": record.source,
        "settings": json.dumps(record.cell["settings"], sort_keys=True),
        "problem": record.problem,
        "commit": record.versions.get("commit", ""),
        "cell_seconds": record.seconds,
    }
    for row in record.rows:
        figures = {name: value(row, name) for name in MEASURES}
        found = {"recalled_lines": row["recalled"], "recalled": same["recalled"]}
        yield {**same, **row, **found, **figures}
    if not record.rows:
        yield same
