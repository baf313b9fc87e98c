"""The ladder's grid as a chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure as Picture

from keepsake.memory import Rung
from tests.bench.ladder_ledger import HORIZON, LadderLedger, together

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURE = Path("bench-ladder.png")
SHIPPED_NAME = "as shipped"
_OUTPUTS = {"small": "#7fb069", "many": "#e6aa68", "huge": "#ca3c25"}
_EVALUATED, _SPENT = "#4a7fb0", "#8d5a97"
_RUNGS = {
    Rung.MASK: "#e6aa68",
    Rung.SUMMARISE: "#4a7fb0",
    Rung.RESUMMARISE: "#8d5a97",
    Rung.TRUNCATE: "#ca3c25",
}

type Results = Mapping[tuple[str, str, str], LadderLedger]


def chart(results: Results, picture: Path = PICTURE) -> None:
    """Draw it.

    Args:
        results: A ledger for each setting, kind of tool output, and length of life.
        picture: Where the PNG goes.
    """
    mpl.use("agg")
    drawn = Picture(figsize=(15, 13), layout="constrained")
    grid = drawn.add_gridspec(2, 3, height_ratios=(1.75, 1))
    cost = drawn.add_subplot(grid[0, 0])
    lossy, net = (drawn.add_subplot(grid[0, place], sharey=cost) for place in (1, 2))
    totals = _totals(results)
    _draw_cost(cost, totals)
    _draw_lossy(lossy, results)
    _draw_net(net, results)
    cost.set_yticks(range(len(totals)), list(totals))
    cost.set_ylim(len(totals) - 0.4, -0.6)
    for beside in (lossy, net):
        beside.tick_params(labelleft=False)
    _draw_rungs(drawn.add_subplot(grid[1, :]), results)
    drawn.savefig(picture, dpi=100)


def _totals(results: Results) -> dict[str, LadderLedger]:
    """All lives of each setting together."""
    names = dict.fromkeys(name for name, _, _ in results)
    return {name: together(v for k, v in results.items() if k[0] == name) for name in names}


def _by_outputs(results: Results) -> dict[tuple[str, str], LadderLedger]:
    """Lives of all lengths together, by setting and kind of tool output."""
    pairs = dict.fromkeys(key[:2] for key in results)
    return {pair: together(v for k, v in results.items() if k[:2] == pair) for pair in pairs}


def _as_shipped(results: Results) -> dict[str, LadderLedger]:
    return {f"{key[1]}, {key[2]}": v for key, v in results.items() if key[0] == SHIPPED_NAME}


def _draw_cost(axes: Axes, totals: Mapping[str, LadderLedger]) -> None:
    evaluated = [each.a_thought(each.evaluated) for each in totals.values()]
    spent = [each.a_thought(each.spent) for each in totals.values()]
    rows = range(len(totals))
    axes.barh(rows, evaluated, 0.7, label="evaluated: not in the server's cache", color=_EVALUATED)
    bars = axes.barh(rows, spent, 0.7, left=evaluated, label="spent on summaries", color=_SPENT)
    axes.bar_label(bars, [f"{each.cost:.0f}" for each in totals.values()], padding=3, fontsize=8)
    axes.set_title("What a thought costs (fewer is better)", fontsize=10)
    axes.set_xlabel("tokens a thought, all lives")
    axes.set_xlim(right=1.12 * max(each.cost for each in totals.values()))
    _finish(axes, columns=1)


def _draw_lossy(axes: Axes, results: Results) -> None:
    _draw_groups(axes, results, lambda each: each.compactions)
    axes.set_title("Lossy steps (fewer is better)", fontsize=10)
    axes.set_xlabel("compactions in 1,000 memories")


def _draw_net(axes: Axes, results: Results) -> None:
    _draw_groups(axes, results, lambda each: each.net_each / 1000)
    axes.set_title("Net saving of a compaction (more is better)", fontsize=10)
    axes.set_xlabel(f"thousand tokens over the next {HORIZON} thoughts, less its cost")


def _draw_groups(axes: Axes, results: Results, value: Callable[[LadderLedger], float]) -> None:
    """Three bars for each setting, one for each kind of tool output."""
    found = _by_outputs(results)
    names = list(dict.fromkeys(name for name, _ in found))
    for index, (outputs, colour) in enumerate(_OUTPUTS.items()):
        rows = [row + (index - 1) * 0.26 for row in range(len(names))]
        values = [value(found[name, outputs]) for name in names]
        axes.barh(rows, values, 0.26, label=f"{outputs} outputs", color=colour)
    _finish(axes, columns=3)


def _finish(axes: Axes, columns: int) -> None:
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    axes.legend(
        fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=columns, frameon=False
    )


def _draw_rungs(axes: Axes, results: Results) -> None:
    lives = _as_shipped(results)
    bottom = [0.0] * len(lives)
    for rung, colour in _RUNGS.items():
        kept = [each.a_thought(each.kept.get(rung, 0)) for each in lives.values()]
        if any(kept):
            axes.bar(range(len(lives)), kept, 0.6, bottom=bottom, label=rung.value, color=colour)
        bottom = [low + more for low, more in zip(bottom, kept, strict=True)]
    spent = [-each.a_thought(each.spent) for each in lives.values()]
    axes.bar(range(len(lives)), spent, 0.6, label="spent on summaries", color="#777777")
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(lives)), list(lives))
    axes.set_xlabel("tool outputs, length of life (200, 800, 3,000 memories)")
    axes.set_ylabel("tokens a thought")
    axes.set_title(
        f"As shipped: tokens not sent, by rung; a compaction's over its next {HORIZON} thoughts",
        fontsize=10,
    )
    axes.legend(fontsize=8)
