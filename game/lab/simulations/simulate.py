"""Simulations from outside: made, run in a process of their own, resumed, looked at."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO

from game.lab.simulations import checkpoints
from game.lab.simulations.plan import FOLDER, Lab, SimulationPlan, checked, lab_of, longer
from game.lab.simulations.played import refuse_if_played
from game.lab.simulations.serving import check_servers
from game.lab.simulations.settings import check_model, copy_config
from game.mind.errors import KeepsakeError
from game.paths import REPOSITORY, Places, Ports

LOG = "worker.log"
_GRACE = 10.0
_FIRST_BASE, _LAST_BASE = 26000, 28000
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """How far a simulation is."""

    # ``setting up``, ``making``, ``going back``, ``at`` (in the middle of an hour), ``checkpoint``,
    # ``over``
    op: str
    seconds: float  # seconds of the simulation
    moment: str  # the time by its own clock, in ISO format; empty where it is not told
    # what has happened in the hour that is lived: ``thoughts``, ``tokens`` …
    counts: dict[str, int]


def create(places: Places, plan: SimulationPlan) -> Lab:
    """Make the folder of a new simulation; its world is made when it is first run.

    Raises:
        KeepsakeError: There is one of that name, a value cannot be used, or the model's server
            does not answer.
    """
    checked(plan)
    check_model(plan.model)
    lab = lab_of(places, plan.name)
    if lab.folder.exists():
        raise KeepsakeError(
            f"There is a simulation {plan.name!r} already",
            f"Go on with it (keepsake simulate --resume {plan.name}), or choose another name",
        )
    # It appears whole or not at all.
    part = Lab(places.home / FOLDER / f".{plan.name}.part")
    try:
        shutil.rmtree(part.folder, ignore_errors=True)
        (part.home / "logs").mkdir(parents=True)
        part.vault.mkdir()
        copy_config(places.config, part.vault / "config", plan.model, plan.seed, places.models)
        check_servers(part)
        part.write_plan(plan)
        part.folder.rename(lab.folder)
    except OSError as error:
        raise KeepsakeError(
            f"The simulation could not be made in {lab.folder} ({error.strerror})",
            "Free some disk space or mend the permissions",
        ) from error
    finally:
        shutil.rmtree(part.folder, ignore_errors=True)
    return lab


def resumed(places: Places, name: str, hours: float | None = None, *, back: bool = False) -> Lab:
    """The simulation of that name, to go on with.

    Raises:
        KeepsakeError: There is none, it is over already, somebody has played in its world, or
            its model does not answer.
    """
    lab = lab_of(places, name)
    old = lab.plan()
    plan = longer(old, hours)
    if lab.made and lab.lived() >= plan.seconds:
        raise KeepsakeError(
            f"The simulation {name!r} has lived its {plan.hours:g} hours",
            f"Give it more: keepsake simulate --resume {name} --hours {plan.hours + 24:g}",
        )
    if back and checkpoints.there(lab):
        checkpoints.begin(lab)  # whoever lives it goes back first
    else:
        refuse_if_played(lab)
    check_servers(lab)
    if plan != old:
        lab.write_plan(plan)
    return lab


class Run:
    """One run of a simulation, in a process of its own.

    Used as a context manager; whoever leaves it ends the process. Iterate over
    :meth:`reports` to follow it.
    """

    def __init__(self, lab: Lab, environ: dict[str, str] | None = None) -> None:
        self.lab = lab
        self._plan = lab.plan()
        self._environ = environment_of(lab, self._plan, environ or dict(os.environ))
        self._process: subprocess.Popen[str] | None = None
        self._over = False

    def __enter__(self) -> Run:
        with self._log() as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "game.lab.simulations.worker", str(self.lab.folder)],
                cwd=REPOSITORY,
                env=self._environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # Ctrl-C is ours to handle
            )
        return self

    def _log(self) -> TextIO:
        path = self.lab.folder / LOG
        try:
            return path.open("a", encoding="utf-8")
        except OSError as error:
            raise KeepsakeError(
                f"{path} could not be written ({error.strerror or error})",
                "Run it as the user who made it, or mend the permissions",
            ) from error

    def __exit__(self, *_: object) -> None:
        """End it: by itself if it is over, else at once, with the hour that it lives."""
        process = self._process
        if process is None:
            return
        try:
            process.wait(_GRACE if self._over else 0.0)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its own group: it was started as one
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process is not None, "it has not been started"
        return self._process.pid

    def stop_soon(self) -> None:
        """Have it end at the next checkpoint."""
        process = self._process
        if process is not None and process.stdin is not None:
            try:
                process.stdin.write("stop\n")
                process.stdin.flush()
            except BrokenPipeError:  # it is over already
                return

    def reports(self) -> Iterator[SimulationReport]:
        """How far it is, until it ends.

        Raises:
            KeepsakeError: It could not go on; says why, and what to do.
        """
        output = self._process.stdout if self._process is not None else None
        assert output is not None, "it has not been started"
        for line in output:
            try:
                told = json.loads(line)
            except ValueError:  # something that some library printed
                continue
            self._over = told.get("op") in {"over", "refused"}
            if told.get("op") == "refused":
                raise KeepsakeError(told["what"], told["cure"])
            yield _report(told)
            if self._over:
                return
        raise KeepsakeError(
            "The simulation ended without a word",
            f"See {self.lab.folder / LOG}; `keepsake simulate --resume {self.lab.folder.name}` "
            "goes on at the last checkpoint",
        )


def run(lab: Lab, told: Callable[[SimulationReport], None] = lambda _: None) -> None:
    """Run a simulation to its end.

    Raises:
        KeepsakeError: It could not go on.
    """
    with Run(lab) as running:
        for report in running.reports():
            told(report)


def _report(told: dict[str, Any]) -> SimulationReport:
    counts = {k: v for k, v in told.items() if isinstance(v, int) and k != "seconds"}
    return SimulationReport(
        str(told.get("op", "")),
        float(told.get("seconds", 0.0)),
        str(told.get("moment", "")),
        counts,
    )


def _free_base() -> int:
    """Ports for a model in a process of its own, beside those of a world that may be running."""
    for base in range(_FIRST_BASE, _LAST_BASE, 10):
        ports = Ports(base)
        if _is_free(ports.model) and _is_free(ports.vectors):
            return base
    raise KeepsakeError(
        f"All ports from {_FIRST_BASE} to {_LAST_BASE} are taken", "End what listens there"
    )


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def environment_of(lab: Lab, plan: SimulationPlan, environ: dict[str, str]) -> dict[str, str]:
    """The environment of its process: the same wherever it is run."""
    return {
        **environ,
        **dict.fromkeys(_ONE_THREAD, "1"),
        "KEEPSAKE_HOME": str(lab.home),
        "KEEPSAKE_VAULT": str(lab.vault),
        "KEEPSAKE_LISTEN": "127.0.0.1",
        "KEEPSAKE_PORT_BASE": str(_free_base()),
        "DJANGO_SETTINGS_MODULE": "game.server.conf.settings",
        "PYTHONPATH": str(REPOSITORY),
        "PYTHONHASHSEED": "0",
        "TZ": plan.zone,
    }
