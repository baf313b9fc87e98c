"""What is known over time, as a picture: a line a memory, a panel a load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.figure import Figure

from keepsake.errors import KeepsakeError
from keepsake.lab.intervals import wilson
from keepsake.lab.trials.journal import Row
from keepsake.lab.trials.probes import DELAY_NAMES, DELAYS
from keepsake.lab.trials.probing import MEMORY, PLACES, curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STYLES = dict(zip(PLACES, (":", "-", "--"), strict=True))


FORMS = (".png", ".svg")


def check_form(path: Path) -> None:
    """Refuse a file that no chart can be written to, before hours are spent on it.

    Raises:
        KeepsakeError: Its ending is none of :data:`FORMS`.
    """
    if path.suffix.casefold() not in FORMS:
        raise KeepsakeError(
            f"A chart cannot be written as {path.name!r}", f"End its name in {' or '.join(FORMS)}"
        )


def draw(results: Sequence[Row], path: Path) -> None:
    """Draw the curves; the same results give the same picture.

    Raises:
        OSError: The file cannot be written.
    """
    mpl.use("agg")
    loads = sorted({row["load"] for row in results})
    with mpl.rc_context({"svg.hashsalt": "keepsake", "font.size": 9}):
        picture = Figure(figsize=(1.5 + 4.5 * len(loads), 4.6), layout="constrained")
        panels = picture.subplots(1, len(loads), sharey=True, squeeze=False)[0]
        for load, axes in zip(loads, panels, strict=True):
            _panel(axes, [row for row in results if row["load"] == load], load)
        panels[0].set_ylabel("per cent known, 95 % interval")
        handles, labels = panels[0].get_legend_handles_labels()
        picture.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
        dated = {"Date": None} if path.suffix.casefold() == ".svg" else {}
        picture.savefig(path, dpi=120, metadata=dated)


def _panel(axes: Axes, results: Sequence[Row], load: int) -> None:
    memories = list(dict.fromkeys(row[MEMORY] for row in results))
    for where, style in _STYLES.items():
        points = list(curve(results, PLACES[where]))
        for place, memory in enumerate(memories):
            own = [point for point in points if point.memory == memory]
            if not own:
                continue
            at = [list(DELAYS).index(point.delay) + 0.04 * place for point in own]
            share = [100 * point.known / point.n for point in own]
            ends = [wilson(point.known, point.n) for point in own]
            below = [max(s - 100 * low, 0) for s, (low, _) in zip(share, ends, strict=True)]
            above = [max(100 * high - s, 0) for s, (_, high) in zip(share, ends, strict=True)]
            label = f"{memory}, {where}"
            colour = mpl.colormaps["tab10"](place % 10)
            axes.errorbar(at, share, [below, above], ls=style, color=colour, label=label, capsize=2)
    axes.set_xticks(range(len(DELAYS)), [f"after {DELAY_NAMES[delay]}" for delay in DELAYS])
    axes.set_ylim(-3, 103)
    axes.set_title(f"{load} memories a day", fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
