"""The whole village with its agents' minds, a scripted model behind them, and Tom at the inn."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from evennia.utils.ansi import strip_ansi

from keepsake.agent.runtime import Runtime
from keepsake.ports import FixedClock
from tests.world.agents_world import AgentsWorld
from tests.world.built_world import BuiltWorld
from typeclasses.agents import Agent
from world.almanac import almanac
from world.source import find

_HALF_AN_HOUR = timedelta(minutes=30)


class Village(BuiltWorld, AgentsWorld):
    """Nobody thinks unasked; time stands still until a test moves it."""

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9)
        self.char2.location = None
        self.reading: dict[Any, list[str]] = {self.char1: self.hears(self.char1)}
        self.put(self.char1, "kettle")

    def start_services(self) -> Runtime:
        new = super().start_services()
        new.clock = self.time = FixedClock(datetime(2026, 5, 4, 12).astimezone())
        return new

    def make_mira(self) -> Agent:
        return self.agent("mira")

    def agent(self, person: str) -> Agent:
        """The villager of that id."""
        agent = find("agent", person)
        assert isinstance(agent, Agent)
        return agent

    def put(self, who: Any, place: str) -> None:
        who.move_to(find("room", place), quiet=True)

    def another_player(self, name: str, number: int = 2) -> Any:
        """One more player, who stands nowhere yet."""
        made = self.guest(number, name)
        self.reading[made] = self.hears(made)
        return made

    def type(self, line: str, who: Any = None) -> str:
        """What a player reads who types a line."""
        player = who or self.char1
        self.reading[player].clear()
        player.execute_cmd(line)
        return strip_ansi("\n".join(self.reading[player]))

    def play(self, line: str, ada: Any = None) -> str:
        """Play ``place: command``, ``Ada place: command`` or ``clock: night``."""
        where, command = line.split(": ", 1)
        if where == "clock":
            return self.pass_to(command)
        who = ada if where.startswith("Ada ") else self.char1
        self.reading[who].clear()
        self.put(who, where.removeprefix("Ada "))
        came = strip_ansi("\n".join(self.reading[who]))
        return came + self.type(command, who)

    def pass_to(self, until: str) -> str:
        """Move the clock on, until a word of the almanac holds or by so many hours."""
        if until.startswith("+"):
            self.time.time += timedelta(hours=float(until))
        while not until.startswith("+") and until not in almanac(self.time.time).states:
            self.time.time += _HALF_AN_HOUR
        return ""

    def memories(self, person: str) -> list[Any]:
        """What stands in the window of an agent."""
        mind = self.agent(person).mind
        assert mind is not None
        return list(mind.memory.context().window)
