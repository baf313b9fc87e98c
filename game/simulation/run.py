"""Builds a simulated world in Evennia, and runs it on a timeline."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import cast
from unittest.mock import patch

from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.server import initial_setup
from evennia.server.models import ServerConfig

from game.simulation.interviewing import Interviewer
from game.simulation.measuring import Measuring, record_cast
from game.simulation.plan import Lab, moment
from game.simulation.timeline import Timeline, TimelineGateway
from game.simulation.visits import Visitor, make_visitors, visits
from keepsake.agent.starting import start_runtime
from keepsake.contrib.evennia import lifecycle as runtime
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.minds import open_minds
from keepsake.errors import KeepsakeError
from keepsake.events.log import EventLog, Subscribers
from keepsake.events.types import Compaction, Event, Fault, MemoryChange, PairTalk, Thought
from keepsake.events.values import MemoryOp, ThoughtOutcome
from keepsake.lab.simulations.plan import BEGINS, HOUR, SimulationPlan
from keepsake.paths import places, read_or_create
from world.atlas import Atlas, Villager, read_atlas
from world.build import build_world
from world.source import find

MOST_FAILURES = 12
"""Consecutive thoughts and talks without an answer, of all agents together, that end a run."""
FLUSH_INTERVAL = 15.0
PROGRESS_INTERVAL = 10.0
"""Simulated seconds between two flushes of the event log, which must not lose events; real seconds
between two lines of progress."""
_CLOSE_TIMEOUT = 600.0
"""Real seconds that closing the event log may take."""
THOUGHTS = "thoughts"
TALKS = "talks of two agents"
UNANSWERED = "thoughts without an answer"
TOKENS = "tokens"
MEMORIES = "memories"
COMPACTIONS = "compactions"
FAULTS = "warnings and errors"


# -- building


def build(plan: SimulationPlan) -> None:
    """Build the world in Evennia's empty tables; its services do not run yet."""
    password = read_or_create(places().admin_password, nbytes=12)
    # Everything gets the first moment as its date: identities contain the creation date.
    with patch("django.utils.timezone.now", lambda: BEGINS):
        AccountDB.objects.create_superuser("admin", "admin@example.org", password)
        initial_setup.create_objects()
        atlas = read_atlas()
        build_world(with_people(atlas, dict(list(atlas.people.items())[: plan.agents])))
        # Nobody plays the admin's character: take it out of the room, or all agents would meet it.
        ObjectDB.objects.get(id=1).location = None
        make_visitors(plan.visitors, find("room", atlas.start))
    ServerConfig.objects.conf("last_initial_setup_step", "done")


# -- running


