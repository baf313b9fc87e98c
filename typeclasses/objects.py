"""Things, and the order of what a room or a character holds."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from evennia.objects.models import ContentsHandler
from evennia.objects.objects import DefaultObject
from evennia.utils.utils import lazy_property, make_iter

from keepsake.agent.runtime import now


class OrderedContents(ContentsHandler):
    """What is in something, in the order in which it came, and after a start by age.

    PostgreSQL gives rows in an order of its own, and Evennia loses it where somebody is left out.
    """

    def load(self) -> list[Any]:
        """All of it, from the database."""
        return sorted(super().load(), key=attrgetter("pk"))

    def get(self, exclude: Any = None, content_type: str | None = None) -> list[Any]:
        """All of it but ``exclude``, one or more, of that type if one is given."""
        left_out = {each.pk for each in make_iter(exclude)} if exclude else set()
        return [each for each in super().get(None, content_type) if each.pk not in left_out]


class ObjectParent:
    """Mixed into every typeclass that others can be in."""

    @lazy_property
    def contents_cache(self) -> OrderedContents:
        """What is in it, as Evennia keeps it in RAM."""
        return OrderedContents(self)


class Object(DefaultObject):
    """A thing that can be looked at, taken and given.

    Attributes (in the database):
        given_by: The number of who gave it last to whoever has it.
        moved: When it came to where it is, in ISO format.
    """

    def at_post_move(self, source_location: Any, move_type: str = "move", **kwargs: Any) -> None:
        """Keep since when it is there."""
        super().at_post_move(source_location, move_type=move_type, **kwargs)
        self.db.moved = now().isoformat()

    def at_give(self, giver: Any, getter: Any, **kwargs: Any) -> None:
        """Keep who gave it."""
        super().at_give(giver, getter, **kwargs)
        self.db.given_by = giver.id
