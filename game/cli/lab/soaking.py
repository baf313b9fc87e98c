"""``keepsake soak``: how it goes, and the figures at the end."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.markup import escape

from game.cli.output import err, out, plain_table
from game.lab.intervals import percentile
from game.lab.soak.plan import SoakPlan
from game.lab.soak.soak import Recovery, SoakReport, soak
from keepsake.errors import refusing
from keepsake.paths import Places

_BESIDE = 10
"""How far its ports are at least from those of the world that may be running."""


def soaked(here: Places, plan: SoakPlan, json_file: Path | None) -> bool:
    """Soak a world and show the report; whether all was as it must be.

    Raises:
        KeepsakeError: It could not be done, or the file could not be written.
    """
    report = soak(plan, here.ports.base + _BESIDE, lambda line: out.print(line, markup=False))
    table = plain_table(("", ""))
    table.show_header = False
    for what, figure in _rows(report):
        table.add_row(what, escape(figure))
    out.print(table)
    for problem in report.problems:
        err.print(f"[red]✗[/red] {escape(problem)}")
    if json_file is not None:
        with refusing(f"{json_file} could not be written", "Name another file"):
            json_file.write_text(json.dumps(asdict(report), indent=2) + "\n", encoding="utf-8")
    return report.whole


def _rows(report: SoakReport) -> list[tuple[str, str]]:
    kills = ", ".join(f"{name} {times}" for name, times in sorted(report.kills.items()))
    look, slow_look = (percentile(report.looks, share) for share in (0.5, 0.95))
    return [
        ("took", f"{report.seconds:.0f} s, seed {report.seed}"),
        ("lines", f"{report.said:,} said, {report.echoed:,} echoed, {report.archived:,} archived"),
        ("heard", f"{report.heard:,} times by all agents; {report.memories:,} memories"),
        ("model", f"{report.model_calls:,} calls"),
        ("kills", f"{sum(report.kills.values())} ({kills or 'none'})"),
        *((f"{name} back", _spread(each)) for name, each in sorted(report.recovery.items())),
        ("read-only", f"{report.read_only} times the vault could not be written"),
        ("clock", f"{report.jumps} jumps"),
        ("lines cut", f"{report.cut_off:,}"),
        ("look", f"median {look:.3f} s, p95 {slow_look:.3f} s"),
        ("memory", f"a Server grew by {report.memory_growth / 1e6:+.1f} MB at most"),
        ("handles", f"and by {report.handle_growth:+d} file handles"),
        ("problems", str(len(report.problems))),
    ]


def _spread(found: Recovery) -> str:
    return (
        f"median {found.median:.1f} s, p95 {found.p95:.1f} s, longest {found.longest:.1f} s, "
        f"of {len(found.each)}"
    )
