"""Things, and the order of the contents of rooms and characters."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from evennia.objects.models import ContentsHandler
from evennia.objects.objects import DefaultObject
from evennia.utils.utils import lazy_property, make_iter

from keepsake.agent.runtime import now


class OrderedContents(ContentsHandler):
    """The contents of an object, in the order of arrival; after a start, by age.

    PostgreSQL returns rows in any order. Evennia loses the order if an object is excluded.
    """

    def load(self) -> list[Any]:
        """Return all contents, from the database."""
        return sorted(super().load(), key=attrgetter("pk"))

    def get(self, exclude: Any = None, content_type: str | None = None) -> list[Any]:
        """Return the contents, of one type if given, without ``exclude`` (one object or more)."""
        left_out = {each.pk for each in make_iter(exclude)} if exclude else set()
        return [each for each in super().get(None, content_type) if each.pk not in left_out]


class ObjectParent:
    """A mixin for every typeclass that can contain objects."""

    @lazy_property
    def contents_cache(self) -> OrderedContents:
        """Return the handler of the contents, which Evennia keeps in memory."""
        return OrderedContents(self)


class Object(DefaultObject):
    """A thing that can be looked at, taken and given.

    Attributes (in the database):
        given_by: The number of the character who gave it to its present holder.
        moved: The time of its last move, in ISO format.
    """

    def at_post_move(self, source_location: Any, move_type: str = "move", **kwargs: Any) -> None:
        """Store the time of the move."""
        super().at_post_move(source_location, move_type=move_type, **kwargs)
        self.db.moved = now().isoformat()

    def at_give(self, giver: Any, getter: Any, **kwargs: Any) -> None:
        """Store the giver."""
        super().at_give(giver, getter, **kwargs)
        self.db.given_by = giver.id
