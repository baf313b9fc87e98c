"""Runs cells as tasks of Ray, on this machine or on a cluster (https://docs.ray.io)."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Sequence
from typing import Any

from keepsake.errors import KeepsakeError, refusing
from keepsake.lab.sweeps.record import CellRecord, record_of
from keepsake.lab.sweeps.work import ENDED, Done, SweepWork
from keepsake.lab.trials.cell import TrialCell


def run_on_ray(
    work: SweepWork, cells: Sequence[TrialCell], jobs: int, done: Done, address: str = ""
) -> dict[TrialCell, CellRecord]:
    """Run every cell, each as a task of one core; blocks.

    The nodes of a cluster need this version of Keepsake, and configuration and files under the
    same paths.

    Raises:
        KeepsakeError: Ray is not installed, or there is no cluster at ``address``.
    """
    ray = _started(address, jobs)
    try:
        task = ray.remote(_one).options(num_cpus=1, max_retries=1)
        shared = ray.put(work)
        waiting = {task.remote(shared, cell): cell for cell in cells}
        found: dict[TrialCell, CellRecord] = {}
        while waiting:
            (ready,), _ = ray.wait(list(waiting), num_returns=1)
            cell = waiting.pop(ready)
            try:
                found[cell] = ray.get(ready)
            except ray.exceptions.RayError:
                found[cell] = record_of(cell, problem=ENDED)
            done(found[cell])
        return found
    finally:
        ray.shutdown()


def _one(work: SweepWork, cell: TrialCell) -> CellRecord:
    with work.opened() as one:
        return one(cell)


def _require_listener(address: str) -> None:
    """Ray itself waits for minutes where nobody listens."""
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdecimal():
        cure = "Start a cluster with `ray start --head`, and give the address that it prints"
        with refusing(f"There is no Ray cluster at {address}", cure):
            socket.create_connection((host, int(port)), timeout=10).close()


def _started(address: str, jobs: int) -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing phones home
    # What a task does with accelerators is its own: Ray need not hide them.
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray  # noqa: PLC0415 - an extra
    except ImportError as error:
        cure = "Install it: python -m pip install 'keepsake[ray]'; or leave --ray and --address out"
        raise KeepsakeError("Ray is not installed", cure) from error
    _require_listener(address)
    own: dict[str, Any] = {"address": address}
    if not address:
        own = {"num_cpus": jobs, "include_dashboard": False}
    try:
        ray.init(**own, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ValueError, RuntimeError) as error:
        told = f"There is no Ray cluster at {address}" if address else "Ray could not be started"
        cure = "Start one with `ray start --head`, and give its address"
        raise KeepsakeError(f"{told} ({error})", cure) from error
    return ray
