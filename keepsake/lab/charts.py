"""The charts of a sweep and of probes, with matplotlib."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from keepsake.lab.comparing import HOURS, SourceResults, over_time
from keepsake.lab.evaluating import IN_REACH, RECALLED
from keepsake.lab.measures import (
    COSTS,
    MEASURES,
    MRR,
    Estimate,
    by_question,
    estimate_of,
    groups_of,
    recall_at,
)
from keepsake.lab.trial import RIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

type Point = tuple[float, Estimate]
"""Where on the horizontal axis, and the figure there."""

_WIDTH = 7.2


def headline_chart(found: SourceResults) -> Figure | None:
    """A panel a measure, a point an arm with its interval; None where none is a share."""
    if not found.headlines:
        return None
    names = [arm.name for arm in found.arms]
    height = 1.1 + 0.28 * len(names)
    panels = len(found.headlines)
    picture = _figure(2.6 + 2.1 * panels, height)
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
    return picture


def recall_chart(found: SourceResults) -> Figure | None:
    """Evidence found, by depth; None where no arm recalls anything."""
    arms = [(n, arm) for n, arm in enumerate(found.arms) if MRR in arm.kinds[-1].estimates]
    if not arms:
        return None
    picture = _figure(_WIDTH, 3.6)
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
    return picture


def time_chart(found: SourceResults) -> Figure | None:
    """What is known over time, a panel a load; None where questions were not planned in time."""
    loads, measures = found.loads, found.timed
    if not loads or not measures:
        return None
    picture = _figure(_WIDTH, 3.2 * len(measures))
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
    return picture


def cost_chart(found: SourceResults) -> Figure | None:
    """Each arm's tokens against what it is worth: up is better, left is cheaper."""
    if IN_REACH not in found.measures:
        return None
    tokens = "prompt_tokens" if "prompt_tokens" in found.measures else "memory_tokens"
    measure = next((m for m in ("judged", RIGHT, "f1") if m in found.headlines), IN_REACH)
    picture = _figure(_WIDTH, 3.4)
    axes = picture.subplots()
    for place, arm in enumerate(found.arms):
        figures = arm.kinds[-1].estimates
        if tokens in figures and measure in figures:
            _line(axes, [(figures[tokens].mean, figures[measure])], arm.name, place)
    axes.set_xlabel(f"{COSTS[tokens]} a question")
    _finish(axes, f"per cent {MEASURES[measure]}")
    return picture


type Chart = Callable[[SourceResults], Figure | None]

CHARTS: Mapping[str, Chart] = {
    "By measure": headline_chart,
    "Evidence found by depth": recall_chart,
    "Known over time": time_chart,
    "Worth against cost": cost_chart,
}
"""What each is called."""


def as_svg(name: str, found: SourceResults) -> str:
    """One of :data:`CHARTS` as SVG that can stand in a page; empty where there is nothing to draw.

    The same results give the same picture.
    """
    text = io.StringIO()
    # Ids are made from the salt: charts of one page must not share them.
    with _style(f"{found.name} {name}"):
        if (picture := CHARTS[name](found)) is None:
            return ""
        picture.savefig(text, format="svg", metadata={"Date": None})
    return re.sub(r"^.*?(?=<svg)", "", text.getvalue(), flags=re.S)


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


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def _style(salt: str) -> AbstractContextManager[None]:
    mpl.use("agg")
    settings: dict[Any, Any] = {"svg.hashsalt": salt, "font.size": 9, "svg.fonttype": "none"}
    return mpl.rc_context({**settings, "axes.spines.top": False, "axes.spines.right": False})
