"""The character that an agent plays, as a Protocol, and what is asked of its mind through it.

Other objects of the game are in :mod:`keepsake.agent.surroundings.game_objects`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from keepsake.agent.attention.impulse import Impulse
from keepsake.agent.surroundings.game_objects import CharacterObject, GameObject, RoomObject
from keepsake.books.plan import Plan
from keepsake.books.usual_hours import UsualHours
from keepsake.happening import Person
from keepsake.memory.types import MemoryContext
from keepsake.prompt.verbs import Verb
from keepsake.tasks.answer import AnswerPart


class PresentPart(Protocol):
    """How an agent is: its :class:`~keepsake.agent.attention.presence.Presence`."""

    @property
    def must_stay(self) -> bool:
        """Whether it must not leave its place now."""

    @property
    def in_talk(self) -> bool:
        """Whether it is in a talk with a player who is here."""


class DecidingPart(Protocol):
    """What decides when an agent thinks: its :class:`~keepsake.agent.thinker.Thinker`."""

    def is_asked_by(self, who: str) -> bool:
        """Return whether it is about to answer words of that person, or does so now."""

    def answer_agent(self, person: Person) -> None:
        """Answer the last words of another agent here, whose plan waits for that."""


class ActingPart(Protocol):
    """What executes an agent's commands: its :class:`~keepsake.agent.acting.actor.Actor`.

    Attributes:
        leader: The database number of the character that it follows; None if it follows nobody.
    """

    leader: int | None


class AppointedPart(Protocol):
    """What knows its appointments: its :class:`~keepsake.agent.plans.appointments.Appointments`."""

    def comes_to(self, plan: Plan, place: str, by: Body) -> bool:
        """Return whether it has come, or means to come, to another agent's appointment."""


class RememberingPart(Protocol):
    """What remembers: its :class:`~keepsake.agent.memory.memory.MemoryComponent`."""

    def context(self) -> MemoryContext:
        """Return what is in its prompt now; raises a KeepsakeError if it cannot be read."""


class BodyMind(Protocol):
    """What is asked of an agent's mind through its body: a :class:`~keepsake.agent.mind.Mind`."""

    @property
    def presence(self) -> PresentPart:
        """How it is now, and whether it may leave."""

    @property
    def thinker(self) -> DecidingPart:
        """Decides when it thinks."""

    @property
    def actor(self) -> ActingPart:
        """Executes its commands."""

    @property
    def appointments(self) -> AppointedPart:
        """Knows its appointments."""

    @property
    def memory(self) -> RememberingPart:
        """Remembers what it perceives and does."""


class Body(CharacterObject, Protocol):
    """A character that an agent plays: an ``AgentMixin``.

    Its attributes in the database are listed in :mod:`keepsake.contrib.evennia.agents`.
    """

    db_home_id: int | None
    agent_verbs: Mapping[str, str]
    private_lines: bool
    pictures: Collection[str]
    unannounced: bool

    @property
    def mind(self) -> BodyMind | None:
        """The agent's components; None while the runtime is not running."""

    @property
    def is_listed(self) -> bool:
        """Whether players find it on the page of their agents."""

    @property
    def memory_folder(self) -> str:
        """The name of its folder below ``vault/agents``."""

    def ensure_commands(self) -> None:
        """Give it the commands and locks of agents, if it lacks them."""

    def say_by_hook(
        self, words: str, to: CharacterObject | None = None, *, whisper: bool = False
    ) -> None:
        """Speak in the game's own way, without a command."""

    def move_to(self, destination: RoomObject | None, **kwargs: Any) -> bool:
        """Go to a place; return whether it is there."""

    def at_look(self, target: GameObject | None, **kwargs: Any) -> str:
        """Return what it sees."""

    def notice_move(self, mover: CharacterObject, *, memory: int = 0, line: str = "") -> None:
        """React to a character that has come or left; ``memory`` and ``line``: its memory."""

    def pass_on(self, question: Impulse) -> bool:
        """Let another agent here think about a question to everybody; return whether one does."""

    def read_ahead(self, *, for_newcomers: bool = False) -> None:
        """Have a slow model read its prompt, if a player is here, or may enter the game here."""

    def at_minute(self) -> None:
        """Called each minute while its mind is open."""

    def at_object_post_copy(self, new_obj: Body, **kwargs: Any) -> None:
        """Called when ``new_obj`` was made as a copy of it."""

    def delete(self) -> bool:
        """Delete it from the game; return whether that was done."""

    def usual_day(self) -> str:
        """Return what it does on an ordinary day, in a line; empty if that is not set."""

    def usual_now(self) -> str:
        """Return what it does at this hour of an ordinary day; empty if that is not set."""

    def hours_between(self, since: datetime, until: datetime) -> Sequence[UsualHours]:
        """Return what it will do by itself in a span of time; empty if that is not set."""

    def is_everyday(self, line: str, facts: Mapping[str, Any], from_obj: GameObject | None) -> bool:
        """Return whether a scene is not remembered, because it happens every day."""

    def deeds_needed(self, words: str, who: CharacterObject) -> Mapping[str, str]:
        """Return deeds that it cannot do itself, each with what somebody must do for it."""

    def wishes(self) -> Collection[str]:
        """Return the names of things that it waits for."""

    def verbs_now(self) -> tuple[Verb, ...]:
        """Return the game's verbs that it has and may use now."""

    def at_agent_prompt(self) -> Sequence[str]:
        """Return lines for the last message of its prompt."""

    def at_agent_answer(self, part: AnswerPart) -> AnswerPart | None:
        """Return a part of its answer as it is done; None vetoes it."""


type FindBody = Callable[[], Body | None]
"""Returns the agent's object; None if it has been deleted."""


@dataclass(frozen=True, slots=True)
class AgentRef:
    """A reference to an agent: its number, name and folder, and how to find its object."""

    number: int  # the agent's database number
    name: str  # its name
    folder: Path  # ``vault/agents/<name>``
    body: FindBody  # returns the agent's object
    names: Callable[[], frozenset[str]]  # of all people and places; fast, for the reactor thread
