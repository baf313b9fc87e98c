"""Simulations from outside: created, run in a process of their own, resumed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import IO, Self, cast

from keepsake.agent.agent_log import log
from keepsake.agent.runtime import Changed, Runtime, start
from keepsake.child import LOOPBACK, refusal
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.log import Subscribers
from keepsake.lab.answering import check_servers
from keepsake.lab.simulations.plan import (
    FOLDER,
    Lab,
    SimulationPlan,
    checked,
    free_name,
    lab_of,
)
from keepsake.lab.simulations.settings import copy_config, model_entries, write_settings
from keepsake.lab.simulations.timeline import Timeline
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import EXTRACTIVE, SCRIPTED, Profiles
from keepsake.paths import DATABASE_URL, REPOSITORY, Places, Ports
from keepsake.ports import Generation
from keepsake.recall.service import IndexService


def start_on(timeline: Timeline, seed: str, places: Places, subscribers: Subscribers) -> Runtime:
    """Start what the agents of a simulation run on."""
    return start(
        places,
        timeline.timer,
        timeline.post,
        subscribers,
        clock=timeline,
        random=Random(seed),
        workers=timeline.workers(),
        compactions=timeline.workers(),
        nights=timeline.workers(),
        gateway=lambda *what: TimelineGateway(timeline, *what),
        indexes=lambda places, chroma, embedder: TimelineIndexes(places, chroma, embedder, log),
    )


class TimelineGateway(Gateway):
    """The way to the models, on a timeline: who asks from a worker thread lets the others on."""

    def __init__(
        self, timeline: Timeline, profiles: Profiles, places: Places, changed: Changed
    ) -> None:
        super().__init__(
            profiles,
            places,
            timeline.post,
            os.environ,
            changed=changed,
            executor=timeline.models(),
            clock=timeline.timer.seconds,
        )
        self._timeline = timeline

    def start(self) -> None:
        """Start what has to run; where no server is asked, nobody looks after one."""
        if {profile.provider for profile in self.profiles.current.values()} <= {
            SCRIPTED,
            EXTRACTIVE,
        }:
            self._owner = threading.get_ident()
        else:
            super().start()
            # Here, and not when the watcher comes to it: prompts depend on what a server takes.
            self.look()

    def _result(self, future: Future[Generation], given_up: threading.Event | None) -> Generation:
        """As :meth:`Gateway._result`; meanwhile others have their turn.

        The asking thread yields once the question is posted, and not before: else the order of
        questions would depend on how the machine runs its threads.
        """
        with self._timeline.asking() as asker:
            future.add_done_callback(lambda _: asker.answered())
            return super()._result(future, given_up)


class TimelineIndexes(IndexService):
    """The recall indexes on a timeline: words are indexed by who searches, in its turn."""

    def start(self) -> None:
        """Nothing runs beside the timeline, but for a server of vectors where one is wanted."""
        if self.server is not None:
            super().start()


WORKER = "game.simulation.worker"
"""The module that builds and plays the world, run as a process: the village's."""
LOG = "worker.log"
OVER, REFUSED = "over", "refused"
"""Reports with which a process ends."""
_GRACE = 10.0
_PORT_BASES = range(26_000, 65_000, 10)
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """How far a simulation is."""

    op: str  # ``setting up``, ``making``, ``at`` (under way), ``over``
    seconds: float  # seconds of the simulation
    counts: Counter[str]  # what has happened in this run: ``thoughts``, ``tokens`` …


def create(places: Places, plan: SimulationPlan) -> Lab:
    """Make the folder of a new simulation; its world is made when it is first run.

    Without a name it gets one that is free.

    Raises:
        KeepsakeError: There is one of that name, a value cannot be used, or the model's server
            does not answer.
    """
    checked(plan := replace(plan, name=plan.name or free_name(places, plan.seed)))
    model_entries(plan.model, plan.seed)
    lab = lab_of(places, plan.name)
    if lab.folder.exists():
        raise KeepsakeError(
            f"There is a simulation {plan.name!r} already",
            f"Go on with it ({lab.resume}), or choose another name",
        )
    # It appears whole or not at all.
    part = Lab(places.home / FOLDER / f".{plan.name}.part")
    cure = "Free some disk space or mend the permissions"
    with refusing(f"The simulation could not be made in {lab.folder}", cure):
        try:
            shutil.rmtree(part.folder, ignore_errors=True)
            (part.home / "logs").mkdir(parents=True)
            part.vault.mkdir()
            copy_config(places.config, part.vault / "config", plan.model, plan.seed, places.models)
            write_settings(part.vault / "config", plan.settings)
            check_servers(part.places())
            part.write_plan(plan)
            part.folder.rename(lab.folder)
        finally:
            shutil.rmtree(part.folder, ignore_errors=True)
    return lab


