"""What happens in a simulated world, inside Evennia: it is built, and lives for an hour."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial

from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.server import initial_setup
from evennia.server.models import ServerConfig

from game.agent import services
from game.lab.simulations.backdating import backdate
from game.lab.simulations.inhabitants import atlas_for
from game.lab.simulations.machinery import machinery
from game.lab.simulations.plan import SimulationPlan
from game.lab.simulations.players import Visitors, make_visitors
from game.lab.simulations.tallies import EventTally
from game.lab.simulations.timeline import Timeline
from game.lab.simulations.visits import visits
from game.mind.errors import KeepsakeError
from game.mind.events.files import wait_until_packed
from game.mind.events.log import EventLog
from game.mind.events.subscribers import Tapped, Taps
from game.paths import places
from game.server.private_files import read_or_create
from typeclasses import runtime
from typeclasses.agents import all_agents
from typeclasses.minds import open_minds
from world.atlas import read_atlas
from world.build import build_world, find

ADMIN = "admin"
TOLD_EACH = 0.2
"""Real seconds between two reports."""
FLUSH_EACH = 60.0
"""Simulated seconds after which the event log is waited for: it must lose nothing."""
_PASSWORD_BYTES = 12
_PATIENCE = 600.0
"""Real seconds that the disk gets."""
_log = logging.getLogger("keepsake.lab")


def build(plan: SimulationPlan) -> None:
    """Build the world with all who live in it; its services do not run meanwhile."""
    password = read_or_create(places().admin_password, nbytes=_PASSWORD_BYTES)
    AccountDB.objects.create_superuser(ADMIN, "admin@example.org", password)
    initial_setup.create_objects()
    atlas = atlas_for(read_atlas(), plan.agents, plan.seed)
    build_world(atlas)
    # Nobody plays the admin here: its character would stand about, and be met by everybody.
    _of_the_admin().location = None
    make_visitors(plan.visitors, find("room", atlas.start))
    ServerConfig.objects.conf("last_initial_setup_step", "done")
    # Who somebody is depends on when they were made: here that is the beginning of time.
    backdate(plan.begins)


def _of_the_admin() -> ObjectDB:
    """The character that Evennia makes for the admin."""
    return ObjectDB.objects.get(id=1)


def live(
    plan: SimulationPlan, since: float, until: float, tell: Callable[[dict[str, object]], None]
) -> None:
    """Let the world live from one second of the simulation to another.

    Its minds are opened at the beginning and closed at the end, as at a reload of the game, so
    that it makes no difference whether a simulation goes on at once or later.

    Raises:
        KeepsakeError: The model is gone or the disk is full; says what to do.
    """
    timeline = Timeline(plan.moment(since), _broken)
    taps, tally = Taps(), EventTally(plan.name)
    taps.on_event(tally.count)
    shared = services.start_on(machinery(timeline, f"{plan.seed} {since:g}"), places(), taps)
    try:
        runtime.live(shared)
        agents = sorted(all_agents(), key=lambda agent: agent.id)
        visitors = Visitors(timeline, agents, since)
        visitors.expect(visits(plan.seed, plan.visitors, len(agents), since, until))
        look = partial(_look, tally, plan, timeline, since, tell)
        _run(timeline, shared, plan.name, until - since, look)
        timeline.settle()
        tally.check()
        _check_minds()
    finally:
        runtime.stop(reload=True)
        timeline.close()
    _check_log(shared, plan.name)
    tell({**tally.figures(), "seconds": until, "moment": plan.moment(until).isoformat()})


def _run(
    timeline: Timeline,
    shared: services.Services,
    name: str,
    seconds: float,
    look: Callable[[], None],
) -> None:
    told, flushed = 0.0, 0.0

    def between() -> None:
        nonlocal told, flushed
        if time.monotonic() - told >= TOLD_EACH:
            told = time.monotonic()
            look()
        if timeline.timer.seconds() - flushed >= FLUSH_EACH:
            flushed = timeline.timer.seconds()
            _flush(shared, name)

    timeline.between = between
    timeline.run_until(seconds)


def _look(
    tally: EventTally,
    plan: SimulationPlan,
    timeline: Timeline,
    since: float,
    tell: Callable[[dict[str, object]], None],
) -> None:
    tally.check()
    seconds = since + timeline.timer.seconds()
    tell({**tally.figures(), "seconds": seconds, "moment": plan.moment(seconds).isoformat()})


def _flush(shared: services.Services, name: str) -> None:
    """Wait until the event log is written as far as it was taken.

    Raises:
        KeepsakeError: It cannot be written.
    """
    log = _event_log(shared)
    while log is not None and not log.flush(1.0):
        if log.problem:
            raise _unwritten(log, name)


def _event_log(shared: services.Services) -> EventLog | None:
    events = shared.events.log if isinstance(shared.events, Tapped) else shared.events
    return events if isinstance(events, EventLog) else None


def _check_minds() -> None:
    for mind in open_minds():
        if mind.memory.problem is not None:
            raise mind.memory.problem


def _check_log(shared: services.Services, name: str) -> None:
    """See to it that every line is with the disk, and old files are packed."""
    log = _event_log(shared)
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


def _broken(error: Exception) -> None:
    """What nobody else hears of: as the reactor would, say it and go on."""
    _log.error("[Error] The simulation: something broke off: %r", error, exc_info=error)
