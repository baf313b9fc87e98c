"""What an agent does the short way is what comes of the same line typed."""

from __future__ import annotations

from random import Random
from typing import Any
from unittest import mock

from evennia import CmdSet, Command
from evennia.utils import create
from evennia.utils.ansi import strip_ansi

from keepsake.contrib.evennia.creation import create_agent
from keepsake.prompt.verbs import VERBS
from tests.game.agents_world import AgentsWorld
from typeclasses.agents import Agent
from typeclasses.characters import Character
from typeclasses.deeds import acting
from typeclasses.exits import Exit
from typeclasses.objects import Object
from typeclasses.rooms import Room

LINES = {
    "say": ("say Good day!", "say", "Say in capitals.", "say  twice  spaced "),
    "whisper": ("whisper Tom = psst", "whisper Nobody = psst", "whisper Tom"),
    "emote": ("emote bows.", "emote"),
    "look": ("look", "look cup", "look moon", "l"),
    "go": ("go north", "go back", "go cellar", "go nowhere", "north", "back"),
    "get": ("get cup", "get anvil", "get all", "get moon"),
    "drop": ("drop cup", "drop all", "drop moon"),
    "give": ("give cup to Tom", "give cup to Nobody", "give moon to Tom"),
    "examine": ("examine cup", "examine moon"),
    "follow": ("follow Tom", "follow Nobody"),
    "stay": ("stay",),
}
ELSEWHERE = (
    "inventory",
    "i",
    "sing",
    "sing loudly",
    "sing softly ",
    "Sing",
    "2-sing",
    "",
    "dance",
    "@py 1",
    "talk Tom = hey",
    "hum",
)


class CmdSing(Command):
    """A command that a thing brings along."""

    key, aliases = "sing", ("hum",)

    def func(self) -> None:
        self.caller.msg(f"{self.obj.key} sings{self.args}. ({self.raw_string}, {self.cmdstring})")


class CmdMuffle(Command):
    """One that takes the place of an agent's own."""

    key = "say"

    def func(self) -> None:
        self.caller.msg(f"{self.obj.key} muffles{self.args}.")


class SingingSet(CmdSet):
    """Of a thing."""

    key = "Singing"

    def at_cmdset_creation(self) -> None:
        self.add(CmdSing())


class MufflingSet(CmdSet):
    """The same, before all others."""

    key, priority = "Muffling", 5

    def at_cmdset_creation(self) -> None:
        self.add(CmdMuffle())


