"""The village in which deeds are played, line by line, from ``tests/data/deeds.yaml``."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from evennia.utils.ansi import strip_ansi

from tests.world.agents_world import AgentsWorld
from tests.world.built_world import BuiltWorld, shipped_world
from typeclasses.agents import Agent
from world.almanac import almanac
from world.source import find

PLAYS: dict[str, list[str]] = yaml.safe_load(
    (Path(__file__).parents[1] / "data" / "deeds.yaml").read_text(encoding="utf-8")
)
ATLAS, DEEDS = shipped_world()


class DeedsVillage(BuiltWorld, AgentsWorld):
    """The village with stopped time and no idle thoughts; Tom is a builder, Ada a second player."""

    START = datetime(2026, 5, 4, 12).astimezone()

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9)
        self.char2.location = None
        self.reading: dict[Any, list[str]] = {self.char1: self.capture(self.char1)}
        self.put(self.char1, "kettle")
        self.account.is_superuser = False
        self.char1.permissions.add("Builder")
        self.account.permissions.add("Builder")
        self.heard = self.reading[self.char1]
        self.ada = self.add_player(2, "Ada")
        self.reading[self.ada] = self.capture(self.ada)

    def make_mira(self) -> Agent:
        return self.agent("mira")

    def agent(self, person: str) -> Agent:
        """Return the villager with that id."""
        agent = find("agent", person)
        assert isinstance(agent, Agent)
        return agent

    def put(self, who: Any, place: str) -> None:
        who.move_to(find("room", place), quiet=True)

    def type(self, line: str, who: Any = None) -> str:
        """Let a player type a line; return what the player is shown."""
        player = who or self.char1
        self.reading[player].clear()
        player.execute_cmd(line)
        return strip_ansi("\n".join(self.reading[player]))

    def play(self, line: str, ada: Any = None) -> str:
        """Play one line: ``place: command``, ``Ada place: command`` or ``clock: night``."""
        where, command = line.split(": ", 1)
        if where == "clock":
            return self.pass_to(command)
        who = ada if where.startswith("Ada ") else self.char1
        self.reading[who].clear()
        self.put(who, where.removeprefix("Ada "))
        came = strip_ansi("\n".join(self.reading[who]))
        return came + self.type(command, who)

    def pass_to(self, until: str) -> str:
        """Move the clock until a state such as ``night`` holds, or by hours, ``+2``."""
        if until.startswith("+"):
            self.time.time += timedelta(hours=float(until))
        while not until.startswith("+") and until not in almanac(self.time.time).states:
            self.time.time += timedelta(minutes=30)
        return ""

    def memories(self, person: str) -> list[Any]:
        """Return the window of an agent."""
        mind = self.agent(person).mind
        assert mind is not None
        return list(mind.memory.context().window)

    def play_all(self, name: str) -> str:
        return "".join(self.play(line, self.ada) for line in PLAYS[name])
