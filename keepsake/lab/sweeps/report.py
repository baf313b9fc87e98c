"""The report of a sweep: one HTML file that needs nothing beside it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

from keepsake.errors import refusing
from keepsake.lab.sweeps.charts import CHARTS, as_svg
from keepsake.lab.sweeps.comparing import HOURS, SourceResults, compared, over_time
from keepsake.lab.sweeps.plan import SweepPlan
from keepsake.lab.sweeps.record import CellRecord
from keepsake.lab.trials.intervals import ROUNDS
from keepsake.lab.trials.measures import COSTS, MEASURES, figure

TEMPLATE = "report.html.j2"
_NAMES = {**MEASURES, **COSTS}


def write_report(plan: SweepPlan, records: Sequence[CellRecord], command: str, path: Path) -> None:
    """Write the report of the cells of a plan.

    Raises:
        KeepsakeError: The file cannot be written.
    """
    loader = FileSystemLoader(Path(__file__).parent)
    page = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page.filters["figure"], page.globals["names"] = figure, _NAMES
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


def _charts(found: SourceResults) -> list[tuple[str, str]]:
    return [(name, svg) for name in CHARTS if (svg := as_svg(name, found))]


def _versions(records: Sequence[CellRecord]) -> list[tuple[str, int]]:
    """Each state of the program that had a part in it, with how many cells it ran."""
    told = Counter(", ".join(f"{n} {v}" for n, v in each.versions.items()) for each in records)
    return told.most_common()


def _configuration(record: CellRecord) -> dict[str, Any]:
    left_out = ("memory", "settings", "source", "seed")
    rest = {name: each for name, each in record.cell.items() if name not in left_out and each}
    source = {name: each for name, each in record.cell["source"].items() if each and name != "path"}
    return {"record": record, "rest": json.dumps(rest), "source": json.dumps(source)}
