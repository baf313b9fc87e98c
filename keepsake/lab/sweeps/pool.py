"""Runs cells side by side in processes, with the same results however many there are."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from keepsake.lab.sweeps.record import CellRecord, record_of
from keepsake.lab.sweeps.work import ENDED, Done, SweepWork
from keepsake.lab.trials.cell import TrialCell


def run_all(
    work: SweepWork, cells: Sequence[TrialCell], jobs: int, done: Done
) -> dict[TrialCell, CellRecord]:
    """Run every cell; blocks.

    Raises:
        KeyboardInterrupt: All processes have ended.
    """
    if jobs == 1 or len(cells) == 1:
        return _one_by_one(work, cells, done)
    found = _pooled(work, cells, min(jobs, len(cells)), done)
    for cell in cells:
        if cell not in found:  # one of them has ended the process of all: which one?
            found |= _pooled(work, [cell], 1, done)
        if cell not in found:
            found[cell] = record_of(cell, problem=ENDED)
            done(found[cell])
    return found


def _one_by_one(
    work: SweepWork, cells: Sequence[TrialCell], done: Done
) -> dict[TrialCell, CellRecord]:
    found = {}
    with work.opened() as one:
        for cell in cells:
            found[cell] = one(cell)
            done(found[cell])
    return found


def _pooled(
    work: SweepWork, cells: Sequence[TrialCell], jobs: int, done: Done
) -> dict[TrialCell, CellRecord]:
    """The records of the cells whose processes were not ended from outside."""
    before = set(multiprocessing.active_children())
    # Spawned, not forked: a fork would take over the locks of threads that it has not.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(work,))
    found: dict[TrialCell, CellRecord] = {}
    try:
        waiting = {pool.submit(_run, cell): cell for cell in cells}
        for future in as_completed(waiting):
            with suppress(BrokenProcessPool):
                found[waiting[future]] = future.result()
                done(future.result())
    except BaseException:  # Ctrl-C above all: nobody waits for what nobody wants
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return found


_opened: list[tuple[AbstractContextManager[object], Callable[[TrialCell], CellRecord]]] = []
"""In a process of the pool: what runs a cell, and what it was opened by."""


def _begin(work: SweepWork) -> None:
    # Ctrl-C reaches all processes of a terminal: this one ends without a word.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, args=(work.scratch,), daemon=True).start()
    context = work.opened()
    _opened.append((context, context.__enter__()))


def _end_with_parent(scratch: Path) -> None:
    """Who asked was killed: nobody else would ever end this process, which waits for work."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        for _ in range(50):  # the cells that are still worked on write in it meanwhile
            shutil.rmtree(scratch, ignore_errors=True)
            if not scratch.exists():
                break
            time.sleep(0.02)
        os._exit(1)


def _run(cell: TrialCell) -> CellRecord:
    return _opened[0][1](cell)
