"""What a measured simulation does besides: it gives items, and looks who comes to an invitation.

It also writes down who the agents are, for :mod:`keepsake.lab.simulations`, which reads files only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from game.simulation.timeline import Timeline
from keepsake.agent.attention.impulse import Impulse, ImpulseKind
from keepsake.agent.mind import Mind
from keepsake.agent.runtime import runtime
from keepsake.agent.surroundings.identity import identity_of, is_agent
from keepsake.agent.surroundings.naming import place_of
from keepsake.agent.surroundings.routes import place_names
from keepsake.books.plan_lines import read_plan
from keepsake.contrib.evennia.creation import all_agents
from keepsake.contrib.evennia.minds import mind_of
from keepsake.events.values import Author
from keepsake.happening import ME, Person, Sight, Speech, What
from keepsake.json_lines import line_of
from keepsake.lab.simulations.attendance import DAY, DAY_BEFORE, THE_DAY, presence_line
from keepsake.lab.simulations.items import Item
from keepsake.lab.simulations.plan import BEGINS, HOUR, SimulationPlan
from keepsake.lab.simulations.record import PRESENCE, CastMember, write_cast
from keepsake.language.perception import names
from world.source import find, id_of

GIVEN_AT = 30.0
"""The simulated second at which items are given: the agents have looked around by then, and do not
go about their day before the first full minute."""
LOOK_SECONDS = 60.0
"""Simulated seconds between two looks at the place of an invitation."""
GIVEN = "given"
"""The ``event`` of the memory by which an agent gets an item."""


def record_cast(folder: Path) -> Sequence[CastMember]:
    """Write down who the agents are; return them."""
    agents = sorted(all_agents(), key=lambda agent: agent.id)
    cast = [
        CastMember(
            name=agent.key,
            identity=identity_of(agent),
            folder=agent.memory_folder,
            home=id_of(agent.home),
            knows=tuple(
                other.key
                for other in agents
                if other is not agent and names(str(agent.db.profile), other.key)
            ),
        )
        for agent in agents
    ]
    write_cast(folder, cast)
    return cast


class Measuring:
    """Gives items, and looks at the places of invitations.

    Args:
        folder: The simulation's folder.
        since: The simulated second at which this run begins.
    """

    def __init__(
        self, folder: Path, plan: SimulationPlan, timeline: Timeline, since: float
    ) -> None:
        self._presence = folder / PRESENCE
        self._plan = plan
        self._timeline = timeline
        self._since = since

    def schedule(self) -> None:
        """Schedule everything that is still to come."""
        for item in self._plan.items:
            self._at(max(GIVEN_AT, self._since), partial(self._give, item))
            if item.is_invitation:
                self._schedule_looks(item, THE_DAY, item.hours * HOUR)
                self._schedule_looks(item, DAY_BEFORE, item.hours * HOUR - DAY.total_seconds())

    def _at(self, second: float, call: partial[None]) -> None:
        if second >= self._since:
            self._timeline.later(second - self._since, call)

    def _schedule_looks(self, item: Item, day: str, begins: float) -> None:
        for minute in range(round(item.minutes)):
            at = begins + minute * LOOK_SECONDS
            if at > 0:
                self._at(at, partial(self._look, item, day))

    def _look(self, item: Item, day: str) -> None:
        """Write down which agents are in the place of an invitation now."""
        room = find("room", item.where)
        people = room.contents_get(content_type="character") if room is not None else ()
        here = {identity_of(each): not each.db.asleep for each in people if is_agent(each)}
        line = presence_line(item, day, self._timeline.now(), here)
        with self._presence.open("ab") as file:
            file.write(line_of(line))

    def _give(self, item: Item) -> None:
        """Let an agent perceive an item and think of it, unless an interrupted run has done so."""
        agent = next(each for each in all_agents() if each.key.casefold() == item.to.casefold())
        mind = mind_of(agent)
        if mind is None or _has(mind, item):
            return
        given = mind.memory.remember(
            _what(item),
            place=place_of(agent),
            happening=item.happening,
            event=GIVEN,
        )
        if runtime().thinking.current.plans:
            _plan(mind, agent, item, given)
        mind.thinker.notice(
            Impulse(ImpulseKind.OTHER, from_player=False, source="", memory_number=given)
        )


def _what(item: Item) -> What:
    """Return what the agent perceives: words of somebody from outside, or a thing of its own.

    Who says it has no identity: nobody in the world is that person, so nobody can be asked.
    """
    line = item.given_line(BEGINS)
    if not item.by:
        return Sight(shown=line)
    shown = f'{item.by[0].upper()}{item.by[1:]} says to you, "{line}"'
    return Speech(speaker=Person(item.by), words=line, to=(ME,), shown=shown)


def _has(mind: Mind, item: Item) -> bool:
    """Return whether the agent has got the item already."""
    lines = mind.memory.memory.archive.forwards()
    return any(record and record.get("happening") == item.happening for _, record in lines)


def _plan(mind: Mind, agent: Any, item: Item, given: int) -> None:
    """Write an item's own plans into the agent's book."""
    now = runtime().clock.now().astimezone()
    people = [Person(each.key, identity_of(each)) for each in all_agents()]
    for line in item.plans:
        plan = read_plan(line, now, place_names(agent), people)
        mind.books.plans.add(replace(plan, since=given), by=Author.LAB)
