"""The ladder's grid as a chart: a picture and the same as text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure as Picture

from game.mind.memory import Rung

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tests.bench.ladder_bench import Ledger

PICTURE, TEXT = Path("bench-ladder.png"), Path("bench-ladder.txt")
_WIDTH = 40
_COLOURS = {"small": "#7fb069", "many": "#e6aa68", "huge": "#ca3c25"}

type Results = Mapping[tuple[str, str, str], Ledger]


def chart(results: Results, picture: Path = PICTURE, text: Path = TEXT) -> None:
    """Write both charts.

    Args:
        results: A ledger for each setting, kind of tool output, and length of life.
        picture: Where the PNG goes.
        text: Where the text goes.
    """
    text.write_text("\n".join(_text(results)) + "\n", encoding="utf-8")
    mpl.use("agg")
    drawn = Picture(figsize=(11, 8), layout="constrained")
    above, below = drawn.subplots(2, 1)
    _draw_costs(above, results)
    _draw_rungs(below, results)
    drawn.savefig(picture, dpi=110)


def _settings(results: Results) -> list[str]:
    return list(dict.fromkeys(setting for setting, _, _ in results))


def _outputs(results: Results) -> list[str]:
    return list(dict.fromkeys(outputs for _, outputs, _ in results))


def _cost(results: Results, setting: str, outputs: str) -> float:
    """Tokens a thought, over all lengths of life."""
    mine = [each for (s, o, _), each in results.items() if (s, o) == (setting, outputs)]
    return sum(e.evaluated + e.spent for e in mine) / sum(e.thoughts for e in mine)


def _text(results: Results) -> list[str]:
    lines = ["Tokens evaluated or spent for one thought (fewer is better)"]
    costs = {
        (setting, outputs): _cost(results, setting, outputs)
        for setting in _settings(results)
        for outputs in _outputs(results)
    }
    scale = _WIDTH / max(costs.values())
    for (setting, outputs), cost in costs.items():
        lines.append(
            f"{setting:<22} {outputs:<6} {'█' * round(cost * scale):<{_WIDTH}} {cost:6.0f}"
        )
    return lines


def _draw_costs(axes: Axes, results: Results) -> None:
    names, kinds = _settings(results), _outputs(results)
    for index, outputs in enumerate(kinds):
        places = [place + (index - 1) * 0.27 for place in range(len(names))]
        costs = [_cost(results, name, outputs) for name in names]
        axes.bar(places, costs, 0.25, label=f"{outputs} tool outputs", color=_COLOURS[outputs])
    axes.set_xticks(range(len(names)), names, rotation=25, ha="right", fontsize=8)
    axes.set_ylabel("tokens evaluated or spent\nfor one thought")
    axes.legend(fontsize=8)


def _draw_rungs(axes: Axes, results: Results) -> None:
    lives = [key for key in results if key[0] == "as shipped"]
    bottom = [0.0] * len(lives)
    for rung in Rung:
        saved = [_saved(results[key], rung) for key in lives]
        axes.bar(range(len(lives)), saved, 0.6, bottom=bottom, label=rung.value)
        bottom = [low + more for low, more in zip(bottom, saved, strict=True)]
    labels = [f"{outputs}, {span}" for _, outputs, span in lives]
    axes.set_xticks(range(len(lives)), labels, rotation=25, ha="right", fontsize=8)
    axes.set_ylabel("tokens that each rung kept\nout of an average prompt, as shipped")
    axes.legend(fontsize=8)


def _saved(ledger: Ledger, rung: Rung) -> float:
    if rung is Rung.MASK:
        return ledger.masked / ledger.thoughts
    return ledger.saved.get(rung, 0) / ledger.thoughts
