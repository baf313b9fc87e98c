"""Ways from one room to another."""

from __future__ import annotations

from typing import Any

from evennia.objects.objects import DefaultExit

from typeclasses.components.following import go_after
from typeclasses.minds import open_minds
from typeclasses.objects import ObjectParent
from typeclasses.services import running, services


class Exit(ObjectParent, DefaultExit):
    """A way out of a room."""

    def at_post_traverse(self, traversing_object: Any, source_location: Any, **kwargs: Any) -> None:
        """Let whoever follows the one who left come along."""
        super().at_post_traverse(traversing_object, source_location, **kwargs)
        if running():
            now = float(services().timer.seconds())
            go_after(list(open_minds()), traversing_object, source_location, self, now)
