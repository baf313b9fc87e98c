"""Runs the cells of a plan, in processes or on Ray; what is done stays done."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from keepsake.errors import refusing
from keepsake.lab.pool import ENDED, Work, problem_of, run_all, scratch_folder
from keepsake.lab.sweeps.on_ray import run_on_ray
from keepsake.lab.sweeps.plan import SweepPlan
from keepsake.lab.sweeps.record import CellRecord, read_record, record_of
from keepsake.lab.sweeps.worlds import lived_world
from keepsake.lab.trials.cell import WORLD, TrialCell, pinned_down, run_cell
from keepsake.lab.trials.journal import RowJournal
from keepsake.models.clients.minilm import MiniLMEmbedder
from keepsake.paths import Places
from keepsake.ports import Embedder

CELLS = "cells"
"""The folder of the cells' files in that of the sweep."""


@dataclass(frozen=True, slots=True)
class SweepWork:
    """What every process is given."""

    here: Places  # whose configuration and whose models
    cells: Path  # the folder of the cells' files
    scratch: Path  # for temporary files of all processes

    @contextmanager
    def opened(self) -> Iterator[Callable[[TrialCell], CellRecord]]:
        """What runs one cell; one thread a process, as there are so many of them."""
        embedder = MiniLMEmbedder(threads=1)
        yield partial(_recorded, self, embedder)
        embedder.close()

    def ended(self, cell: TrialCell) -> CellRecord:
        """The record of a cell whose process was ended from outside."""
        return record_of(cell, problem=ENDED)


def _recorded(work: SweepWork, embedder: Embedder, cell: TrialCell) -> CellRecord:
    """One cell; whatever goes wrong in it is its own."""
    began = time.perf_counter()
    try:
        path = work.cells / f"{cell.key()}.part"
        # On another machine the sweep's own folders may be missing.
        there = path if work.cells.is_dir() else None
        scratch = work.scratch if work.scratch.is_dir() else None
        with RowJournal(there, cell.as_json()) as journal:
            if cell.source.kind == WORLD:
                rows = lived_world(work.here, cell)
            else:
                rows = run_cell(cell, work.here, journal, embedder, scratch=scratch)
    except Exception as error:  # is its own
        return record_of(cell, problem=problem_of(error), seconds=time.perf_counter() - began)
    return record_of(cell, rows=rows, seconds=round(time.perf_counter() - began, 3))


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
        with scratch_folder("sweep") as scratch:
            work = SweepWork(_absolute(here), cells, scratch)
            found |= zip(missing, _run(work, missing, runner, keep), strict=True)
    return [found[cell] for cell in wanted]


def _run(
    work: Work[TrialCell, CellRecord],
    cells: Sequence[TrialCell],
    runner: Runner,
    keep: Callable[[CellRecord], None],
) -> list[CellRecord]:
    jobs = runner.jobs or os.cpu_count() or 1
    if runner.ray or runner.address:
        return run_on_ray(work, cells, jobs, keep, runner.address)
    return run_all(work, cells, jobs, keep)


def _absolute(here: Places) -> Places:
    """As processes see it that begin in another folder."""
    return replace(here, home=here.home.absolute(), vault=here.vault.absolute())
