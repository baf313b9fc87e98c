"""The files of a sweep's results: the report, one self-contained HTML file, and the table."""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from jinja2 import Environment, FileSystemLoader

from keepsake.errors import refusing
from keepsake.lab.estimates import figure
from keepsake.lab.intervals import MIN_CLUSTERS
from keepsake.lab.measures import MEASURES, NAMES
from keepsake.lab.results import DELAYS, SourceResults
from keepsake.lab.sweep import CellRecord, SweepPlan
from keepsake.paths import REPOSITORY

TEMPLATE = "report.html.j2"


def title_of(plan: SweepPlan, sources: Sequence[SourceResults]) -> str:
    """Return what a report is of: ``locomo, longmemeval: 3 memories compared (plan)``."""
    arms = {arm for source in sources for arm in source.arms}
    compared = f"{len(arms)} memories compared" if len(arms) > 1 else ", ".join(arms) or "no result"
    return f"{', '.join(each.name for each in sources) or 'Evaluation'}: {compared} ({plan.name})"


def write_report(
    plan: SweepPlan,
    records: Sequence[CellRecord],
    sources: Sequence[SourceResults],
    command: str,
    path: Path,
) -> None:
    """Write the HTML report of a plan's cells.

    Raises:
        KeepsakeError: The file cannot be written.
    """
    loader = FileSystemLoader(Path(__file__).parent)
    page = Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page.filters["figure"] = figure
    page.globals["names"] = NAMES
    text = page.get_template(TEMPLATE).render(
        plan=plan,
        title=title_of(plan, sources),
        command=command,
        records=records,
        failed=[record for record in records if record.problem],
        seconds=sum(record.seconds for record in records),
        sources=sources,
        versions={name: number for name, number in _versions().items() if number},
        times=DELAYS,
        min_clusters=MIN_CLUSTERS,
    )
    with refusing(f"{path} could not be written", "Free some disk space"):
        path.write_text(text, encoding="utf-8")


@cache
def _versions() -> dict[str, str]:
    """Return package versions and the checkout's commit (``+``: with uncommitted changes)."""
    found = {"python": platform.python_version(), "commit": ""}
    command = ["git", "describe", "--always", "--abbrev=12", "--dirty=+"]
    if (REPOSITORY / ".git").exists():  # else it is installed, maybe inside another checkout
        with suppress(OSError):  # git is not installed
            output = subprocess.run(
                command, cwd=REPOSITORY, capture_output=True, text=True, check=False
            )
            found["commit"] = output.stdout.strip()
    packages = ("evennia-keepsake", "numpy", "scipy", "onnxruntime")
    return found | {package: version(package) for package in packages}


def write_parquet(records: Sequence[CellRecord], path: Path) -> None:
    """Write all results as Parquet: one row per question, and one per failed cell.

    docs/evaluation.md explains the columns.

    Raises:
        KeepsakeError: The file cannot be written.
    """
    rows = []
    for record in records:
        cell = record.cell.as_json() | {"problem": record.problem, "cell_seconds": record.seconds}
        cell |= {"commit": _versions()["commit"], "settings": json.dumps(cell["settings"])}
        rows += [{**cell, **row} for row in record.rows or [{}]]
    columns = dict.fromkeys((*(name for row in rows for name in row), *MEASURES))
    table = pa.table({name: [row.get(name) for row in rows] for name in columns})
    with refusing(f"{path} could not be written", "Free some disk space"):
        pq.write_table(table, path)