def resumed(places: Places, name: str, hours: float | None = None) -> Lab:
    """The simulation of that name, ready to go on; ``hours`` is its new length, from its start.

    Raises:
        KeepsakeError: There is none, it is over already, somebody has played in its world, or
            its model does not answer.
    """
    lab = lab_of(places, name)
    old = lab.plan()
    plan = old if hours is None else checked(replace(old, hours=hours))
    if lab.lived() >= plan.seconds:
        raise KeepsakeError(
            f"The simulation {name!r} has lived its {plan.hours:g} hours",
            f"Give it more: {lab.resume} --hours {plan.hours + 24:g}",
        )
    check_servers(lab.places())
    if plan != old:
        lab.write_plan(plan)
    return lab


class Run:
    """One run of a simulation in a process of its own, ended by leaving the context.

    :meth:`reports` follows it.
    """

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self._process: subprocess.Popen[str]  # once the context is entered
        self._over = False

    def __enter__(self) -> Self:
        path = self.lab.folder / LOG
        cure = "Run it as the user who made it, or mend the permissions"
        with refusing(f"{path} could not be written", cure), path.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", WORKER, str(self.lab.folder)],
                cwd=REPOSITORY,
                env=_environ(self.lab),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # the command line decides what Ctrl-C means
            )
        return self

    def __exit__(self, *_: object) -> None:
        """End it: by itself if it is over, else at once, with all its children."""
        process = self._process
        try:
            process.wait(_GRACE if self._over else 0.0)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # its own group: it was started as one
            process.wait()
        cast("IO[str]", process.stdout).close()

    @property
    def pid(self) -> int:
        """The number of its process; SIGTERM ends it at its next moment."""
        return self._process.pid

    def reports(self) -> Iterator[SimulationReport]:
        """How far it is, until it ends.

        Raises:
            KeepsakeError: It could not go on; says why, and what to do.
        """
        for line in cast("IO[str]", self._process.stdout):
            try:
                found = json.loads(line)
            except ValueError:  # something that some library printed
                continue
            self._over = found["op"] in (OVER, REFUSED)
            if found["op"] == REFUSED:
                raise KeepsakeError(found["what"], found["cure"])
            yield SimulationReport(found["op"], found["seconds"], Counter(found["counts"]))
            if self._over:
                return
        cure = f"See {self.lab.folder / LOG}; `{self.lab.resume}` goes on"
        raise KeepsakeError("The simulation ended without a word", cure)


def run(lab: Lab, told: Callable[[SimulationReport], None] = lambda _: None) -> None:
    """Run a simulation to its end.

    Raises:
        KeepsakeError: It could not go on.
    """
    with Run(lab) as running:
        for report in running.reports():
            told(report)


def _environ(lab: Lab) -> dict[str, str]:
    free = (base for base in _PORT_BASES if not _taken(base))
    return {
        **os.environ,
        **dict.fromkeys(_ONE_THREAD, "1"),
        "KEEPSAKE_HOME": str(lab.home),
        "KEEPSAKE_VAULT": str(lab.vault),
        "KEEPSAKE_LISTEN": LOOPBACK,
        DATABASE_URL: "",  # a database of its own, in its home
        # For models in processes of their own, beside those of a world that may be running.
        "KEEPSAKE_PORT_BASE": str(next(free, _PORT_BASES[0])),
        "DJANGO_SETTINGS_MODULE": "game.server.conf.settings",
        "PYTHONPATH": str(REPOSITORY),
        "PYTHONHASHSEED": "0",
        "TZ": lab.plan().zone,
    }


def _taken(base: int) -> bool:
    return any(refusal("", port) is not None for port in (Ports(base).model, Ports(base).vectors))
