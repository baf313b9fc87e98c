"""Objects of the game, as Protocols: things, rooms, exits and characters, and their commands.

Only what Keepsake uses of them is here. An agent's own character is a
:class:`~keepsake.agent.body.Body`.

They are Evennia's objects, whose classes a type checker does not see. Evennia's ``db`` takes and
returns any value, so values from there are checked where they are read.

``Any`` stands only for what Evennia passes through: ``db``, options of messages, keyword arguments
of hooks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol, overload

from twisted.internet.defer import Deferred


class Attributes(Protocol):
    """An object's values in the database, by name."""

    def get(self, key: str, default: object = None) -> object:
        """Return a value; ``default`` if there is none."""

    def add(self, key: str, value: object) -> None:
        """Store a value."""

    def remove(self, key: str) -> None:
        """Delete a value; does nothing if there is none."""

    def batch_add(self, *attributes: tuple[Any, ...]) -> None:
        """Store several values, each as key and value."""

    def has(self, key: str) -> bool:
        """Return whether there is a value."""


class Aliases(Protocol):
    """Other names of an object."""

    def all(self) -> Iterable[object]:
        """Return them."""


class GameObject(Protocol):
    """A thing, a person, an exit or a place.

    Attributes:
        id: The number in the database.
        pk: The same; None for a deleted object.
        dbref: The same, as builders write it: ``#12``.
        key: The name.
        db_date_created: When it was made.
        db: The values of ``attributes``, as Python attributes; None for one that is not set.
        ndb: Values that a restart forgets.
        default_description: What is shown of it if nobody has described it.
    """

    id: int
    default_description: str
    pk: int | None
    dbref: str
    key: str
    db_date_created: datetime
    db: Any
    ndb: Any
    attributes: Attributes
    aliases: Aliases

    @property
    def contents(self) -> Sequence[GameObject]:
        """What is in it or carried by it."""

    def access(self, accessing_obj: GameObject, access_type: str = "read") -> bool:
        """Return whether somebody may do something with it: ``view``, ``get``, ``traverse``."""

    def get_display_name(self, looker: GameObject | None = None) -> str:
        """Return its name as somebody sees it, with colour codes."""

    def get_display_desc(self, looker: GameObject, **kwargs: Any) -> str:
        """Return its description, as the looker sees it."""

    def get_numbered_name(self, count: int, looker: GameObject, **kwargs: Any) -> object:
        """Return its name with an article; with ``return_string`` as a string."""

    def msg(
        self, text: MessageText = None, from_obj: GameObject | None = None, **kwargs: Any
    ) -> None:
        """Send it a message."""


type MessageText = str | tuple[str, Mapping[str, object]] | None
"""A line to show, with its options such as ``type``."""


class RoomObject(GameObject, Protocol):
    """A room."""

    @property
    def exits(self) -> Sequence[ExitObject]:
        """The exits out of it."""

    @overload
    def contents_get(self, *, content_type: Literal["character"]) -> list[CharacterObject]: ...

    @overload
    def contents_get(self, *, content_type: str) -> list[GameObject]: ...

    def contents_get(self, *, content_type: str) -> Sequence[GameObject]:
        """Return what is in it: with ``character`` the people, with ``object`` the things."""

    def filter_visible(
        self, obj_list: Sequence[GameObject], looker: GameObject
    ) -> Sequence[GameObject]:
        """Return those of the objects in it that the looker can see."""

    def msg_contents(
        self,
        text: MessageText = None,
        exclude: Sequence[GameObject] | None = None,
        from_obj: GameObject | None = None,
        **kwargs: Any,
    ) -> None:
        """Send a message to everything in it."""


class ExitObject(GameObject, Protocol):
    """A way to another place."""

    @property
    def destination(self) -> RoomObject | None:
        """The place that it leads to."""

    def at_traverse(
        self, traversing_object: GameObject, target_location: RoomObject | None, **kwargs: Any
    ) -> None:
        """Lead somebody through it."""


class CharacterObject(GameObject, Protocol):
    """A character: a player's, an agent, or another one of the game."""

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
    def cmdset(self) -> CommandSets:
        """The commands that it has."""

    def execute_cmd(self, raw_string: str) -> Deferred[object]:
        """Execute a command as if it was typed; the result fires when it has ended."""

    def at_pre_say(self, message: str, **kwargs: Any) -> str | None:
        """Return words as it may say them; None if it may not."""


class GameCommand(Protocol):
    """A command of the game."""

    def __eq__(self, other: object) -> bool:
        """Return whether a string is one of its names."""

    def __hash__(self) -> int: ...

    def access(self, srcobj: GameObject, access_type: str = "cmd") -> bool:
        """Return whether somebody may use it."""


class CommandSets(Protocol):
    """The commands that an object has.

    Attributes:
        current: All of them, merged; None before the first.
    """

    current: Iterable[GameCommand] | None
