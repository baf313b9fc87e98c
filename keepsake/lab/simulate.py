"""Simulations from outside: created, run in a process of their own, resumed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from random import Random
from typing import IO, Any, cast

from keepsake.agent.agent_log import log
from keepsake.agent.runtime import Changed, Runtime, start
from keepsake.child import LOOPBACK, in_use
from keepsake.errors import KeepsakeError, ModelUnavailable, refusing
from keepsake.events.log import Subscribers
from keepsake.lab.simulation import FOLDER, Lab, SimulationPlan, lab_of, write_config
from keepsake.lab.timeline import Timeline
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import AGENT, NO_MODEL, SCRIPTED, Profiles
from keepsake.paths import DATABASE_URL, REPOSITORY, Places, Ports
from keepsake.recall.service import IndexService

# -- inside the process of a simulation


def start_on(timeline: Timeline, seed: str, places: Places, subscribers: Subscribers) -> Runtime:
    """Start what the agents of a simulation run on."""
    return start(
        places,
        timeline.timer,
        timeline.post,
        subscribers,
        clock=timeline,
        random=Random(seed),
        workers=timeline.workers,
        compactions=timeline.workers,
        nights=timeline.workers,
        gateway=lambda *what: TimelineGateway(timeline, *what),
        indexes=lambda places, chroma, embedder: TimelineIndexes(places, chroma, embedder, log),
    )


class TimelineGateway(Gateway):
    """The way to the models, on a timeline: whoever waits for an answer lets the others on."""

    def __init__(
        self, timeline: Timeline, profiles: Profiles, places: Places, changed: Changed
    ) -> None:
        super().__init__(
            profiles,
            places,
            timeline.post,
            changed=changed,
            executor=timeline.models,
            clock=timeline.timer.seconds,
        )
        self._timeline = timeline

    def start(self) -> None:
        """Start what has to run; where no server is asked, nobody looks after one."""
        used = {profile.provider for profile in self.profiles.current.values()}
        if self.profiles.get(AGENT).provider != SCRIPTED or not used <= {SCRIPTED, NO_MODEL}:
            super().start()
            # Here, and not when the watcher comes to it: prompts depend on what a server takes.
            self.look()
        self._owner = 0  # there is but one thread, which may wait

    def _came(self, future: Future[Any]) -> bool:
        """Whether the result is there; meanwhile the calls to models go on."""
        if not (future.done() or self._closed or self._timeline.step(work=False)):
            raise ModelUnavailable("No model is at work on the call", "Ask again")
        return future.done()


class TimelineIndexes(IndexService):
    """The recall indexes on a timeline: words are indexed by who searches, in its turn."""

    def start(self) -> None:
        """Nothing runs beside the timeline."""


# -- outside

WORKER = "game.simulation.worker"
"""The module that builds and plays the world, run as a process: the village's."""
LOG = "worker.log"
OVER, REFUSED = "over", "refused"
"""Reports with which a process ends."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_GRACE = 10.0
_PORT_BASES = range(26_000, 65_000, 10)


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """How far a simulation is."""

    op: str  # ``setting up``, ``making``, ``at`` (under way), ``over``
    seconds: float  # seconds of the simulation
    counts: Counter[str]  # what has happened in this run: ``thoughts``, ``tokens`` …
    pid: int  # of its process; SIGTERM ends it at its next moment


def create(places: Places, plan: SimulationPlan) -> Lab:
    """Make the folder of a new simulation; its world is made when it is first run.

    Without a name it is called after its seed: ``seed-7``.

    Raises:
        KeepsakeError: There is one of that name, or a value cannot be used.
    """
    name = plan.name or f"seed-{plan.seed}"
    if not _NAME.fullmatch(name):
        cure = "Use letters, digits, dots, dashes and underscores; it becomes a folder's name"
        raise KeepsakeError(f"{name!r} is no name for a simulation", cure)
    lab = Lab(places.home / FOLDER / name)
    if lab.folder.exists():
        told = f"There is a simulation {name!r} already"
        raise KeepsakeError(told, f"Continue it ({lab.resume}), or choose another name")
    cure = "Free some disk space or mend the permissions"
    with (
        refusing(f"The simulation could not be made in {lab.folder}", cure),
        ExitStack() as failed,
    ):
        failed.callback(shutil.rmtree, lab.folder, ignore_errors=True)
        lab.places.logs.mkdir(parents=True)
        lab.places.vault.mkdir()
        write_config(places, lab.places.config, plan)
        lab.write_plan(replace(plan, name=name))
        failed.pop_all()
    return lab


def resumed(places: Places, name: str, hours: float | None = None) -> Lab:
    """The simulation of that name, ready to go on; ``hours`` is its new length, from its start.

    Raises:
        KeepsakeError: There is none, or it is over already.
    """
    lab = lab_of(places, name)
    plan = lab.plan()
    plan = replace(plan, hours=hours or plan.hours)
    if lab.lived() >= plan.seconds:
        raise KeepsakeError(
            f"The simulation {name!r} has lived its {plan.hours:g} hours",
            f"Give it more: {lab.resume} --hours {plan.hours + 24:g}",
        )
    lab.write_plan(plan)
    return lab


def run(lab: Lab) -> Generator[SimulationReport, None, None]:
    """Run a simulation in a process of its own, and tell how far it is until it ends.

    Closing the iterator ends the process at once.

    Raises:
        KeepsakeError: It could not go on; says why, and what to do.
    """
    path, over = lab.folder / LOG, False
    cure = "Run it as the user who made it, or mend the permissions"
    with refusing(f"{path} could not be written", cure), path.open("a") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", WORKER, str(lab.folder)],
            cwd=REPOSITORY,
            env=_environ(lab),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,  # the command line decides what Ctrl-C means
        )
    try:
        for line in cast("IO[str]", process.stdout):
            with suppress(ValueError):  # something that some library printed
                found = json.loads(line)
                over = found["op"] in (OVER, REFUSED)
                if found["op"] == REFUSED:
                    raise KeepsakeError(found["what"], found["cure"])
                counts = Counter[str](found["counts"])
                yield SimulationReport(found["op"], found["seconds"], counts, process.pid)
        if not over:
            cure = f"See {path}; `{lab.resume}` goes on"
            raise KeepsakeError("The simulation ended without a word", cure)
    finally:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE if over else 0.0)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with its children
        process.wait()
        cast("IO[str]", process.stdout).close()


def _environ(lab: Lab) -> dict[str, str]:
    free = (base for base in _PORT_BASES if not in_use(Ports(base).model))
    return {
        **os.environ,
        "KEEPSAKE_HOME": str(lab.places.home),
        "KEEPSAKE_VAULT": str(lab.places.vault),
        "KEEPSAKE_LISTEN": LOOPBACK,
        DATABASE_URL: "",  # a database of its own, in its home
        # For models in processes of their own, beside those of a world that may be running.
        "KEEPSAKE_PORT_BASE": str(next(free, _PORT_BASES[0])),
        "DJANGO_SETTINGS_MODULE": "game.server.conf.settings",
        "PYTHONPATH": str(REPOSITORY),
        "PYTHONHASHSEED": "0",
        "TZ": "UTC",
    }