class Stage:
    """Two rooms, an agent, somebody who watches, and some things; all but the agent by one name."""

    def __init__(self, name: str) -> None:
        self.inn, self.yard = (create.create_object(Room, key=key) for key in ("Inn", "Yard"))
        self.north = self._way("north", self.inn, self.yard)
        self.back = self._way("back", self.yard, self.inn)
        self.cellar = self._way("cellar", self.inn, self.yard)
        self.cellar.locks.add("traverse:false()")
        self.agent: Agent = create_agent(name, location=self.inn, profile=f"You are {name}.")
        self.tom = create.create_object(Character, key="Tom", location=self.inn)
        self.cup, self.anvil, self.bell, self.mask = (
            create.create_object(Object, key=key, location=self.inn)
            for key in ("cup", "anvil", "bell", "mask")
        )
        self.anvil.locks.add("get:false()")
        self.told: list[tuple[Any, ...]] = []
        self.numbers = {each.id: each.key for each in (self.agent, self.tom)}
        self.numbers[self.agent.id] = "Mira"
        for each in (self.agent, self.tom):
            self._listen(each)

    def _way(self, name: str, start: Room, end: Room) -> Exit:
        return create.create_object(Exit, key=name, location=start, destination=end)

    def _listen(self, obj: Any) -> None:
        def msg(text: Any = None, from_obj: Any = None, **_: Any) -> None:
            line, facts = text if isinstance(text, tuple) else (text, {})
            facts = {key: self.numbers.get(value, value) for key, value in facts.items()}
            who = self.numbers.get(getattr(from_obj, "id", None), getattr(from_obj, "key", None))
            self.told.append((self.numbers[obj.id], self.plain(str(line)), facts, who))

        obj.msg = msg

    def plain(self, text: str) -> str:
        """Without what differs from stage to stage."""
        return strip_ansi(text).replace(self.agent.key, "Mira")

    def state(self) -> list[tuple[str, str]]:
        """Where everything is, and what stands on the agent as the last command."""
        things = (self.agent, self.tom, self.cup, self.anvil, self.bell, self.mask)
        return [
            (self.plain(each.key), self.plain(each.location.key if each.location else "nowhere"))
            for each in things
        ]

    # -- what changes around the agent

    def toggle_bell(self) -> None:
        """A thing brings commands, or has none any more."""
        self._toggle(self.bell, SingingSet)

    def toggle_cup(self) -> None:
        """Another with the same command: it is not clear then which one is meant."""
        self._toggle(self.cup, SingingSet)

    def toggle_mask(self) -> None:
        """What is worn changes what is said."""
        self._toggle(self.mask, MufflingSet)

    def carry_mask(self) -> None:
        """It comes into the agent's hands, or goes out of the world."""
        self.mask.location = self.agent if self.mask.location is None else None

    def lock_bell(self) -> None:
        """Its commands are not for everybody any more, or are again."""
        closed = "false" in str(self.bell.locks.get("call"))
        self.bell.locks.add("call:true()" if closed else "call:false()")

    def nick(self) -> None:
        """The agent has a word of its own for something."""
        self.agent.nicks.add("dance", "emote dances.", category="inputline")

    def move(self) -> None:
        """The agent is elsewhere, without having gone."""
        self.agent.location = self.yard if self.agent.location is self.inn else self.inn

    @staticmethod
    def _toggle(obj: Any, kind: type[CmdSet]) -> None:
        if obj.cmdset.has(kind):
            obj.cmdset.remove(kind)
        else:
            obj.cmdset.add(kind)


CHANGES = tuple(
    name
    for name in vars(Stage)
    if name.split("_")[0] in {"toggle", "carry", "lock", "nick", "move"}
)
"""The methods of a stage that change what is around the agent."""


class TestActing(AgentsWorld):
    """Both ways, on two stages that are alike."""

    def setUp(self) -> None:
        super().setUp()
        self.typed, self.done = Stage("Nella"), Stage("Ottla")

    def both(self, line: str) -> None:
        """The same line on both stages, and the same comes of it."""
        self.typed.agent.execute_cmd(line)
        acting.execute(self.done.agent, line)
        told = self.typed.told, self.done.told
        assert told[0] == told[1], (line, told[0][-3:], told[1][-3:])
        assert self.typed.state() == self.done.state(), line

    def test_every_verb_that_is_not_private_is_among_the_lines(self):
        assert {v.name for v in VERBS if not v.private} == {*LINES, "wait"}
        assert len(CHANGES) == 7

    def test_each_verb_and_each_refusal(self):
        for lines in LINES.values():
            for line in lines:
                self.both(line)
        self.both("go back")
        for line in ELSEWHERE:
            self.both(line)
        told = [text for _, text, _, _ in self.done.told]
        assert 'Mira says, "Good day!"' in told
        assert any("anvil" in text for text in told)
        assert "Command 'sing' is not available." in " ".join(told)

    def test_whatever_changes_around_it(self):
        random, lines = Random(15), [*ELSEWHERE, *(each for few in LINES.values() for each in few)]
        for _ in range(250):
            change = random.choice(CHANGES)
            for stage in (self.typed, self.done):
                getattr(stage, change)()
            for line in ("say Good day!", "sing", random.choice(lines), "north", "back", "look"):
                self.both(line)
        told = " ".join(text for _, text, _, _ in self.done.told)
        for seen in ("muffles", "bell sings", "dances", "More than one match"):
            assert seen in told

    def test_whom_a_person_plays_has_the_persons_commands_as_well(self):
        self.account.puppet_object(self.session, self.done.agent)
        with mock.patch.object(acting, "get_and_merge_cmdsets") as merging:
            acting.execute(self.done.agent, "say Good day!")
        assert not merging.called
        assert 'Mira says, "Good day!"' in [text for _, text, _, _ in self.done.told]
