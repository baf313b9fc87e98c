"""A simulated world inside Evennia: it is built, and played on a timeline."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import cast
from unittest.mock import patch

from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.server import initial_setup
from evennia.server.models import ServerConfig

from game.simulation.plan import BEGINS, Lab, SimulationPlan, moment
from game.simulation.timeline import Timeline, start_on
from game.simulation.visits import Visitor, make_visitors, visits
from keepsake.contrib.evennia import lifecycle as runtime
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.minds import open_minds
from keepsake.errors import KeepsakeError
from keepsake.events.log import EventLog, Subscribers
from keepsake.events.types import Compaction, Event, Fault, MemoryChange, Thought
from keepsake.paths import places, read_or_create
from world.atlas import Atlas, Person, read_atlas
from world.build import build_world
from world.source import find

MOST_FAILURES = 12
"""Thoughts without an answer in a row, of all agents together, after which a run ends."""
TOLD_EACH = 15.0
"""Simulated seconds between two reports; the event log is waited for then: it must lose nothing."""
_PATIENCE = 600.0
"""Real seconds that the disk gets."""


# -- built


def build(plan: SimulationPlan) -> None:
    """Build the world out of Evennia's empty tables; its services do not run meanwhile."""
    password = read_or_create(places().admin_password, nbytes=12)
    # All is made at the first moment: people's ids hold the date of their making.
    with patch("django.utils.timezone.now", lambda: BEGINS):
        AccountDB.objects.create_superuser("admin", "admin@example.org", password)
        initial_setup.create_objects()
        atlas = read_atlas()
        build_world(only(atlas, dict(list(atlas.people.items())[: plan.agents])))
        # Nobody plays the admin here: its character would stand about, and be met by everybody.
        ObjectDB.objects.get(id=1).location = None
        make_visitors(plan.visitors, find("room", atlas.start))
    ServerConfig.objects.conf("last_initial_setup_step", "done")


# -- played


class SimulatedLife:
    """One run of a world.

    Args:
        lab: Its folder.
        report: Told how far it is: seconds, and what has happened.
        stop: Ends :meth:`play` at the next moment.

    Attributes:
        counts: What has happened in this run.
    """

    def __init__(
        self, lab: Lab, report: Callable[[float, Mapping[str, int]], None], stop: threading.Event
    ) -> None:
        self._lab, self._report, self._stop = lab, report, stop
        self._since = lab.lived()
        self._timeline = Timeline(moment(self._since))
        self.counts = Counter[str]()
        self._failures, self._failure = 0, ""  # thoughts without an answer in a row, and why
        self._told = self._since

    def play(self) -> None:
        """Let the world live to the end of its plan.

        Raises:
            KeepsakeError: The model is gone or the disk is full; says what to do.
        """
        timeline, plan, subscribers = self._timeline, self._lab.plan(), Subscribers()
        subscribers.on_event.append(self._count)
        shared = start_on(timeline, f"{plan.seed} {self._since:g}", places(), subscribers)
        self._log = cast("EventLog", shared.event_log)
        try:
            runtime.live(shared)
            agents = sorted(all_agents(), key=lambda agent: agent.id)
            for number in range(plan.visitors):
                visitor, rng = Visitor(number, timeline.timer), Random(f"{plan.seed} {number}")
                for begins, host, lines in visits(rng, len(agents), plan.seconds):
                    if begins >= self._since:
                        later = begins - self._since
                        timeline.timer.callLater(later, visitor.come, agents[host], lines)
            timeline.between = self._between
            timeline.run_until(plan.seconds - self._since)
            timeline.settle()
            self._check()
            for mind in open_minds():
                if mind.memory.problem is not None:
                    raise mind.memory.problem
        finally:
            runtime.stop(reload=False)
            timeline.close()
        self._log.close(_PATIENCE)
        self._check()
        self._lab.write_lived(self._since + timeline.timer.seconds())

    def _between(self) -> bool:
        """Report now and then; whether to go on."""
        now = self._since + self._timeline.timer.seconds()
        if now - self._told >= TOLD_EACH:
            self._told = now
            self._check()
            self._report(now, self.counts)
            while not self._log.flush(1.0):
                self._check()
        return not self._stop.is_set()

    def _count(self, event: Event) -> None:
        """Count an event; told in any thread, but one at a time."""
        match event:
            case Thought(outcome="no answer"):
                self.counts["unanswered"] += 1
                self._failures, self._failure = self._failures + 1, event.problem
            case Thought(completion_tokens=written) if written:
                self._failures = 0
                self.counts += Counter(thoughts=1, tokens=event.prompt_tokens + written)
            case MemoryChange(op="append"):
                self.counts["memories"] += 1
            case Compaction(number=number) if number:
                self.counts["compactions"] += 1
            case Fault():
                self.counts["faults"] += 1

    def _check(self) -> None:
        """Go on, unless the model has not answered for long, or the disk takes nothing."""
        told = cure = ""
        if self._failures >= MOST_FAILURES:
            told = f"The model has not answered {MOST_FAILURES} thoughts in a row: {self._failure}"
            cure = "Start its server"
        elif self._log.problem:
            told = f"The event log could not be written ({self._log.problem})"
            cure = "Free some disk space or mend the permissions"
        if told:
            raise KeepsakeError(told, f"{cure}, then go on: {self._lab.resume}")


def only(atlas: Atlas, people: Mapping[str, Person]) -> Atlas:
    """The world with these people alone; what others own lies where they would live."""
    things = dict(atlas.things)
    for key, thing in things.items():
        owner = atlas.people.get(thing.at)
        if owner is not None and owner.id not in people:
            things[key] = thing.model_copy(update={"at": owner.home})
    return replace(atlas, people=people, things=things)
