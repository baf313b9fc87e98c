"""How an agent walks somewhere: exit by exit, so that people see it go and may hold it up."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from keepsake.agent.agent_log import log
from keepsake.agent.runtime import Alarm
from keepsake.agent.surroundings import Body, FindBody, show


@dataclass(frozen=True, slots=True)
class Manner:
    """How somebody walks, and what people see of it.

    Attributes:
        pace: Seconds between two exits.
        sets_off: Seen where the walk begins.
        vanishes: Seen there if there is no way on foot; empty for who stays where they are then.
        appears: Seen at home then.
        by_rule: Whether it is an ordinary part of the day, of which no agent thinks.
    """

    pace: float
    sets_off: str = ""
    vanishes: str = ""
    appears: str = ""
    by_rule: bool = False


TIRED = Manner(3.0, "yawns, and sets off for home.", "yawns, and goes home.", "comes home, tired.")
CALLED = Manner(1.0, "hurries home to a guest.", "hurries home to a guest.", "hurries in.")
STROLL = Manner(4.0, by_rule=True)
FARTHEST = 200
"""Rooms that are looked at for a way; whoever lives farther away than that is simply there."""


def way_to(agent: Body, goal: Any) -> list[Any] | None:
    """The shortest way of exits to a room, of those that the agent may pass; None for none."""
    start = agent.location
    if start is None:
        return None
    ways: dict[Any, list[Any]] = {start: []}
    ahead = deque([start])
    while goal not in ways and ahead and len(ways) < FARTHEST:
        room = ahead.popleft()
        for way in room.exits:
            there = way.destination
            if there is not None and there not in ways and way.access(agent, "traverse"):
                ways[there] = [*ways[room], way]
                ahead.append(there)
    return ways.get(goal)


class Walk:
    """One walk, home or to another goal; on the reactor thread.

    ``arrived`` is called at its end, also where it ends on the way.
    """

    def __init__(
        self,
        agent: FindBody,
        timer: Any,
        arrived: Callable[[], None],
        manner: Manner = TIRED,
        goal: Any = None,
    ) -> None:
        self.manner, self._goal = manner, goal
        self._agent, self._arrived = agent, arrived
        self._ways: deque[Any] = deque()
        self._next = Alarm(timer)
        self._stopped = False

    def start(self) -> None:
        """Set off; whoever is there arrives at once."""
        agent = self._agent()
        if agent is None:
            return
        goal = self._goal or agent.home
        ways = way_to(agent, goal) if goal is not None else []
        if ways is None:
            self._vanish(agent)
        elif ways:
            self._ways = deque(ways)
            if self.manner.sets_off:
                show(agent, f"{agent.key} {self.manner.sets_off}", "move")
            self._next.set(self.manner.pace, self._step)
        else:
            self._arrived()

    def stop(self) -> None:
        """Stay where the agent is now; nobody arrives."""
        self._stopped = True
        self._next.cancel()

    def _step(self) -> None:
        agent = self._agent()
        if agent is None:
            return
        before, way = agent.location, self._ways.popleft()
        # Since it set off somebody may have moved it, or taken the exit away or locked it.
        passable = way.id is not None and way.location is before and way.access(agent, "traverse")
        if passable:
            self._pass(agent, way)
        if self._stopped:  # by what met it behind the exit
            return
        if agent.location is before:
            self._vanish(agent)
        elif not self._ways:
            self._arrived()
        else:
            self._next.set(self.manner.pace, self._step)

    def _pass(self, agent: Body, way: Any) -> None:
        agent.unannounced = self.manner.by_rule
        try:
            way.at_traverse(agent, way.destination)
        except Exception as error:
            # Whatever a room or an exit sets off: else it would be on its way for ever.
            log(f"[Error] {agent.key}: The way broke off at {way.key}: {error!r}")
        finally:
            agent.unannounced = False

    def _vanish(self, agent: Body) -> None:
        """There is no way on foot: it is at home, and people are told so."""
        if not self.manner.vanishes:
            self._arrived()
            return
        show(agent, f"{agent.key} {self.manner.vanishes}", "move")
        agent.move_to(agent.home, quiet=True, move_type="teleport")
        show(agent, f"{agent.key} {self.manner.appears}", "move")
        self._arrived()
