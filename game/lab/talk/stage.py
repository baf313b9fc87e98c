"""The stage of a talk, inside Evennia: its rooms and agents, its speakers, and what they hear."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import evennia
from evennia.utils import create

from game.lab.simulations.backdating import begin_world, finish_world
from game.lab.simulations.inhabitants import only
from game.lab.simulations.plan import SimulationPlan
from game.lab.simulations.players import Player, make_player
from game.lab.talk.talk_set import TalkRoom, TalkSet
from keepsake.agent.thinking.hearing import words_of
from keepsake.errors import KeepsakeError
from keepsake.language.perception import perceive
from typeclasses.agents import Agent, create_agent
from typeclasses.exits import Exit
from typeclasses.rooms import Room
from world.atlas import Atlas, read_atlas
from world.build import find

_FIRST_SESSION = 2000
_SPOKEN = ("say", "talk", "whisper", "shout")
_STREET = ("The Street", "A street like any other, with a door on either side.")


@dataclass(frozen=True, slots=True)
class Heard:
    """Something that the agent said."""

    words: str  # what, without who says it
    how: str  # ``say``, ``talk``, ``whisper`` or ``shout``
    to: str  # to whom; empty for everybody
    at: float  # when, in real monotonic seconds
    thoughts: int  # thoughts of the agent that had ended by then; the next one is what gave it


# -- the world that all scenes of a set begin in


def build(talks: TalkSet, plan: SimulationPlan) -> None:
    """Build the shipped village without its people, the set's own rooms, agents and speakers."""
    atlas = _village(talks)
    begin_world(atlas)
    rooms = _rooms(talks.places)
    for name, person in talks.people.items():
        if not person.shipped:
            create_agent(
                name,
                location=rooms[person.place],
                profile=person.whole_profile,
                examples=person.examples,
            )
    for name in talks.speakers:
        make_player(name, find("room", atlas.start))
    finish_world(plan.begins)


def _village(talks: TalkSet) -> Atlas:
    """The shipped world with only those of its agents whom the set names."""
    atlas = read_atlas()
    wanted = {person.shipped for person in talks.people.values()} - {""}
    if unknown := sorted(wanted - set(atlas.people)):
        there = ", ".join(sorted(atlas.people))
        raise KeepsakeError(f"There is no shipped agent {unknown[0]!r}", f"There are: {there}")
    # Whoever is asked stays to be asked: nobody has a day here.
    shipped = {key: replace(each, day=()) for key, each in atlas.people.items() if key in wanted}
    return only(atlas, shipped)


def _rooms(wanted: Mapping[str, TalkRoom]) -> dict[str, Any]:
    """The set's own rooms; a door leads from each to one street, so that agents may walk out."""
    street = create.create_object(Room, key=_STREET[0], attributes=[("desc", _STREET[1])])
    rooms = {}
    for key, place in wanted.items():
        room = create.create_object(Room, key=place.name, attributes=[("desc", place.desc)])
        create.create_object(Exit, key="out", location=room, destination=street)
        create.create_object(Exit, key=key, location=street, destination=room)
        rooms[key] = room
    return rooms


# -- in a scene


class Stage:
    """One agent and those who talk to it.

    Args:
        agent: The agent's name.
        speakers: Whoever may come.
        thoughts: Counts the thoughts of the agent that have ended.

    Attributes:
        heard: What the agent said, in order.
    """

    def __init__(self, agent: str, speakers: Iterable[str], thoughts: Callable[[], int]) -> None:
        self._thoughts = thoughts
        self.agent = Agent.objects.get(db_key=agent)
        self.heard: list[Heard] = []
        self._players = {name: Player(name, _FIRST_SESSION + n) for n, name in enumerate(speakers)}
        evennia.SESSION_HANDLER.data_out = self._on_screen

    def pause_others(self) -> None:
        """Let nobody think but the agent: its world holds all agents of the set."""
        for other in Agent.objects.exclude(id=self.agent.id):
            other.db.paused = True

    def come(self, name: str) -> None:
        """The speaker enters the game where the agent is."""
        self._players[name].come(self.agent)

    def go(self, name: str) -> None:
        """The speaker leaves the game, if it was there."""
        self._players[name].go()

    def speak(self, name: str, words: str, how: str) -> None:
        """The speaker types a command that says it; it follows an agent that has walked on."""
        self.come(name)
        key = self.agent.key.casefold()
        typed = {"say": f"say {words}", "whisper": f"whisper {key} = {words}"}
        self._players[name].type(self.agent, typed.get(how, f"talk {key} {words}"))

    def overhear(self, name: str, words: str, to: str) -> None:
        """The speaker says it to another speaker while the agent is near."""
        for each in (name, to):
            self.come(each)
        self._players[name].character.execute_cmd(f"talk {to} {words}")

    @property
    def names(self) -> tuple[str, ...]:
        """Whoever may come."""
        return tuple(self._players)

    @property
    def present(self) -> list[str]:
        """The speakers who are where the agent is."""
        here = self.agent.location
        found = {name: each.character.location for name, each in self._players.items()}
        return [name for name, place in found.items() if here and place is here]

    def _on_screen(self, session: Any, **shown: Any) -> None:
        """What one of the speakers reads; the agent's speech is kept, once."""
        text = shown.get("text")
        if not isinstance(text, tuple | list) or len(text) < 2 or not isinstance(text[1], dict):
            return
        # A screen breaks lines where they are too long; what was said has one.
        line, facts = perceive(" ".join(str(text[0]).split())), text[1]
        reader = session.puppet
        if reader is None or facts.get("type") not in _SPOKEN:
            return
        name = self.agent.key
        if line.startswith((f"{name} says", f"{name} whispers", f"{name} shouts")):
            to = self._addressee(facts.get("to"))
            if reader.key == (to or next(iter(self.present), reader.key)):
                now, thoughts = time.monotonic(), self._thoughts()
                self.heard.append(Heard(words_of(line), facts["type"], to, now, thoughts))

    def _addressee(self, number: Any) -> str:
        players = self._players.items()
        return next((name for name, each in players if each.character.id == number), "")
