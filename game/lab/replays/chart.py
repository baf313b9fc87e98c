"""A grid as a picture: what each configuration costs, against what it keeps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from game.lab.replays.figures import LIVED, Figures, a_thought
from keepsake.errors import KeepsakeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMS = (".png", ".svg")
_NOW, _OTHER, _RECALL = "#c2542d", "#35678f", "#8a8a8a"
_EVALUATED, _SPENT = "#7fa7c9", "#b695bf"
_ROW_INCHES, _LEAST_INCHES = 0.27, 5.0
_MOST_PIXELS = 30_000
_LEGEND: dict[str, Any] = {
    "fontsize": 8,
    "frameon": False,
    "loc": "upper center",
    "bbox_to_anchor": (0.5, -0.1),
}
_RING: dict[str, Any] = {"s": 34, "facecolors": "white", "edgecolors": _RECALL}


def check_form(path: Path) -> None:
    """Refuse a file that no chart can be written to, before hours are spent on it.

    Raises:
        KeepsakeError: Its ending is none of :data:`FORMS`.
    """
    if path.suffix.casefold() not in FORMS:
        raise KeepsakeError(
            f"A chart cannot be written as {path.name!r}", f"End its name in {' or '.join(FORMS)}"
        )


def chart(lines: Sequence[Figures], title: str, path: Path) -> None:
    """Draw the configurations that were lived; the same figures give the same picture.

    Raises:
        OSError: The file cannot be written.
    """
    done = [x for x in lines if not (x["problem"] or x["same_as"] or x["name"] == LIVED)]
    mpl.use("agg")
    with mpl.rc_context({"svg.hashsalt": "keepsake", "font.size": 9}):
        height = min(max(_LEAST_INCHES, 1.6 + _ROW_INCHES * len(done)), _MOST_PIXELS / 120)
        picture = Figure(figsize=(13, height), layout="constrained")
        picture.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
        kept, cost = picture.subplots(1, 2, width_ratios=(1.15, 1))
        _draw_kept(kept, done)
        _draw_cost(cost, done)
        for axes in (kept, cost):
            axes.spines[["top", "right"]].set_visible(False)
        dated = {"Date": None} if path.suffix.casefold() == ".svg" else {}
        picture.savefig(path, dpi=120, metadata=dated)


def _draw_kept(axes: Axes, done: Sequence[Figures]) -> None:
    """A point a configuration: up is better, left is cheaper."""
    if any(each["questions"] for each in done):
        _draw_points(axes, done)
        axes.scatter([], [], s=52, color=_OTHER, label="by the prompt alone")
        axes.scatter([], [], s=52, color=_NOW, label="the same, as it is now")
        axes.scatter([], [], **_RING, label="with recall by words")
        axes.legend(**_LEGEND, ncols=3)
    else:  # points at nought would look like answers
        told = "nothing was asked"
        axes.text(0.5, 0.5, told, transform=axes.transAxes, ha="center")
    axes.set_title(
        "What visitors told after the life, asked for an hour, a day and a week later",
        fontsize=10,
        loc="left",
    )
    axes.set_xlabel("cost: tokens evaluated anew or spent on summaries, a thought (less is better)")
    axes.set_ylabel("per cent known (more is better)")
    axes.set_ylim(-4, 108)
    axes.margins(x=0.08)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)


def _draw_points(axes: Axes, done: Sequence[Figures]) -> None:
    """Each with its number beside it; those that fall together have their numbers in one line."""
    widest = max(float(each["cost_a_thought"]) for each in done) or 1.0
    spots: dict[tuple[int, int], list[tuple[float, float, int]]] = defaultdict(list)
    for place, each in enumerate(done):
        cost = float(each["cost_a_thought"])
        alone = _share(each, "answers_in_prompt", "questions")
        recalled = _share(each, "answers_with_recall", "questions")
        above = 3 if place else 4  # the present one is not hidden by another of the same figures
        axes.plot([cost, cost], [alone, recalled], color=_RECALL, linewidth=0.7, zorder=1)
        axes.scatter(cost, recalled, zorder=2, **_RING)
        axes.scatter(cost, alone, s=52, color=_OTHER if place else _NOW, zorder=above)
        spots[round(40 * cost / widest), round(alone / 4)].append((cost, alone, place + 1))
    for points in spots.values():
        text = ", ".join(str(number) for _, _, number in points[:4])
        text += " …" if len(points) > 4 else ""
        at = max(points, key=lambda point: point[0])[:2]
        axes.annotate(text, at, xytext=(6, -3), textcoords="offset points", fontsize=8)


def _draw_cost(axes: Axes, done: Sequence[Figures]) -> None:
    """A bar a configuration, with its number, its name and what it kept."""
    rows = range(len(done))
    evaluated = [a_thought(each, "tokens_evaluated") for each in done]
    spent = [a_thought(each, "tokens_spent") for each in done]
    axes.barh(rows, evaluated, 0.66, label="evaluated anew", color=_EVALUATED)
    bars = axes.barh(rows, spent, 0.66, left=evaluated, label="spent on summaries", color=_SPENT)
    told = [
        f"{each['cost_a_thought']:,.0f} · {each['compactions']} compactions · "
        f"{_share(each, 'details_seen', 'details'):.0f} % seen"
        for each in done
    ]
    axes.bar_label(bars, told, padding=4, fontsize=8)
    axes.set_yticks(rows, [f"{place}  {each['name']}" for place, each in enumerate(done, start=1)])
    for place, label in enumerate(axes.get_yticklabels()):
        label.set_color("black" if place else _NOW)
    axes.set_ylim(len(done) - 0.4, -0.6)
    axes.set_xlim(right=1.75 * max(1.0, *(float(each["cost_a_thought"]) for each in done)))
    axes.set_title("What a thought costs, in tokens", fontsize=10, loc="left")
    axes.set_xlabel("tokens a thought; seen: names and numbers of the life still in the prompt")
    axes.legend(**_LEGEND, ncols=2)
    axes.grid(axis="x", alpha=0.25)
    axes.set_axisbelow(True)


def _share(each: Figures, part: str, whole: str) -> float:
    return 100 * int(each[part]) / int(each[whole]) if each[whole] else 0.0
