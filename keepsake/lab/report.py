"""What a sweep shows: figures of each arm with intervals, which arms differ, a page, a table.

The page is one HTML file that needs nothing beside it; the table has the rows, as Parquet.
"""

from __future__ import annotations

import io
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    Difference,
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
from keepsake.lab.probes import DELAY_NAMES, DELAYS
from keepsake.lab.sweep import CellRecord
from keepsake.lab.trial import F1, RIGHT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TEMPLATE = "report.html.j2"
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
        sources=[(found, _charts(found)) for found in compared(records)],
        versions=_versions(records),
        configurations=[_configuration(record) for record in records],
        rounds=ROUNDS,
    )
    with refusing(f"{path} could not be written", "Free some disk space; what is done is kept"):
        path.write_text(text, encoding="utf-8")


def _versions(records: Sequence[CellRecord]) -> list[tuple[str, int]]:
    """Each state of the program that had a part in it, with how many cells it ran."""
    told = Counter(", ".join(f"{n} {v}" for n, v in each.versions.items()) for each in records)
    return told.most_common()


def _configuration(record: CellRecord) -> dict[str, Any]:
    left_out = ("memory", "settings", "source", "seed")
    rest = {name: each for name, each in record.cell.items() if name not in left_out and each}
    source = {name: each for name, each in record.cell["source"].items() if each and name != "path"}
    return {"record": record, "rest": json.dumps(rest), "source": json.dumps(source)}


# -- charts


