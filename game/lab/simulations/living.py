"""What happens in a simulated world, inside Evennia: it is built, and lives for an hour."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from game.lab.simulations.backdating import begin_world, finish_world
from game.lab.simulations.inhabitants import atlas_for
from game.lab.simulations.machinery import machinery, timeline_from
from game.lab.simulations.past import Past
from game.lab.simulations.plan import SimulationPlan
from game.lab.simulations.players import Visitors, make_visitors
from game.lab.simulations.visits import visits
from keepsake.agent import services
from keepsake.agent.memory.named import PROFILE_FILE, name_memory
from keepsake.errors import KeepsakeError
from keepsake.events.files import wait_until_packed
from keepsake.events.log import EventLog
from keepsake.events.subscribers import Taps
from keepsake.events.types import Compaction, Event, Fault, MemoryChange, Thought
from keepsake.paths import places
from typeclasses import runtime
from typeclasses.agents import all_agents
from typeclasses.minds import open_minds
from world.atlas import read_atlas
from world.build import find
from world.scenes import read_scenes

MOST_FAILURES = 12
"""Thoughts without an answer in a row, of whatever agents, after which nobody waits any more."""
TOLD_EACH = 0.2
"""Real seconds between two reports."""
FLUSH_EACH = 60.0
"""Simulated seconds after which the event log is waited for: it must lose nothing."""
_PATIENCE = 600.0
"""Real seconds that the disk gets."""


class EventTally:
    """Counts the events of one stretch; told in any thread."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(
            ("thoughts", "tokens", "memories", "compactions", "unanswered", "faults"), 0
        )
        self._in_a_row, self._problem = 0, ""

    def count(self, event: Event) -> None:
        """Count an event."""
        with self._lock:
            if isinstance(event, Thought):
                self._thought(event)
            elif isinstance(event, MemoryChange) and event.op == "append":
                self._counts["memories"] += 1
            elif isinstance(event, Compaction) and event.number:
                self._counts["compactions"] += 1
            elif isinstance(event, Fault):
                self._counts["faults"] += 1

    def figures(self) -> dict[str, int]:
        """The counts so far."""
        with self._lock:
            return dict(self._counts)

    def check(self) -> None:
        """Go on.

        Raises:
            KeepsakeError: The model has not answered for a long time.
        """
        with self._lock:
            gone, problem = self._in_a_row >= MOST_FAILURES, self._problem
        if gone:
            raise KeepsakeError(
                f"The model has not answered {MOST_FAILURES} thoughts in a row: {problem}",
                f"Start its server, then go on: keepsake simulate --resume {self._name}",
            )

    def _thought(self, event: Thought) -> None:
        if event.outcome == "no answer":
            self._counts["unanswered"] += 1
            self._in_a_row, self._problem = self._in_a_row + 1, event.problem
        elif event.completion_tokens:
            self._in_a_row = 0
            self._counts["thoughts"] += 1
            self._counts["tokens"] += event.prompt_tokens + event.completion_tokens


def build(plan: SimulationPlan) -> None:
    """Build the world with all who live in it; its services do not run meanwhile."""
    atlas = atlas_for(read_atlas(), plan.agents, plan.seed, plan.villages)
    begin_world(atlas)
    make_visitors(plan.visitors, find("room", atlas.start))
    finish_world(plan.begins)
    for agent in all_agents() if plan.memory else ():
        name_memory(places().agents / agent.memory_folder / PROFILE_FILE, plan.memory)


def live(
    plan: SimulationPlan,
    since: float,
    until: float,
    past: Past,
    tell: Callable[[dict[str, object]], None],
) -> dict[str, int]:
    """Let the world live from one second of the simulation to another.

    Its minds are opened at the beginning and closed at the end, as at a reload of the game, so
    that it makes no difference whether a simulation goes on at once or later. What of it a fork
    has in common with its original is lived by the ``past``.

    Returns:
        What has happened, counted.

    Raises:
        KeepsakeError: The model is gone or the disk is full; says what to do.
    """
    timeline = timeline_from(plan.moment(since), "The simulation")
    taps, tally = Taps(), EventTally(plan.name)
    taps.on_event(tally.count)
    hands = machinery(timeline, f"{plan.seed} {since:g}", past.answers)
    shared = services.start_on(hands, past.places(places()), taps)
    shared.scenes = read_scenes()
    told, flushed = 0.0, 0.0

    def report(seconds: float) -> None:
        tell({**tally.figures(), "seconds": seconds, "moment": plan.moment(seconds).isoformat()})

    def between() -> None:
        nonlocal told, flushed
        if time.monotonic() - told >= TOLD_EACH:
            told = time.monotonic()
            tally.check()
            report(since + timeline.timer.seconds())
        if timeline.timer.seconds() - flushed >= FLUSH_EACH:
            flushed = timeline.timer.seconds()
            _flush(shared, plan.name)

    try:
        runtime.live(shared)
        agents = sorted(all_agents(), key=lambda agent: agent.id)
        visitors = Visitors(timeline, agents, since)
        visitors.expect(visits(plan.seed, plan.visitors, len(agents), since, until))
        timeline.between = between
        for moment in past.moments():
            timeline.run_until(min(moment, until) - since)
        timeline.run_until(until - since)
        timeline.settle()
        tally.check()
        _check_minds()
    finally:
        runtime.stop(reload=True)
        timeline.close()
    _check_log(shared, plan.name)
    report(until)
    return tally.figures()


def _flush(shared: services.Services, name: str) -> None:
    """Wait until the event log is written as far as it was taken."""
    log = shared.event_log
    while log is not None and not log.flush(1.0):
        if log.problem:
            raise _unwritten(log, name)


def _check_minds() -> None:
    for mind in open_minds():
        if mind.memory.problem is not None:
            raise mind.memory.problem


def _check_log(shared: services.Services, name: str) -> None:
    """See to it that every line is with the disk, and old files are packed."""
    log = shared.event_log
    if log is None:
        return
    log.close(_PATIENCE)
    if log.problem:
        raise _unwritten(log, name)
    wait_until_packed(_PATIENCE)


def _unwritten(log: EventLog, name: str) -> KeepsakeError:
    return KeepsakeError(
        f"The event log in {log.folder} could not be written ({log.problem})",
        "Free some disk space or mend the permissions, then go on: "
        f"keepsake simulate --resume {name}",
    )
