"""Walks an agent through several exits, one after the other.

Everything here runs on the reactor thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from keepsake.agent.body import Body, FindBody
from keepsake.agent.scheduler import Alarm
from keepsake.agent.surroundings.game_objects import CharacterObject, RoomObject
from keepsake.agent.surroundings.routes import Route, route_to
from keepsake.agent.surroundings.showing import show
from keepsake.archive.message_types import MessageType
from keepsake.logs import Subsystem, get_logger
from keepsake.ports import Scheduler

log = get_logger(Subsystem.ACTING)

FARTHEST = 20
"""The most exits of a walk to somebody who moves on: about twice across a village, and a minute."""


class WalkKind(Enum):
    """Why an agent walks: what people see when it sets off, and the seconds between two exits."""

    TO_BED = ("yawns, and sets off for home.", 3.0)
    TO_GUESTS = ("hurries home to a guest.", 1.0)
    ERRAND = ("sets off.", 3.0)
    ROUTINE = ("", 4.0)
    """Its daily routine. This walk is not shown, and agents do not think about it."""

    def __init__(self, shown: str, pace: float) -> None:
        self.shown = shown
        self.pace = pace


_HOME = (WalkKind.TO_BED, WalkKind.TO_GUESTS)
"""Walks that end at the agent's home, whatever is in the way."""


@dataclass(eq=False, slots=True)
class _Walk:
    """A walk to a room, or to a person, whom it goes after if they move on."""

    kind: WalkKind
    goal: RoomObject | None  # the room where it ends; that of the person at the last step
    arrived: Callable[[], None]  # called at its end, even if the agent cannot get there
    person: CharacterObject | None = None
    passed: int = 0  # how many exits were passed


class Walker:
    """Walks one agent; it walks to one place at a time.

    Args:
        body: Returns the agent; None if it has been deleted.
    """

    def __init__(self, body: FindBody, scheduler: Scheduler) -> None:
        self._body = body
        self._walk: _Walk | None = None
        self._next = Alarm(scheduler)

    @property
    def kind(self) -> WalkKind | None:
        """Why it walks now; None if it does not walk."""
        return self._walk.kind if self._walk is not None else None

    @property
    def walking(self) -> bool:
        """Whether it is walking somewhere."""
        return self._walk is not None

    @property
    def is_going_to_bed(self) -> bool:
        """Whether it is on its way to bed."""
        return self.kind is WalkKind.TO_BED

    @property
    def walks_on_purpose(self) -> bool:
        """Whether it walks somewhere else than by its daily routine."""
        return self.kind not in (None, WalkKind.ROUTINE)

    def follow_routine(self, goal: RoomObject, arrived: Callable[[], None]) -> None:
        """Walk to a room of the daily routine; anyone who addresses the agent stops it."""
        self._begin(WalkKind.ROUTINE, arrived, goal)

    def go_on_errand(
        self,
        goal: RoomObject,
        arrived: Callable[[], None],
        person: CharacterObject | None = None,
    ) -> None:
        """Walk to a room because the agent wants to; people see it set off.

        ``person``: Who is there, if the walk is to them: it ends where they are then.
        """
        self._begin(WalkKind.ERRAND, arrived, goal, person)

    def go_home(self, kind: WalkKind, arrived: Callable[[], None]) -> None:
        """Walk to the agent's home, to bed or to its guests."""
        self._begin(kind, arrived)

    def stop(self) -> None:
        """Stop the current walk, if there is one."""
        self._walk = None
        self._next.cancel()

    def break_off(self) -> None:
        """Stop the current walk before its goal. An agent that wanted to get there is told so."""
        walk = self._walk
        self.stop()
        if walk is not None and walk.kind is WalkKind.ERRAND:
            walk.arrived()

    def _begin(
        self,
        kind: WalkKind,
        arrived: Callable[[], None],
        goal: RoomObject | None = None,
        person: CharacterObject | None = None,
    ) -> None:
        """Start a walk to a room. An agent that is already there arrives at once."""
        self.break_off()
        if (agent := self._body()) is None:
            return
        walk = _Walk(kind, goal or agent.home or agent.location, arrived, person)
        self._walk = walk
        if kind.shown and agent.location is not walk.goal:
            show(agent, f"{agent.key} {kind.shown}", MessageType.MOVE)
        self._continue(agent, walk, _route(agent, walk))

    def _step(self, walk: _Walk) -> None:
        """Go through one exit of the route from where the agent is now."""
        if (agent := self._body()) is None:
            return
        before = agent.location
        ways = _route(agent, walk)
        agent.unannounced = walk.kind is WalkKind.ROUTINE
        try:
            if ways:
                walk.passed += 1
                ways[0].at_traverse(agent, ways[0].destination)
        except Exception as error:
            # Hooks of a room or an exit may fail. The walk must end all the same.
            log.error("The walk failed", agent=agent.key, exc_info=error)
        finally:
            agent.unannounced = False
        if self._walk is walk:  # else something behind the exit stopped the walk
            has_moved = agent.location is not before
            self._continue(agent, walk, _route(agent, walk) if has_moved else None)

    def _continue(self, agent: Body, walk: _Walk, ways: Route | None) -> None:
        """Arrive or walk on. An agent without a route home is moved there, and people see it."""
        if agent.location is not walk.goal:
            if ways:
                self._next.set(walk.kind.pace, self._step, walk)
                return
            if walk.kind in _HOME:
                agent.move_to(walk.goal, quiet=True, move_type="teleport")
                show(agent, f"{agent.key} comes home.", MessageType.MOVE)
        self.stop()
        walk.arrived()


def _route(agent: Body, walk: _Walk) -> Route | None:
    """Return the exits that are left of a walk; None if there is no way, or it has become too long.

    If it is to a person, it leads to where they are now.
    """
    if walk.person is not None:
        walk.goal = walk.person.location
        if walk.passed >= FARTHEST:
            return None
    return route_to(agent, walk.goal) if walk.goal is not None else None
