"""What a player's character may have besides: news of the time away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evennia.objects.objects import DefaultCharacter

from keepsake.agent.naming import now
from keepsake.contrib.evennia.absence import LEFT, tell_of_absence

# A mixin has no base, and Evennia's classes are of no type that a checker knows.
_Base: Any = DefaultCharacter if TYPE_CHECKING else object


class CharacterMixin(_Base):
    """Tells players what agents did while they were away. Agents need nothing of it."""

    is_agent = False

    def at_post_puppet(self, **kwargs: Any) -> None:
        """Show what happened since they left."""
        super().at_post_puppet(**kwargs)
        tell_of_absence(self)

    def at_post_unpuppet(self, account: Any = None, session: Any = None, **kwargs: Any) -> None:
        """Keep when they left."""
        super().at_post_unpuppet(account=account, session=session, **kwargs)
        self.attributes.add(LEFT, now().isoformat())
