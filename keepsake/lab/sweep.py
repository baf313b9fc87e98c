"""Runs the cells of a plan side by side, in processes; what is done stays done."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import platform
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from keepsake.errors import ConfigError, KeepsakeError, refusing
from keepsake.lab.answering import CONTEXT, answering_model
from keepsake.lab.evaluating import RECALLED, Evaluation, Row, evaluated
from keepsake.lab.plan import FILE, SweepPlan, TrialCell
from keepsake.lab.probes import LIMIT
from keepsake.lab.trial import Trial
from keepsake.memory.protocol import code_of
from keepsake.models.detection import detected_profiles
from keepsake.models.embedders import MiniLMEmbedder
from keepsake.paths import REPOSITORY, Places
from keepsake.ports import Embedder

CELLS = "cells"
"""The folder of the cells' files in that of the sweep."""
ENDED = "Its process was ended from outside: is there memory for it?"
_PACKAGES = ("keepsake", "numpy", "onnxruntime", "chromadb")


@dataclass(frozen=True, slots=True)
class CellRecord:
    """One cell that was run, as its file in the sweep's folder has it."""

    key: str  # names its file
    name: str  # memory and settings
    source: str
    cell: dict[str, Any]  # the exact configuration
    problem: str = ""  # why there are no rows; empty where there are
    seconds: float = 0.0  # that it took
    versions: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Put it into the folder of the sweep's cells.

        Raises:
            KeepsakeError: It cannot be written.
        """
        path = folder / f"{self.key}.json"
        part = path.with_suffix(".new")
        text = json.dumps({n: getattr(self, n) for n in self.__slots__}, ensure_ascii=False)
        with refusing(f"{path} could not be written", "Free some disk space; what is done is kept"):
            part.write_text(f"{text}\n", encoding="utf-8")
            part.replace(path)


def sweep(
    here: Places,
    plan: SweepPlan,
    folder: Path,
    jobs: int | None = None,
    done: Callable[[CellRecord, bool], None] = lambda _record, _before: None,
) -> list[CellRecord]:
    """Run what is not done yet; blocks.

    Args:
        here: Whose configuration and whose models.
        plan: What is run.
        folder: Where the results are kept; made where it is missing.
        jobs: Processes side by side; None for one a core.
        done: Told of each cell that came to an end, and whether that was before.

    Returns:
        The records of all cells of the plan, in its order; a failed one says why it failed.

    Raises:
        KeepsakeError: A file cannot be read or written.
    """
    cells = folder.resolve() / CELLS
    with refusing(f"{cells} could not be made", "Name another folder by --out"):
        cells.mkdir(parents=True, exist_ok=True)
    wanted = [pinned_down(cell, here) for cell in plan.cells]
    found = {cell: record for cell in wanted if (record := _earlier(cells, cell.key()))}
    for record in found.values():
        done(record, True)
    missing = [cell for cell in wanted if cell not in found]

    if missing:
        with refusing("There is no room for temporary files", "Free some disk space"):
            # One folder for all: a process that is ended cannot take its own away.
            made = tempfile.TemporaryDirectory(prefix="keepsake-sweep-", ignore_cleanup_errors=True)
        with made as scratch:
            absolute = replace(here, home=here.home.absolute(), vault=here.vault.absolute())
            one = partial(recorded, absolute, Path(scratch))
            jobs = min(jobs or os.cpu_count() or 1, len(missing))
            alone = ((cell, one(cell)) for cell in missing)
            for cell, record in _pooled(one, missing, jobs) if jobs > 1 else alone:
                found[cell] = record
                record.write(cells)
                done(record, False)
    return [found[cell] for cell in wanted]


def _earlier(folder: Path, key: str) -> CellRecord | None:
    """A cell that came to an end before; None where there is none, or it failed."""
    try:
        found = CellRecord(**json.loads((folder / f"{key}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return None if found.problem else found


# -- one cell


def recorded(here: Places, scratch: Path, cell: TrialCell) -> CellRecord:
    """The record of one cell; an error in it is its own."""
    began = time.perf_counter()
    try:
        rows = run_cell(cell, here, _embedder(), scratch=scratch)
    except Exception as error:  # the other cells of a long night count
        ours = isinstance(error, KeepsakeError)
        problem = str(error) if ours else f"A fault of this program: {error!r}"
        return _record(cell, problem=problem, seconds=time.perf_counter() - began)
    return _record(cell, rows=rows, seconds=round(time.perf_counter() - began, 3))


@cache
def _embedder() -> MiniLMEmbedder:
    """One a process, with one thread, as the processes share the machine."""
    return MiniLMEmbedder(threads=1)


def _record(cell: TrialCell, **fields: Any) -> CellRecord:
    profile = f", {cell.profile}" if cell.profile else ""
    name, source = f"{cell.name}{profile}", cell.source.name
    return CellRecord(cell.key(), name, source, cell.as_json(), versions=_versions(), **fields)


@cache
def _versions() -> dict[str, str]:
    """The versions that the figures depend on, and the commit (``+``: files differ from it)."""
    found = {"python": platform.python_version()}
    with suppress(OSError):  # there is no git
        command = ["git", "describe", "--always", "--abbrev=12", "--dirty=+"]
        told = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        found |= {"commit": told.stdout.strip()} if told.stdout else {}
    return found | {package: version(package) for package in _PACKAGES}


def pinned_down(cell: TrialCell, here: Places) -> TrialCell:
    """The cell with what its profiles and its memory's code say now.

    So another model, or a changed memory, makes it another cell.
    """
    profiles = detected_profiles(here)
    found = {}
    for name in sorted({cell.profile, cell.judge, cell.writer} - {""}):
        with suppress(ConfigError):  # one that there is not is refused where it is opened
            told = repr(profiles.get(name)).encode()
            found[name] = hashlib.sha256(told).hexdigest()[:16]
    return replace(cell, models=tuple(found.items()), code=code_of(cell.memory))


def run_cell(
    cell: TrialCell,
    here: Places,
    embedder: Embedder,
    *,
    scratch: Path | None = None,
    trials: list[Trial] | None = None,
    done: Callable[[Row], None] = lambda _: None,
) -> list[Row]:
    """Its rows, one a question; blocks.

    Raises:
        KeepsakeError: A file, memory or profile cannot be used, or a model does not answer.
    """
    with ExitStack() as open_models:
        models = {}
        for name in {cell.profile, cell.judge, cell.writer} - {""}:
            models[name] = answering_model(here, name, cell.seed)
            open_models.callback(models[name].close)
        answerer = models.get(cell.profile)
        how = Evaluation(
            memory=cell.memory,
            settings=dict(cell.settings),
            embedder=embedder,
            writer=models[cell.writer].model if cell.writer else None,
            answerer=answerer,
            judge=models.get(cell.judge),
            budget=cell.budget or (answerer.budget if answerer else CONTEXT),
            recalled=cell.recalled or (RECALLED if cell.source.kind == FILE else LIMIT),
        )
        lives = trials if trials is not None else cell.questions()
        return evaluated(lives, how, scratch, done)


# -- many


def _pooled(
    one: Callable[[TrialCell], CellRecord], cells: Sequence[TrialCell], jobs: int
) -> Iterator[tuple[TrialCell, CellRecord]]:
    """Run every cell in processes; the same results however many there are."""
    # Spawned, not forked: a fork would take over the locks of threads that it has not.
    spawned = multiprocessing.get_context("spawn")
    # Ctrl-C ends those of the pool at once, without a word.
    end = (signal.SIGINT, signal.SIG_DFL)
    with ProcessPoolExecutor(jobs, spawned, initializer=signal.signal, initargs=end) as pool:
        waiting = {pool.submit(one, cell): cell for cell in cells}
        try:
            for future in as_completed(waiting):
                try:
                    yield waiting[future], future.result()
                except BrokenProcessPool:  # one that was killed takes the cells of all with it
                    yield waiting[future], _record(waiting[future], problem=ENDED)
        finally:
            pool.shutdown(cancel_futures=True)
