"""A grid as a picture: what each configuration costs, against what it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from game.lab.replays.grid import Result
from game.lab.replays.replay import Replayed
from game.mind.errors import KeepsakeError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMS = (".png", ".svg")
_NOW, _OTHER, _RECALL = "#c2542d", "#35678f", "#8a8a8a"
_EVALUATED, _SPENT = "#7fa7c9", "#b695bf"
_ROW_INCHES, _LEAST_INCHES = 0.27, 5.0
_MOST_PIXELS = 30_000


def check_form(path: Path) -> None:
    """Refuse a file that no chart can be written to, before hours are spent on it.

    Raises:
        KeepsakeError: Its ending is none of :data:`FORMS`, or its folder is not there.
    """
    if path.suffix.casefold() not in FORMS:
        raise KeepsakeError(
            f"A chart cannot be written as {path.name!r}", f"End its name in {' or '.join(FORMS)}"
        )
    if not path.absolute().parent.is_dir():
        raise KeepsakeError(f"There is no folder {path.parent}", "Make it, or name another")


def chart(results: Sequence[Result], title: str, path: Path) -> None:
    """Draw the grid; the same results give the same picture.

    Raises:
        KeepsakeError: Nothing can be drawn, or the file cannot be written.
    """
    done = [each for each in results if isinstance(each, Replayed)]
    if not done:
        raise KeepsakeError("There is nothing to draw: no configuration came to an end")
    mpl.use("agg")
    with mpl.rc_context({"svg.hashsalt": "keepsake", "font.size": 9}):
        picture = _picture(done, title)
        part = path.with_name(f".{path.stem}.part{path.suffix}")
        try:
            picture.savefig(part, dpi=120, metadata=_without_date(path))
            part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise KeepsakeError(
                f"The chart could not be written to {path} ({error.strerror or error})",
                "Look at the disk space and at who may write there",
            ) from error


def _without_date(path: Path) -> dict[str, str | None]:
    return {"Date": None} if path.suffix.casefold() == ".svg" else {}


def _picture(done: Sequence[Replayed], title: str) -> Figure:
    height = min(max(_LEAST_INCHES, 1.6 + _ROW_INCHES * len(done)), _MOST_PIXELS / 120)
    picture = Figure(figsize=(13, height), layout="constrained")
    picture.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    kept, cost = picture.subplots(1, 2, width_ratios=(1.15, 1))
    _draw_kept(kept, done)
    _draw_cost(cost, done)
    for axes in (kept, cost):
        axes.spines[["top", "right"]].set_visible(False)
    return picture


def _draw_kept(axes: Axes, done: Sequence[Replayed]) -> None:
    """A point a configuration: up is better, left is cheaper."""
    if any(each.kept.asked for each in done):
        _draw_points(axes, done)
        _number(axes, done)
        _explain(axes)
    else:  # points at nought would look like answers
        told = "no questions could be drawn from this life"
        axes.text(0.5, 0.5, told, transform=axes.transAxes, ha="center")
    axes.set_title("Questions about the life that can still be answered", fontsize=10, loc="left")
    axes.set_xlabel("cost: tokens evaluated anew or spent on summaries, a thought (less is better)")
    axes.set_ylabel("per cent answered (more is better)")
    axes.set_ylim(-4, 108)
    axes.margins(x=0.08)
    axes.grid(alpha=0.25)
    axes.set_axisbelow(True)


def _draw_points(axes: Axes, done: Sequence[Replayed]) -> None:
    for place, each in enumerate(done):
        cost, kept = each.ledger.cost, each.kept
        alone, recalled = _share(kept.in_prompt, kept.asked), _share(kept.with_recall, kept.asked)
        above = 3 if place else 4  # the present one is not hidden by another of the same figures
        axes.plot([cost, cost], [alone, recalled], color=_RECALL, linewidth=0.7, zorder=1)
        axes.scatter(cost, recalled, s=34, facecolors="white", edgecolors=_RECALL, zorder=2)
        axes.scatter(cost, alone, s=52, color=_colour(place), zorder=above)


def _number(axes: Axes, done: Sequence[Replayed]) -> None:
    """The number of each beside its point; those that fall together stand in one line."""
    spots: dict[tuple[int, int], list[int]] = {}
    widest = max(each.ledger.cost for each in done) or 1.0
    for place, each in enumerate(done):
        share = _share(each.kept.in_prompt, each.kept.asked)
        spot = (round(40 * each.ledger.cost / widest), round(share / 4))
        spots.setdefault(spot, []).append(place)
    for places in spots.values():
        last = max((done[place] for place in places), key=lambda each: each.ledger.cost)
        at = (last.ledger.cost, _share(last.kept.in_prompt, last.kept.asked))
        text = _numbers([place + 1 for place in places])
        axes.annotate(text, at, xytext=(6, -3), textcoords="offset points", fontsize=8)


def _numbers(places: Sequence[int]) -> str:
    shown = ", ".join(map(str, places[:4]))
    return f"{shown} …" if len(places) > 4 else shown


def _explain(axes: Axes) -> None:
    axes.scatter([], [], s=52, color=_OTHER, label="by the prompt alone")
    axes.scatter([], [], s=52, color=_NOW, label="the same, as it is now")
    axes.scatter([], [], s=34, facecolors="white", edgecolors=_RECALL, label="with recall by words")
    axes.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3)


def _draw_cost(axes: Axes, done: Sequence[Replayed]) -> None:
    """A bar a configuration, with its number, its name and what it kept."""
    rows = range(len(done))
    evaluated = [each.ledger.a_thought(each.ledger.evaluated) for each in done]
    spent = [each.ledger.a_thought(each.ledger.spent) for each in done]
    axes.barh(rows, evaluated, 0.66, label="evaluated anew", color=_EVALUATED)
    bars = axes.barh(rows, spent, 0.66, left=evaluated, label="spent on summaries", color=_SPENT)
    axes.bar_label(bars, [_told(each) for each in done], padding=4, fontsize=8)
    names = [f"{place}  {each.cell.name}" for place, each in enumerate(done, start=1)]
    axes.set_yticks(rows, names)
    for place, label in enumerate(axes.get_yticklabels()):
        label.set_color(_NOW if place == 0 else "black")
    axes.set_ylim(len(done) - 0.4, -0.6)
    axes.set_xlim(right=1.75 * max(1.0, *(each.ledger.cost for each in done)))
    axes.set_title("What a thought costs, in tokens", fontsize=10, loc="left")
    axes.set_xlabel("tokens a thought; seen: names and numbers of the life still in the prompt")
    axes.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)
    axes.grid(axis="x", alpha=0.25)
    axes.set_axisbelow(True)


def _told(each: Replayed) -> str:
    seen = _share(each.kept.details_seen, each.kept.details)
    return f"{each.ledger.cost:,.0f} · {len(each.ledger.made)} compactions · {seen:.0f} % seen"


def _colour(place: int) -> str:
    return _NOW if place == 0 else _OTHER


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
