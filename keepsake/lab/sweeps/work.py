"""What a process, or a task of Ray, does with cells."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from keepsake.errors import KeepsakeError
from keepsake.lab.sweeps.record import CellRecord, record_of
from keepsake.lab.sweeps.worlds import lived_world
from keepsake.lab.trials.cell import WORLD, TrialCell, run_cell
from keepsake.lab.trials.journal import RowJournal
from keepsake.models.minilm import MiniLMEmbedder
from keepsake.paths import Places
from keepsake.ports import Embedder

ENDED = "Its process was ended from outside: is there memory for it?"

type Done = Callable[[CellRecord], None]
"""Told of each cell that came to an end."""


@dataclass(frozen=True, slots=True)
class SweepWork:
    """What every process is given."""

    here: Places  # whose configuration and whose models
    cells: Path  # the folder of the cells' files
    scratch: Path  # for temporary files of all processes

    @contextmanager
    def opened(self) -> Iterator[Callable[[TrialCell], CellRecord]]:
        """What runs one cell; with one thread, as the processes share the machine."""
        embedder = MiniLMEmbedder(threads=1)
        yield partial(_recorded, self, embedder)
        embedder.close()


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
    except Exception as error:  # the other cells of a long night count
        ours = isinstance(error, KeepsakeError)
        problem = str(error) if ours else f"A fault of this program: {error!r}"
        return record_of(cell, problem=problem, seconds=time.perf_counter() - began)
    return record_of(cell, rows=rows, seconds=round(time.perf_counter() - began, 3))
