"""Characters: whatever perceives and acts, played by a person or an agent."""

from __future__ import annotations

from typing import Any

import evennia
from evennia.comms.models import Msg
from evennia.objects.objects import DefaultCharacter

from keepsake.archive.records import BY_RULE
from keepsake.contrib.evennia.characters import CharacterMixin
from typeclasses.appearance import CharacterAppearance
from typeclasses.clients import tell_name, tell_room, tell_speech
from typeclasses.objects import ObjectParent
from world.deed.happening import happened
from world.deed.order import put_in_order

_HEARD = frozenset({"say", "talk", "whisper", "pose", "shout", *BY_RULE})


class Character(CharacterAppearance, CharacterMixin, ObjectParent, DefaultCharacter):
    """Somebody in the world; people play one of these."""

    @property
    def is_asleep(self) -> bool:
        """Whether it sleeps."""
        return self.db.posture == "asleep"

    @property
    def gender(self) -> str:
        """As Evennia's pronouns want it: ``male``, ``female``, else ``neutral``."""
        said = str(self.db.gender or "")
        return said if said in ("male", "female") else "neutral"

    def at_pre_move(self, destination: Any, move_type: str = "move", **kwargs: Any) -> bool:
        """Stand up before leaving."""
        if self.attributes.get("posture"):
            self.attributes.remove("posture")
        return bool(super().at_pre_move(destination, move_type=move_type, **kwargs))

    def at_msg_receive(self, text: Any = None, from_obj: Any = None, **kwargs: Any) -> bool:
        """Whether it is shown: what somebody says or plays whom this one ignores is not."""
        ignored = self.attributes.get("ignored")
        facts = text[1] if isinstance(text, tuple) and len(text) > 1 else None
        if ignored and from_obj is not None and facts and facts.get("type") in _HEARD:
            return getattr(from_obj, "id", None) not in ignored
        tell_speech(self, text, from_obj)
        return bool(super().at_msg_receive(text=text, from_obj=from_obj, **kwargs))

    def at_look(self, target: Any, **kwargs: Any) -> str:
        """What they see of it; their clients are told where they are, too."""
        if target is self.location:
            tell_room(self)
        return str(super().at_look(target, **kwargs))

    def at_post_puppet(self, **kwargs: Any) -> None:
        """Show the room and tell the others."""
        self._tell_portal()
        tell_name(self)
        self.attributes.remove("away")
        super().at_post_puppet(**kwargs)
        self._tell_of_letters()
        happened(self)

    def _tell_of_letters(self) -> None:
        new = Msg.objects.get_by_tag("new", category="mail")
        count = new.filter(db_receivers_accounts=self.account).count() if self.account else 0
        if count:
            self.msg(f"New letters: {count}. |wmail|n shows them.")

    def _tell_portal(self) -> None:
        """Let the Portal know who plays whom, as Evennia does at a reload.

        So a Server after one that was killed can go on with the same players.
        """
        if getattr(evennia.EVENNIA_SERVER_SERVICE, "amp_protocol", None) is not None:
            for session in self.sessions.all():
                evennia.SESSION_HANDLER.session_portal_sync(session)

    def at_post_move(self, source_location: Any, move_type: str = "move", **kwargs: Any) -> None:
        """Look around, and see whether something comes of being here."""
        if not self.is_agent:
            put_in_order(self.location)
        super().at_post_move(source_location, move_type=move_type, **kwargs)
        happened(self)
