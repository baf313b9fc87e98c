"""Things."""

from __future__ import annotations

from typing import Any

from evennia.objects.objects import DefaultObject

from keepsake.agent.runtime import now


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
