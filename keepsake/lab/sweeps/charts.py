"""The charts of a sweep's report, as SVG that stands in the page itself."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from keepsake.lab.sweeps.comparing import HOURS, SourceResults, over_time
from keepsake.lab.trials.evaluating import IN_REACH, RECALLED
from keepsake.lab.trials.intervals import Estimate
from keepsake.lab.trials.measures import (
    COSTS,
    MEASURES,
    MRR,
    by_question,
    estimate_of,
    groups_of,
    recall_at,
)
from keepsake.lab.trials.scoring import RIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

type Point = tuple[float, Estimate]
"""Where on the horizontal axis, and the figure there."""

_WIDTH = 7.2


def headline_chart(found: SourceResults) -> str:
    """A panel a measure, a point an arm with its interval; empty where none is a share."""
    if not found.headlines:
        return ""
    names = [arm.name for arm in found.arms]
    height = 1.1 + 0.28 * len(names)
    panels = len(found.headlines)
    with _drawn(f"{found.name} headlines", 2.6 + 2.1 * panels, height) as picture:
        every = picture.subplots(1, panels, sharey=True, squeeze=False)[0]
        for axes, measure in zip(every, found.headlines, strict=True):
            for row, arm in enumerate(found.arms):
                if (each := arm.kinds[-1].estimates.get(measure)) is not None:
                    _point(axes, each, row, _colour(row))
            axes.set_title(MEASURES[measure], fontsize=9)
            axes.set_xlim(-3, 103)
            axes.set_yticks(range(len(names)), names)
            axes.set_ylim(len(names) - 0.4, -0.6)
            axes.grid(axis="x", alpha=0.3)
            axes.set_xlabel("per cent")
    return _text(picture)


def recall_chart(found: SourceResults) -> str:
    """Evidence found among the first so many; empty where no arm recalls anything."""
    arms = [(n, arm) for n, arm in enumerate(found.arms) if MRR in arm.kinds[-1].estimates]
    if not arms:
        return ""
    with _drawn(f"{found.name} recall", _WIDTH, 3.6) as picture:
        axes = picture.subplots()
        for place, arm in arms:
            groups = groups_of(arm.rows)
            points = [
                (depth, estimate_of(figures, groups))
                for depth in range(1, RECALLED + 1)
                if (figures := by_question(arm.rows, recall_at(depth)))
            ]
            _line(axes, points, arm.name, place)
        axes.set_xlabel("memories that recalled lines rest on, best first")
        axes.set_xticks([1, 5, 10, 15, 20])
        _finish(axes, "per cent of the evidence found")
    return _text(picture)


def time_chart(found: SourceResults) -> str:
    """What is known over time, a panel a load; empty where questions were not planned in time."""
    loads, measures = found.loads, found.timed
    if not loads or not measures:
        return ""
    with _drawn(f"{found.name} time", _WIDTH, 3.2 * len(measures)) as picture:
        every = picture.subplots(len(measures), len(loads), sharey=True, squeeze=False)
        for panels, measure in zip(every, measures, strict=True):
            for axes, load in zip(panels, loads, strict=True):
                for place, arm in enumerate(found.arms):
                    _line(axes, [*over_time(arm, load, measure).items()], arm.name, place)
                axes.set_xscale("log")
                axes.set_xticks(list(HOURS), [f"after {name}" for name in HOURS.values()])
                axes.minorticks_off()
                axes.set_title(f"{load:g} memories a day", fontsize=9)
                legend = axes is panels[-1]
                _finish(axes, f"per cent {MEASURES[measure]}" if axes is panels[0] else "", legend)
    return _text(picture)


def cost_chart(found: SourceResults) -> str:
    """Each arm's tokens against what it is worth: up is better, left is cheaper."""
    if IN_REACH not in found.measures:
        return ""
    tokens = "prompt_tokens" if "prompt_tokens" in found.measures else "memory_tokens"
    measure = next((m for m in ("judged", RIGHT, "f1") if m in found.headlines), IN_REACH)
    with _drawn(f"{found.name} cost", _WIDTH, 3.4) as picture:
        axes = picture.subplots()
        for place, arm in enumerate(found.arms):
            figures = arm.kinds[-1].estimates
            if tokens in figures and measure in figures:
                _line(axes, [(figures[tokens].mean, figures[measure])], arm.name, place)
        axes.set_xlabel(f"{COSTS[tokens]} a question")
        _finish(axes, f"per cent {MEASURES[measure]}")
    return _text(picture)


def _point(axes: Axes, each: Estimate, row: int, colour: str) -> None:
    axes.plot([100 * each.low, 100 * each.high], [row, row], color=colour, linewidth=2)
    axes.plot(100 * each.mean, row, "o", color=colour, markersize=5)


def _line(axes: Axes, points: Sequence[Point], name: str, place: int) -> None:
    if not points:
        return
    at = [x for x, _ in points]
    means = [100 * each.mean for _, each in points]
    below = [100 * max(each.mean - each.low, 0) for _, each in points]
    above = [100 * max(each.high - each.mean, 0) for _, each in points]
    style: dict[str, Any] = {
        "color": _colour(place),
        "marker": "osD^vPX*"[place // 10 % 8],
        "markersize": 4,
    }
    axes.errorbar(at, means, (below, above), label=name, linewidth=1.3, elinewidth=0.7, **style)


def _finish(axes: Axes, label: str, legend: bool = True) -> None:
    axes.set_ylim(-3, 103)
    axes.set_ylabel(label)
    axes.grid(alpha=0.3)
    if legend:
        axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def _colour(place: int) -> str:
    return f"C{place % 10}"


@contextmanager
def _drawn(name: str, width: float, height: float) -> Iterator[Figure]:
    mpl.use("agg")
    # Ids are made from the salt: charts of one page must not share them.
    settings: dict[Any, Any] = {"svg.hashsalt": name, "font.size": 9, "svg.fonttype": "none"}
    with mpl.rc_context({**settings, "axes.spines.top": False, "axes.spines.right": False}):
        yield Figure(figsize=(width, height), layout="constrained")


def _text(picture: Figure) -> str:
    text = io.StringIO()
    picture.savefig(text, format="svg", metadata={"Date": None})
    return re.sub(r"^.*?(?=<svg)", "", text.getvalue(), flags=re.S)


CHARTS: tuple[tuple[str, Callable[[SourceResults], str]], ...] = (
    ("By measure", headline_chart),
    ("Evidence found by depth", recall_chart),
    ("Known over time", time_chart),
    ("Worth against cost", cost_chart),
)
"""What each is called."""
