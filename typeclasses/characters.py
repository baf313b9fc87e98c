"""Characters: whatever perceives and acts, played by a person or an agent."""

from __future__ import annotations

from typing import Any

from evennia.objects.objects import DefaultCharacter

from typeclasses.appearance import CharacterAppearance
from typeclasses.objects import ObjectParent

_HEARD = frozenset({"say", "talk", "whisper", "pose", "shout"})


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

    def at_msg_receive(self, text: Any = None, from_obj: Any = None, **kwargs: Any) -> bool:
        """Whether it is shown: what somebody says or plays whom this one ignores is not."""
        ignored = self.attributes.get("ignored")
        facts = text[1] if isinstance(text, tuple) and len(text) > 1 else None
        if ignored and from_obj is not None and facts and facts.get("type") in _HEARD:
            return getattr(from_obj, "id", None) not in ignored
        return bool(super().at_msg_receive(text=text, from_obj=from_obj, **kwargs))

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
