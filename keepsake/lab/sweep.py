"""Runs the cells of a plan side by side, in processes or on Ray; what is done stays done."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import platform
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.cell import TrialCell, pinned_down, run_cell
from keepsake.lab.evaluating import Row, RowJournal
from keepsake.lab.sweep_plan import SweepPlan
from keepsake.models.minilm import MiniLMEmbedder
from keepsake.paths import REPOSITORY, Places

CELLS = "cells"
"""The folder of the cells' files in that of the sweep."""
ENDED = "Its process was ended from outside: is there memory for it?"
_PACKAGES = ("keepsake", "numpy", "onnxruntime", "chromadb", "mem0ai", "ray")


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


@dataclass(frozen=True, slots=True)
class Runner:
    """Where cells are run."""

    jobs: int | None = None  # processes; None for one a core
    ray: bool = False  # as tasks of Ray in place of processes
    address: str = ""  # of a Ray cluster; empty for this machine


type Done = Callable[[CellRecord], None]
"""Told of each cell that came to an end."""


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
    found = {cell: record for cell in wanted if (record := _earlier(cells, cell.key()))}
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
            absolute = replace(here, home=here.home.absolute(), vault=here.vault.absolute())
            one = partial(recorded, absolute, cells, Path(scratch))
            jobs = runner.jobs or os.cpu_count() or 1
            if runner.ray or runner.address:
                found |= _on_ray(one, missing, jobs, keep, runner.address)
            elif jobs == 1 or len(missing) == 1:
                found |= _one_by_one(one, missing, keep)
            else:
                found |= _pooled(one, missing, min(jobs, len(missing)), keep)
    return [found[cell] for cell in wanted]


def _earlier(folder: Path, key: str) -> CellRecord | None:
    """A cell that came to an end before; None where there is none, or it failed."""
    try:
        found = CellRecord(**json.loads((folder / f"{key}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return None if found.problem else found


# -- one cell


type _One = Callable[[TrialCell], CellRecord]


def recorded(here: Places, cells: Path, scratch: Path, cell: TrialCell) -> CellRecord:
    """The record of one cell; an error in it is its own."""
    began = time.perf_counter()
    try:
        # On another machine the sweep's own folders may be missing.
        path = cells / f"{cell.key()}.part" if cells.is_dir() else None
        there = scratch if scratch.is_dir() else None
        with RowJournal(path, cell.as_json()) as journal:
            rows = run_cell(cell, here, journal, _embedder(), scratch=there)
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
    try:
        command = ["git", "describe", "--always", "--abbrev=12", "--dirty=+"]
        told = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        found["commit"] = told.stdout.strip()
    except OSError:  # there is no git
        pass
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return {name: each for name, each in found.items() if each}


# -- many


def _one_by_one(one: _One, cells: Sequence[TrialCell], done: Done) -> dict[TrialCell, CellRecord]:
    found = {}
    for cell in cells:
        found[cell] = one(cell)
        done(found[cell])
    return found


def _pooled(
    one: _One, cells: Sequence[TrialCell], jobs: int, done: Done
) -> dict[TrialCell, CellRecord]:
    """Run every cell in processes; the same results however many there are.

    Raises:
        KeyboardInterrupt: All processes have ended.
    """
    before = set(multiprocessing.active_children())
    # Spawned, not forked: a fork would take over the locks of threads that it has not.
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_begin)
    found: dict[TrialCell, CellRecord] = {}
    try:
        waiting = {pool.submit(one, cell): cell for cell in cells}
        for future in as_completed(waiting):
            cell = waiting[future]
            try:
                found[cell] = future.result()
            except BrokenProcessPool:  # one that was killed takes the cells of all with it
                found[cell] = _record(cell, problem=ENDED)
            done(found[cell])
    except BaseException:  # Ctrl-C above all: nobody waits for what nobody wants
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return found


def _begin() -> None:
    """In a process of the pool: end at Ctrl-C without a word, and with the one that asked."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _on_ray(
    one: _One, cells: Sequence[TrialCell], jobs: int, done: Done, address: str
) -> dict[TrialCell, CellRecord]:
    """Run every cell as a task of one core on Ray (https://docs.ray.io).

    The nodes of a cluster need this version of Keepsake, and configuration and files under the
    same paths.

    Raises:
        KeepsakeError: Ray is not installed, or there is no cluster at ``address``.
    """
    ray = _started_ray(address, jobs)
    try:

        def run(cell: TrialCell) -> CellRecord:
            return one(cell)

        task = ray.remote(run).options(num_cpus=1, max_retries=1)
        waiting = {task.remote(cell): cell for cell in cells}
        found: dict[TrialCell, CellRecord] = {}
        while waiting:
            (ready,), _ = ray.wait(list(waiting), num_returns=1)
            cell = waiting.pop(ready)
            try:
                found[cell] = ray.get(ready)
            except ray.exceptions.RayError:
                found[cell] = _record(cell, problem=ENDED)
            done(found[cell])
        return found
    finally:
        ray.shutdown()


def _started_ray(address: str, jobs: int) -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing phones home
    # What a task does with accelerators is its own: Ray need not hide them.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray  # noqa: PLC0415 - an extra
    except ImportError as error:
        cure = "Install it: python -m pip install 'keepsake[ray]'; or leave --ray and --address out"
        raise KeepsakeError("Ray is not installed", cure) from error
    told = f"There is no Ray cluster at {address}" if address else "Ray could not be started"
    cure = "Start a cluster with `ray start --head`, and give the address that it prints"
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    with refusing(told, cure, ValueError, RuntimeError):
        if colon and port.isdecimal():  # Ray itself waits for minutes where nobody listens
            socket.create_connection((host, int(port)), timeout=10).close()
        own = {"address": address} if address else {"num_cpus": jobs, "include_dashboard": False}
        ray.init(**own, log_to_driver=False, logging_level=logging.ERROR)
    return ray
