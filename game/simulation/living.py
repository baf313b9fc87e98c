"""A simulated world inside Evennia: it is built, and played on a timeline."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import cast
from unittest.mock import patch

from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.server import initial_setup
from evennia.server.models import ServerConfig

from game.simulation.plan import BEGINS, HOUR, Lab, SimulationPlan, moment
from game.simulation.timeline import Timeline, TimelineGateway
from game.simulation.visits import Visitor, make_visitors, visits
from keepsake.agent.runtime import start
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
TOLD_EACH, LINE_SECONDS = 15.0, 10.0
"""Simulated seconds after which the event log is waited for, which must lose nothing; real seconds
between two lines."""
_PATIENCE = 600.0
"""Real seconds that the disk gets."""
THOUGHTS, UNANSWERED = "thoughts", "thoughts without an answer"
TOKENS, MEMORIES, COMPACTIONS, FAULTS = "tokens", "memories", "compactions", "warnings and errors"


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
        say: Told how far it is, a line at a time.
        stop: Ends :meth:`play` at the next moment.
    """

    def __init__(self, lab: Lab, say: Callable[[str], None], stop: threading.Event) -> None:
        self._lab, self._plan, self._say, self._stop = lab, lab.plan(), say, stop
        self._since = self._waited = lab.lived()
        self._began, self._said = time.monotonic(), 0.0
        self._timeline = Timeline(moment(self._since))
        named = (THOUGHTS, TOKENS, MEMORIES, COMPACTIONS, UNANSWERED, FAULTS)
        self._counts = Counter(dict.fromkeys(named, 0))
        self._failures, self._failure = 0, ""  # thoughts without an answer in a row, and why

    def play(self) -> bool:
        """Let the world live to the end of its plan; whether it did, and somebody was answered.

        Raises:
            KeepsakeError: The model is gone or the disk is full; says what to do.
        """
        timeline, plan, subscribers = self._timeline, self._plan, Subscribers()
        subscribers.on_event.append(self._count)
        shared = start(
            places(),
            timeline.timer,
            timeline.post,
            subscribers,
            clock=timeline,
            gateway=lambda *what: TimelineGateway(timeline, *what),
            random=Random(f"{plan.seed} {self._since:g}"),
            **dict.fromkeys(("workers", "compactions", "nights"), timeline.workers),
        )
        shared.at_first_agent = [shared.gateway.start]  # words are indexed by who searches
        self._log = cast("EventLog", shared.event_log)
        try:
            runtime.open_agents(shared)
            self._invite()
            timeline.run_until(plan.seconds - self._since, self._between)
            timeline.settle()
            self._check()
            for mind in open_minds():
                if mind.memory.problem is not None:
                    raise mind.memory.problem
        finally:
            runtime.stop(reload=False)
        self._log.close(_PATIENCE)
        self._check()
        lived = self._lived()
        self._lab.write_lived(lived)
        return self._told(lived)

    def _lived(self) -> float:
        return self._since + float(self._timeline.timer.seconds())

    def _invite(self) -> None:
        """Plan all visits."""
        agents, timer = sorted(all_agents(), key=lambda agent: agent.id), self._timeline.timer
        for number in range(self._plan.visitors):
            visitor, rng = Visitor(number, timer), Random(f"{self._plan.seed} {number}")
            for begins, host, lines in visits(rng, len(agents), self._plan.seconds):
                if begins >= self._since:
                    timer.callLater(begins - self._since, visitor.come, agents[host], lines)

    def _between(self) -> bool:
        """Wait for the log and say how far it is, now and then; whether to go on."""
        now, counts = self._lived(), self._counts
        if now - self._waited >= TOLD_EACH:
            self._waited = now
            self._check()
            while not self._log.flush(1.0):
                self._check()
            if time.monotonic() - self._said >= LINE_SECONDS:
                self._said = time.monotonic()
                done = f"{self._plan.name}: {now / self._plan.seconds:.0%}  {_clock(now)}"
                self._say(f"{done}  {counts[THOUGHTS]:,} thoughts  {counts[TOKENS]:,} tokens")
        return not self._stop.is_set()

    def _told(self, lived: float) -> bool:
        """Say what has happened; whether all went well."""
        lab, plan = self._lab, self._plan
        rows = {
            "lived": f"{lived / HOUR:.4g} of {plan.hours:g} hours, until {_clock(lived)}",
            **{what: f"{number:,}" for what, number in self._counts.items()},
            "took": f"{time.monotonic() - self._began:.0f} s",
            "log": str(lab.places.events),
            "look": f"keepsake logs --lab {plan.name} --no-follow",
            "tables": f"keepsake export --lab {plan.name} tables-{plan.name}",
            **({"go on": lab.resume} if lived < plan.seconds else {}),
        }
        for what, told in rows.items():
            self._say(f"{what:<28}{told}")
        answered = bool(self._counts[THOUGHTS]) or not self._counts[UNANSWERED]
        if not answered:
            self._say(f"No thought was answered: {self._failure}")
        return lived >= plan.seconds and answered

    def _count(self, event: Event) -> None:
        """Count an event; told in any thread, but one at a time."""
        match event:
            case Thought(outcome="no answer"):
                self._counts[UNANSWERED] += 1
                self._failures, self._failure = self._failures + 1, event.problem
            case Thought(completion_tokens=written) if written:
                self._failures = 0
                self._counts[THOUGHTS] += 1
                self._counts[TOKENS] += event.prompt_tokens + written
            case MemoryChange(op="append"):
                self._counts[MEMORIES] += 1
            case Compaction(number=number) if number:
                self._counts[COMPACTIONS] += 1
            case Fault():
                self._counts[FAULTS] += 1

    def _check(self) -> None:
        """Go on, unless the model has not answered for long, or the disk takes nothing."""
        then = f"then go on: {self._lab.resume}"
        if self._failures >= MOST_FAILURES:
            told = f"The model has not answered {MOST_FAILURES} thoughts in a row: {self._failure}"
            raise KeepsakeError(told, f"Start its server, {then}")
        if problem := self._log.problem:
            told = f"The event log could not be written ({problem})"
            raise KeepsakeError(told, f"Free some disk space or fix the permissions, {then}")


def _clock(seconds: float) -> str:
    return f"{moment(seconds) + timedelta(milliseconds=1):%A %d %B %H:%M}"


def only(atlas: Atlas, people: Mapping[str, Person]) -> Atlas:
    """The world with these people alone; what others own lies where they would live."""
    homes = {key: each.home for key, each in atlas.people.items() if key not in people}
    things = dict(atlas.things)
    for key, thing in things.items():
        if thing.at in homes:
            things[key] = thing.model_copy(update={"at": homes[thing.at]})
    return replace(atlas, people=people, things=things)
