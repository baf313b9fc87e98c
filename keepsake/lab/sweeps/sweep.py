"""Runs the cells of a plan, in processes or on Ray; what is done stays done."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from keepsake.errors import refusing
from keepsake.lab.sweeps.on_ray import run_on_ray
from keepsake.lab.sweeps.plan import SweepPlan
from keepsake.lab.sweeps.pool import run_all
from keepsake.lab.sweeps.record import CellRecord, read_record
from keepsake.lab.sweeps.work import SweepWork
from keepsake.lab.trials.cell import pinned_down
from keepsake.paths import Places

CELLS = "cells"
"""The folder of the cells' files in that of the sweep."""


@dataclass(frozen=True, slots=True)
class Runner:
    """Where cells are run."""

    jobs: int | None = None  # processes; None for one a core
    ray: bool = False  # as tasks of Ray in place of processes
    address: str = ""  # of a Ray cluster; empty for this machine


def sweep(
    here: Places,
    plan: SweepPlan,
    folder: Path,
    runner: Runner,
    done: Callable[[CellRecord, bool], None] = lambda _record, _before: None,
) -> list[CellRecord]:
    """Run what is not done yet; blocks.

    Args:
        here: Whose configuration and whose models.
        plan: What is run.
        folder: Where the results are kept; made where it is missing.
        runner: Where cells are run.
        done: Told of each cell that came to an end, and whether that was before.

    Returns:
        The records of all cells of the plan, in its order; a failed one says why it failed.

    Raises:
        KeepsakeError: A file cannot be read or written, or Ray is not there.
    """
    cells = folder.resolve() / CELLS
    with refusing(f"{cells} could not be made", "Name another folder by --out"):
        cells.mkdir(parents=True, exist_ok=True)
    wanted = [pinned_down(cell, here) for cell in plan.cells]
    found = {cell: record for cell in wanted if (record := read_record(cells, cell.key()))}
    for record in found.values():
        done(record, True)
    missing = [cell for cell in wanted if cell not in found]

    def keep(record: CellRecord) -> None:
        record.write(cells)
        if not record.problem:
            (cells / f"{record.key}.part").unlink(missing_ok=True)
        done(record, False)

    if missing:
        with refusing("There is no room for temporary files", "Free some disk space"):
            # One folder for all: a process that is ended cannot take its own away.
            made = tempfile.TemporaryDirectory(prefix="keepsake-sweep-", ignore_cleanup_errors=True)
        with made as scratch:
            work = SweepWork(_absolute(here), cells, Path(scratch))
            jobs = runner.jobs or os.cpu_count() or 1
            if runner.ray or runner.address:
                found |= run_on_ray(work, missing, jobs, keep, runner.address)
            else:
                found |= run_all(work, missing, jobs, keep)
    return [found[cell] for cell in wanted]


def _absolute(here: Places) -> Places:
    """As processes see it that begin in another folder."""
    return replace(here, home=here.home.absolute(), vault=here.vault.absolute())