class Simulation:
    """One run of a world.

    Args:
        say: Called with each line of progress.
        stop: When set, :meth:`play` ends after the current moment.
    """

    def __init__(self, lab: Lab, say: Callable[[str], None], stop: threading.Event) -> None:
        self._lab = lab
        self._plan = lab.plan()
        self._say = say
        self._stop = stop
        self._since = lab.seconds_done()
        self._flushed = self._since
        self._began = time.monotonic()
        self._said = 0.0
        self._timeline = Timeline(moment(self._since))
        names = (THOUGHTS, TALKS, TOKENS, MEMORIES, COMPACTIONS, UNANSWERED, FAULTS)
        self._counts = Counter(dict.fromkeys(names, 0))
        self._interviewed = False
        self._failures = 0
        self._failure = ""  # consecutive unanswered thoughts; the last reason

    def play(self) -> bool:
        """Run the world, and then interview its agents.

        Returns:
            Whether it reached the end of its plan, with a thought and all questions answered.

        Raises:
            KeepsakeError: The model does not answer, or the disk is full; with the cure.
        """
        timeline = self._timeline
        plan = self._plan
        subscribers = Subscribers()
        subscribers.on_event.append(self._count)
        shared = start_runtime(
            places(),
            timeline,
            subscribers,
            clock=timeline,
            gateway=lambda *what: TimelineGateway(timeline, *what),
            random=Random(f"{plan.seed} {self._since:g}"),
            **dict.fromkeys(("workers", "compactions", "nights"), timeline.workers),
        )
        shared.at_first_agent = [shared.gateway.start]  # a search indexes the words itself
        self._log = cast("EventLog", shared.event_log)
        try:
            runtime.open_agents(shared)
            agents = [member.name for member in record_cast(self._lab.folder)]
            self._plan_visits()
            Measuring(self._lab.folder, plan, timeline, self._since).schedule()
            if self._since < plan.seconds:  # else only questions are left, and nothing may happen
                timeline.run_until(plan.seconds - self._since, self._after_moment)
            timeline.settle()
            self._check()
            done = self._seconds_done()
            if done >= plan.seconds:
                self._interviewed = self._interview(agents)
            for mind in open_minds():
                if mind.memory.problem is not None:
                    raise mind.memory.problem
        finally:
            runtime.stop(reload=False)
        self._log.close(_CLOSE_TIMEOUT)
        self._check()
        self._lab.write_progress(done)
        return self._report(done)

    def _interview(self, agents: Sequence[str]) -> bool:
        """Ask the agents what the plan wants to know; return whether all is answered."""
        asker = Interviewer(self._lab.folder, self._plan, self._timeline, self._say, self._stop)
        return asker.ask_all(agents)

    def _seconds_done(self) -> float:
        return self._since + self._timeline.seconds()

    def _plan_visits(self) -> None:
        """Schedule all visits that are still to come."""
        agents = sorted(all_agents(), key=lambda agent: agent.id)
        timeline = self._timeline
        for number in range(self._plan.visitors):
            visitor = Visitor(number, timeline)
            rng = Random(f"{self._plan.seed} {number}")
            for begins, host, lines in visits(rng, len(agents), self._plan.seconds):
                if begins >= self._since:
                    come = partial(visitor.come, agents[host], lines)
                    timeline.later(begins - self._since, come)

    def _after_moment(self) -> bool:
        """Flush the log and print progress at intervals; return whether to continue."""
        now = self._seconds_done()
        counts = self._counts
        if now - self._flushed >= FLUSH_INTERVAL:
            self._flushed = now
            self._check()
            while not self._log.flush(1.0):
                self._check()
            if time.monotonic() - self._said >= PROGRESS_INTERVAL:
                self._said = time.monotonic()
                done = f"{self._plan.name}: {now / self._plan.seconds:.0%}  {_clock(now)}"
                self._say(f"{done}  {counts[THOUGHTS]:,} thoughts  {counts[TOKENS]:,} tokens")
        return not self._stop.is_set()

    def _report(self, done: float) -> bool:
        """Print a summary of the run; return whether it was successful."""
        lab = self._lab
        plan = self._plan
        rows = {
            "simulated": f"{done / HOUR:.4g} of {plan.hours:g} hours, until {_clock(done)}",
            **{what: f"{number:,}" for what, number in self._counts.items()},
            "took": f"{time.monotonic() - self._began:.0f} s",
            "log": str(lab.places.events),
            "read it": f"keepsake logs --lab {plan.name} --no-follow",
            "export": f"keepsake export --lab {plan.name} tables-{plan.name}",
            **({"continue": lab.resume} if not self._interviewed else {}),
        }
        for name, value in rows.items():
            self._say(f"{name:<28}{value}")
        answered = bool(self._counts[THOUGHTS]) or not self._counts[UNANSWERED]
        if not answered:
            self._say(f"No thought was answered: {self._failure}")
        return done >= plan.seconds and answered and self._interviewed

    def _count(self, event: Event) -> None:
        """Count an event. Called from any thread, but never from two at once."""
        match event:
            case Thought(outcome=ThoughtOutcome.NO_ANSWER):
                self._counts[UNANSWERED] += 1
                self._failures = self._failures + 1
                self._failure = event.problem
            # A server that counts no tokens answers too.
            case Thought() if event.answer or event.completion_tokens:
                self._failures = 0
                self._counts[THOUGHTS] += 1
                self._counts[TOKENS] += event.prompt_tokens + event.completion_tokens
            case PairTalk(calls=0, problem=problem) if problem:
                self._failures += 1
                self._failure = problem
            case PairTalk(calls=calls) if calls:
                self._failures = 0
                self._counts[TALKS] += 1
                self._counts[TOKENS] += event.prompt_tokens + event.completion_tokens
            case MemoryChange(op=MemoryOp.APPEND):
                self._counts[MEMORIES] += 1
            case Compaction(number=number) if number:
                self._counts[COMPACTIONS] += 1
            case Fault():
                self._counts[FAULTS] += 1

    def _check(self) -> None:
        """Raise an error if the model has stopped answering, or the log cannot be written."""
        then = f"then continue: {self._lab.resume}"
        if self._failures >= MOST_FAILURES:
            failed = f"The model has not answered {MOST_FAILURES} thoughts in a row"
            raise KeepsakeError(f"{failed}: {self._failure}", f"Start its server, {then}")
        if problem := self._log.problem:
            failed = f"The event log could not be written ({problem})"
            raise KeepsakeError(failed, f"Free some disk space or fix the permissions, {then}")


def _clock(seconds: float) -> str:
    return f"{moment(seconds) + timedelta(milliseconds=1):%A %d %B %H:%M}"


def with_people(atlas: Atlas, people: Mapping[str, Villager]) -> Atlas:
    """Return the world with only these people. Things of the others are in their owners' homes."""
    homes = {key: each.home for key, each in atlas.people.items() if key not in people}
    things = dict(atlas.things)
    for key, thing in things.items():
        if thing.at in homes:
            things[key] = thing.model_copy(update={"at": homes[thing.at]})
    return replace(atlas, people=people, things=things)
