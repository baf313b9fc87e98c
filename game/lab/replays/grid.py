"""A grid of configurations, each lived through by itself, in processes side by side.

The results are the same however many processes there are: a cell sees nothing but the life
and its own settings.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from game.lab.refusing import refusing
from game.lab.replays.cells import Cell, settings_of
from game.lab.replays.figures import Failed, Result
from game.lab.replays.lived import ArchivedLife
from game.lab.replays.replay import LifeSetup, replay
from game.lab.replays.writers import SummaryAuthor, writer
from game.mind.errors import KeepsakeError
from game.paths import Places


@dataclass(frozen=True, slots=True)
class Task:
    """What every process is given."""

    here: Places  # whose configuration and whose model
    life: ArchivedLife  # what is lived through
    model: str  # who writes the summaries; see :func:`game.lab.replays.writers.writer`
    given: LifeSetup  # what is the same for every configuration


def _lived(task: Task, author: SummaryAuthor, cell: Cell) -> Result:
    """One cell; whatever goes wrong in it is its own."""
    try:
        settings = settings_of(cell, task.here.config)
        return replay(cell, settings, task.life, author, given=task.given)
    except KeepsakeError as error:
        return Failed(cell, str(error))
    except Exception as error:
        # Whatever one configuration leads to, the others of a long night's grid count.
        return Failed(cell, f"A fault of this program: {error!r}")


def run(
    task: Task, cells: Sequence[Cell], jobs: int, done: Callable[[Result], None]
) -> list[Result]:
    """Live through every cell; blocks.

    Returns:
        The results in the order of ``cells``.

    Raises:
        KeepsakeError: The model does not answer, or there is no room for temporary files.
        KeyboardInterrupt: All processes have ended and nothing is left behind.
    """
    with _scratch() as folder:
        task = replace(task, given=replace(task.given, scratch=folder))
        if jobs == 1 or len(cells) == 1:
            return list(_one_by_one(task, cells, done))
        writer(task.here, task.model).close()  # said once, before there are processes
        return _side_by_side(task, cells, min(jobs, len(cells)), done)


@contextmanager
def _scratch() -> Iterator[Path]:
    """One folder for all: a process that is ended cannot take its own away."""
    cure = "Free some disk space, or set TMPDIR to a folder that has some"
    with refusing("There is no room for temporary files", cure):
        scratch = tempfile.TemporaryDirectory(prefix="keepsake-replay-", ignore_cleanup_errors=True)
    with scratch as folder:
        yield Path(folder)


def _one_by_one(
    task: Task, cells: Sequence[Cell], done: Callable[[Result], None]
) -> Iterator[Result]:
    with closing(writer(task.here, task.model)) as author:
        for cell in cells:
            result = _lived(task, author, cell)
            done(result)
            yield result


def _side_by_side(
    task: Task, cells: Sequence[Cell], jobs: int, done: Callable[[Result], None]
) -> list[Result]:
    found = _pooled(task, cells, jobs, done)
    for cell in cells:
        if cell not in found:  # one of them has ended the process of all: which one?
            ended = Failed(cell, "Its process was ended from outside: is there memory for it?")
            found |= _pooled(task, [cell], 1, done) or {cell: ended}
            if found[cell] is ended:
                done(ended)
    return [found[cell] for cell in cells]


def _pooled(
    task: Task, cells: Sequence[Cell], jobs: int, done: Callable[[Result], None]
) -> dict[Cell, Result]:
    """The results of the cells whose processes were not ended from outside."""
    before = set(multiprocessing.active_children())
    # Spawned, not forked: a fork would take over the locks of threads that it has not.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(task,))
    found: dict[Cell, Result] = {}
    try:
        waiting = {pool.submit(_run, cell): cell for cell in cells}
        for future in as_completed(waiting):
            with suppress(BrokenProcessPool):
                found[waiting[future]] = future.result()
                done(future.result())
    except BaseException:  # Ctrl-C above all: nobody waits for a life that nobody wants
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return found


_worker: list[tuple[Task, SummaryAuthor]] = []
"""In a process of the pool: what it was given."""


def _begin(task: Task) -> None:
    # Ctrl-C reaches all processes of a terminal: this one ends without a word.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    watch = threading.Thread(target=_end_with_parent, args=(task.given.scratch,), daemon=True)
    watch.start()
    _worker.append((task, writer(task.here, task.model)))


def _end_with_parent(scratch: Path) -> None:
    """Whoever asked was killed: nobody else would ever end this process, which waits for work."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        for _ in range(50):  # the lives that are still being lived write in it meanwhile
            shutil.rmtree(scratch, ignore_errors=True)
            if not scratch.exists():
                break
            time.sleep(0.02)
        os._exit(1)


def _run(cell: Cell) -> Result:
    return _lived(*_worker[0], cell)