def _charts(found: SourceResults) -> list[tuple[str, str]]:
    """Each chart's name and itself as SVG; the same results give the same picture."""
    import matplotlib as mpl  # noqa: PLC0415 - takes a second

    mpl.use("agg")
    style: dict[Any, Any] = {"font.size": 9, "svg.fonttype": "none", "axes.grid": True}
    style |= {"grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False}
    drawn, svgs = {"By measure": _by_measure, "Known over time": _known_over_time}, []
    for name, draw in drawn.items():
        # Ids are made from the salt: charts of one page must not share them.
        with mpl.rc_context({**style, "svg.hashsalt": f"{found.name} {name}"}):
            if (picture := draw(found)) is not None:
                text = io.StringIO()
                picture.savefig(text, format="svg", metadata={"Date": None})
                svgs.append((name, re.sub(r"^.*?(?=<svg)", "", text.getvalue(), flags=re.S)))
    return svgs


def _by_measure(found: SourceResults) -> Figure | None:
    """A panel a measure, a point an arm with its interval; None where none is a share."""
    if not found.headlines:
        return None
    names, panels = [arm.name for arm in found.arms], len(found.headlines)
    picture, every = _panels(1, panels, 2.6 + 2.1 * panels, 1.1 + 0.28 * len(names))
    for axes, measure in zip(every[0], found.headlines, strict=True):
        for row, arm in enumerate(found.arms):
            if (each := arm.kinds[-1].estimates.get(measure)) is not None:
                axes.plot([100 * each.low, 100 * each.high], [row, row], color=f"C{row % 10}")
                axes.plot(100 * each.mean, row, "o", color=f"C{row % 10}", markersize=5)
        axes.set(title=MEASURES[measure], xlim=(-3, 103), xlabel="per cent")
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
    return picture


def _known_over_time(found: SourceResults) -> Figure | None:
    """A panel a measure and load; None where questions were not planned in time."""
    loads, measures = found.loads, found.timed
    if not loads or not measures:
        return None
    picture, every = _panels(len(measures), len(loads), 7.2, 3.2 * len(measures))
    for panels, measure in zip(every, measures, strict=True):
        for axes, load in zip(panels, loads, strict=True):
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
    return picture


def _panels(rows: int, columns: int, width: float, height: float) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure  # noqa: PLC0415 - takes a second

    picture = Figure(figsize=(width, height), layout="constrained")
    return picture, picture.subplots(rows, columns, sharey=True, squeeze=False)


# -- the rows


_TEXT, _FIGURE, _WHOLE, _YES = pa.string(), pa.float64(), pa.int64(), pa.bool_()
_OF_CELL = {
    "cell": (_TEXT, "Which cell: the name of its file in `cells`."),
    "source": (_TEXT, "What was lived through, as the report calls it."),
    "memory": (_TEXT, "The memory's name."),
    "settings": (_TEXT, "Its settings, as JSON."),
    "profile": (_TEXT, "The profile of llm.md that answered; empty where nobody did."),
    "judge": (_TEXT, "The one that judged the answers."),
    "writer": (_TEXT, "The one that wrote the memory's summaries; empty for rules."),
    "seed": (_WHOLE, "The dice."),
    "limit": (_WHOLE, "Questions that were asked at most; 0 for all."),
    "budget": (_WHOLE, "Tokens that the lines of a prompt might have; 0 for the profile's room."),
    "recalled": (_WHOLE, "Lines that the memory might give for a question; 0 for what is usual."),
    "problem": (_TEXT, "Why the cell failed; it then has this row alone."),
    "commit": (_TEXT, "The commit of Keepsake that ran it."),
    "cell_seconds": (_FIGURE, "What the whole cell took."),
}
_OF_QUESTION = {
    "trial": (_TEXT, "The life."),
    "question": (_TEXT, "The question's id."),
    "kind": (_TEXT, "Its category."),
    "about": (_TEXT, "What it asks for: questions about the same depend on each other."),
    "asker": (_TEXT, "Who asked."),
    "text": (_TEXT, "The question."),
    "expected": (_TEXT, "Accepted answers, or the patterns that tell them."),
    "answerable": (_YES, "Whether the life holds the answer; if not, not knowing is right."),
    "delay_hours": (_FIGURE, "Hours since it was told."),
    "load": (_FIGURE, "Memories a day beside what is asked for."),
    "evidence": (_WHOLE, "How many memories answer it."),
    "ranks": (pa.list_(_WHOLE), "Their places among what was recalled, from 1."),
    "recalled_lines": (_WHOLE, "Lines that the memory gave for it."),
    "memory_tokens": (_WHOLE, "Tokens of those and of its context."),
    "memory_seconds": (_FIGURE, "What both took."),
    **{name: (_FIGURE, f"{told}, 0 to 1.") for name, told in MEASURES.items()},
    "answer": (_TEXT, "What the model said."),
    "model": (_TEXT, "Which model."),
    "abstained": (_YES, "Whether the answer says that it does not know."),
    "prompt_tokens": (_WHOLE, "Tokens of its prompt, as the server counts."),
    "completion_tokens": (_WHOLE, "Tokens of the answer."),
    "answer_seconds": (_FIGURE, "What it took."),
}
COLUMNS = _OF_CELL | _OF_QUESTION
"""Each column with its type, and what stands in it."""
SCHEMA = pa.schema((name, kind) for name, (kind, _) in COLUMNS.items())


def write_parquet(records: Sequence[CellRecord], path: Path) -> None:
    """Write everything that was found.

    Raises:
        KeepsakeError: The file cannot be written.
    """
    table = pa.Table.from_pylist([row for each in records for row in _rows(each)], schema=SCHEMA)
    with refusing(f"{path} could not be written", "Free some disk space; what is done is kept"):
        pq.write_table(table, path)


def _rows(record: CellRecord) -> Iterator[dict[str, Any]]:
    told = {
        **record.cell,
        "cell": record.key,
        "source": record.source,
        "settings": json.dumps(record.cell["settings"], sort_keys=True),
        "problem": record.problem,
        "commit": record.versions.get("commit", ""),
        "cell_seconds": record.seconds,
    }
    same = {name: told[name] for name in _OF_CELL}
    yield from ({**same, **_question(row)} for row in record.rows)
    if not record.rows:
        yield same


def _question(row: dict[str, Any]) -> dict[str, Any]:
    known = {name: row.get(name) for name in _OF_QUESTION}
    known["recalled_lines"] = row["recalled"]
    return known | {name: value(row, name) for name in MEASURES}
