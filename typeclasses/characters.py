"""Characters: whatever perceives and acts, played by a person or an agent."""

from __future__ import annotations

from typing import Any

from evennia.objects.objects import DefaultCharacter

from typeclasses.appearance import CharacterAppearance
from typeclasses.objects import ObjectParent


class Character(CharacterAppearance, ObjectParent, DefaultCharacter):
    """Somebody in the world; people play one of these."""

    @property
    def is_agent(self) -> bool:
        """True for agents, False for people."""
        return False

    @property
    def unannounced(self) -> bool:
        """Whether nobody is to notice that this character comes and goes.

        So it is for the login that only tries whether a login works: agents would
        greet it, and remember it for ever.
        """
        return bool(self.ndb.unannounced)

    @unannounced.setter
    def unannounced(self, value: bool) -> None:
        self.ndb.unannounced = value

    def at_post_puppet(self, **kwargs: Any) -> None:
        """Show the room and tell the others, unless this is a trial."""
        if not self.unannounced:
            super().at_post_puppet(**kwargs)
            return
        self.msg((self.at_look(self.location), {"type": "look"}), options=None)
        self.account.db._last_puppet = self

    def at_post_unpuppet(self, account: Any = None, session: Any = None, **kwargs: Any) -> None:
        """Take the character out of the world and tell the others, unless this was a trial."""
        if not self.unannounced:
            super().at_post_unpuppet(account=account, session=session, **kwargs)
        elif not self.sessions.count() and self.location:
            self.db.prelogout_location = self.location
            self.location = None
            self.unannounced = False
