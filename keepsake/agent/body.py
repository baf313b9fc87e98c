"""What agents use of their objects in the game, as Protocols.

They are Evennia's objects, whose classes a type checker does not see. Evennia's ``db`` takes and
returns any value, so values from there are checked where they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from keepsake.prompt.verbs import Verb
from keepsake.tasks.answer import AnswerPart


class Attributes(Protocol):
    """An object's values in the database, by name."""

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value; ``default`` if there is none."""

    def add(self, key: str, value: Any) -> None:
        """Store a value."""

    def remove(self, key: str) -> None:
        """Delete a value; does nothing if there is none."""

    def has(self, key: str) -> bool:
        """Return whether there is a value."""


class GameObject(Protocol):
    """A thing, a person, an exit or a place.

    Attributes:
        id: The number in the database; None for a deleted object.
        key: The name.
        db: The values of ``attributes``, as Python attributes; None for one that is not set.
        ndb: Values that a restart forgets.
    """

    id: int | None
    key: str
    db: Any
    ndb: Any
    attributes: Attributes

    @property
    def contents(self) -> Sequence[GameObject]:
        """What is in it or carried by it."""

    def access(self, accessing_obj: Any, access_type: str = "read") -> bool:
        """Return whether somebody may do something with it: ``view``, ``get``, ``traverse``."""

    def msg(self, text: Any = None, from_obj: Any = None, **kwargs: Any) -> None:
        """Send it a message."""


class RoomObject(GameObject, Protocol):
    """A room.

    Attributes:
        default_description: What is shown of a room that nobody has described.
    """

    default_description: str

    @property
    def exits(self) -> Sequence[ExitObject]:
        """The exits out of it."""

    def get_display_desc(self, looker: Any, **kwargs: Any) -> str:
        """Return its description, as the looker sees it."""

    def contents_get(self, exclude: Any = None, content_type: str | None = None) -> list[Any]:
        """Return what is in it: with ``character`` the people, with ``object`` the things."""

    def msg_contents(
        self, text: Any = None, exclude: Any = None, from_obj: Any = None, **kwargs: Any
    ) -> None:
        """Send a message to everything in it."""


class ExitObject(GameObject, Protocol):
    """A way to another place."""

    @property
    def destination(self) -> RoomObject | None:
        """The place that it leads to."""


class Body(GameObject, Protocol):
    """A character that an agent plays: an ``AgentMixin``.

    Its attributes in the database are listed in :mod:`keepsake.contrib.evennia.agents`.
    """

    db_date_created: datetime
    db_home_id: int | None
    agent_verbs: Mapping[str, str]
    unannounced: bool

    @property
    def location(self) -> RoomObject | None:
        """Where it is; None for nowhere."""

    @property
    def home(self) -> RoomObject | None:
        """Where it sleeps."""

    @property
    def has_account(self) -> bool:
        """Whether a player controls it now."""

    @property
    def mind(self) -> Any:
        """The agent's components; None while the runtime is not running."""

    @property
    def cmdset(self) -> Any:
        """The commands that it has."""

    def execute_cmd(self, raw_string: str) -> Any:
        """Execute a command as if it was typed; return a Deferred."""

    def say_by_hook(self, words: str, to: Any = None, *, whisper: bool = False) -> None:
        """Speak in the game's own way, without a command."""

    def move_to(self, destination: Any, **kwargs: Any) -> bool:
        """Go to a place; return whether it is there."""

    def at_look(self, target: Any, **kwargs: Any) -> str:
        """Return what it sees."""

    def read_ahead(self) -> None:
        """Have a slow model read its prompt, if a player is here."""

    def at_minute(self) -> None:
        """Called each minute while its mind is open."""

    def usual_day(self) -> str:
        """Return what it does on an ordinary day, in a line; empty if that is not set."""

    def deeds_needed(self, words: str, who: Any) -> Mapping[str, str]:
        """Return deeds that it cannot do itself, each with what somebody must do for it."""

    def verbs_now(self) -> tuple[Verb, ...]:
        """Return the game's verbs that it has and may use now."""

    def at_agent_prompt(self) -> Sequence[str]:
        """Return lines for the last message of its prompt."""

    def at_agent_answer(self, part: AnswerPart) -> AnswerPart | None:
        """Return a part of its answer as it is done; None vetoes it."""


type FindBody = Callable[[], Body | None]
"""Returns the agent's object; None if it has been deleted."""
