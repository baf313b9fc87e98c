"""Items worked on side by side in processes, with the same results however many there are.

Where no item sees anything of another, one loop serves grids of replays and sweeps alike.
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
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from keepsake.errors import KeepsakeError, refusing

ENDED = "Its process was ended from outside: is there memory for it?"


def problem_of(error: Exception) -> str:
    """Why an item came to nothing: whatever one leads to, the others of a long night count."""
    return str(error) if isinstance(error, KeepsakeError) else f"A fault of this program: {error!r}"


class Work[Item, Result](Protocol):
    """What is done with items; it is sent to each process, so it can be pickled."""

    @property
    def scratch(self) -> Path:
        """The folder for temporary files of all processes."""
        ...

    def opened(self) -> AbstractContextManager[Callable[[Item], Result]]:
        """What works on one item, made once a process; no item makes it raise."""
        ...

    def ended(self, item: Item) -> Result:
        """The result of an item whose process was ended from outside."""
        ...


@contextmanager
def scratch_folder(name: str) -> Iterator[Path]:
    """One folder for all: a process that is ended cannot take its own away.

    Raises:
        KeepsakeError: There is no room for it.
    """
    cure = "Free some disk space, or set TMPDIR to a folder that has some"
    with refusing("There is no room for temporary files", cure):
        scratch = tempfile.TemporaryDirectory(
            prefix=f"keepsake-{name}-", ignore_cleanup_errors=True
        )
    with scratch as folder:
        yield Path(folder)


def run_all[Item, Result](
    work: Work[Item, Result], items: Sequence[Item], jobs: int, done: Callable[[Result], None]
) -> list[Result]:
    """Work on every item; blocks.

    Returns:
        The results in the order of ``items``, of which none may come twice.

    Raises:
        KeyboardInterrupt: All processes have ended.
    """
    if jobs == 1 or len(items) == 1:
        return list(_one_by_one(work, items, done))
    found = _pooled(work, items, min(jobs, len(items)), done)
    for item in items:
        if item not in found:  # one of them has ended the process of all: which one?
            ended = work.ended(item)
            found |= _pooled(work, [item], 1, done) or {item: ended}
            if found[item] is ended:
                done(ended)
    return [found[item] for item in items]


def _one_by_one[Item, Result](
    work: Work[Item, Result], items: Sequence[Item], done: Callable[[Result], None]
) -> Iterator[Result]:
    with work.opened() as one:
        for item in items:
            result = one(item)
            done(result)
            yield result


def _pooled[Item, Result](
    work: Work[Item, Result], items: Sequence[Item], jobs: int, done: Callable[[Result], None]
) -> dict[Item, Result]:
    """The results of the items whose processes were not ended from outside."""
    before = set(multiprocessing.active_children())
    # Spawned, not forked: a fork would take over the locks of threads that it has not.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(work,))
    found: dict[Item, Result] = {}
    try:
        waiting = {pool.submit(_run, item): item for item in items}
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


_worker: list[Callable[[Any], Any]] = []
"""In a process of the pool: what works on an item."""
_held: list[AbstractContextManager[Any]] = []
"""What was opened for it, which ends with the process."""


def _begin(work: Work[Any, Any]) -> None:
    # Ctrl-C reaches all processes of a terminal: this one ends without a word.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    watch = threading.Thread(target=_end_with_parent, args=(work.scratch,), daemon=True)
    watch.start()
    _held.append(work.opened())
    _worker.append(_held[0].__enter__())


def _end_with_parent(scratch: Path) -> None:
    """Whoever asked was killed: nobody else would ever end this process, which waits for work."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        for _ in range(50):  # the items that are still worked on write in it meanwhile
            shutil.rmtree(scratch, ignore_errors=True)
            if not scratch.exists():
                break
            time.sleep(0.02)
        os._exit(1)


def _run(item: Any) -> Any:
    return _worker[0](item)
