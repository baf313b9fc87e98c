"""``keepsake eval probes``: what memories still know after an hour, a day and a week."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from game.cli.lab.evaluating import lived_through
from game.cli.output import out, plain_table, print_wide
from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.intervals import percentile, wilson
from keepsake.lab.trials.cell import TrialCell
from keepsake.lab.trials.curves import check_form, draw
from keepsake.lab.trials.evaluating import IN_REACH
from keepsake.lab.trials.journal import Row
from keepsake.lab.trials.probes import DELAY_NAMES, DELAYS, KEPT
from keepsake.lab.trials.probing import MEMORY, PLACES, curve
from keepsake.lab.trials.scoring import RIGHT
from keepsake.paths import Places

MOST_LOAD = 10_000


def loads_of(written: str) -> tuple[int, ...]:
    """What ``--load 20,100`` says.

    Raises:
        KeepsakeError: It is no list of such numbers.
    """
    parts = [part.strip() for part in written.split(",")]
    if not all(part.isdecimal() and 0 < int(part) <= MOST_LOAD for part in parts):
        told = f"--load {written!r} is no list of numbers from 1 to {MOST_LOAD:,}"
        raise KeepsakeError(told, "Write 20,100")
    return tuple(dict.fromkeys(map(int, parts)))


def probes(
    here: Places,
    cells: Sequence[TrialCell],
    *,
    chart: Path | None = None,
    json_file: Path | None = None,
    kinds: bool = False,
) -> None:
    """Live the probes through the memory of each cell, and show what each still knows."""
    if chart is not None:
        check_form(chart)
    found = lived_through(here, cells, json_file)
    rows = [{MEMORY: cell.name, **row} for cell, each in found.items() for row in each]
    if chart is not None:
        with refusing(f"{chart} could not be written", "Name a file that can be"):
            draw(rows, chart)
    print_wide(as_table(rows))
    out.print()
    print_wide(costs_table(rows))
    if kinds:
        out.print()
        print_wide(by_kind(rows))


def as_table(rows: Sequence[Row]) -> Table:
    """Per cent known with 95 % intervals: a row a memory, load and place of the answer."""
    headings = ("memory", "a day", "known", *(f"after {name}" for name in DELAY_NAMES.values()))
    table = plain_table(headings, right=headings[3:], no_wrap=True)
    for where, column in PLACES.items():
        points = list(curve(rows, column))
        for memory, load in dict.fromkeys((point.memory, point.load) for point in points):
            own = {p.delay: p for p in points if (p.memory, p.load) == (memory, load)}
            cells = (_share(own[d].known, own[d].n) if d in own else "–" for d in DELAYS)
            table.add_row(memory, str(load), where, *cells)
        table.add_section()
    return table


def costs_table(rows: Sequence[Row]) -> Table:
    """What each memory costs, how many whispers it kept, how often "I don't know" was right."""
    headings = ("memory", "tokens a question", "ms", KEPT, "never told")
    table = plain_table(headings, right=headings[1:], no_wrap=True)
    for memory in dict.fromkeys(row[MEMORY] for row in rows):
        own = [row for row in rows if row[MEMORY] == memory]
        tokens = sum(row["memory_tokens"] for row in own) / len(own)
        median = 1000 * percentile([row["memory_seconds"] for row in own], 0.5)
        kept = [row["kept"] for row in own if row["kind"] == KEPT]
        told = [row[RIGHT] for row in own if row["kind"] == "never told" and RIGHT in row]
        shares = (_share(round(sum(each)), len(each)) for each in (kept, told))
        table.add_row(memory, f"{tokens:,.0f}", f"{median:.1f}", *shares)
    return table


def by_kind(rows: Sequence[Row]) -> Table:
    """Per cent known with recall, by what was planted."""
    memories = list(dict.fromkeys(row[MEMORY] for row in rows))
    table = plain_table(("with recall", *memories), right=memories, no_wrap=True)
    told = [row for row in rows if IN_REACH in row]
    for kind in sorted({row["kind"] for row in told}):
        own = [[r for r in told if (r[MEMORY], r["kind"]) == (name, kind)] for name in memories]
        table.add_row(kind, *(_share(round(sum(r[IN_REACH] for r in f)), len(f)) for f in own))
    return table


def _share(known: int, n: int) -> str:
    if not n:
        return "–"
    low, high = wilson(known, n)
    return f"{100 * known / n:.0f} ({100 * low:.0f}-{100 * high:.0f})"
