"""Characters, which perceive and act; a person or an agent plays each."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import evennia
from evennia.objects.objects import DefaultCharacter
from evennia.utils.ansi import strip_ansi

from keepsake.agent.runtime import runtime
from keepsake.archive.message_types import BY_RULE, MessageType
from keepsake.contrib.evennia.characters import CharacterMixin
from keepsake.contrib.evennia.hearing import is_spoken_to
from keepsake.errors import KeepsakeError
from typeclasses.clients import SPOKEN, send, send_room
from typeclasses.objects import ObjectParent
from world.deed.effects import forget_player, return_things
from world.deed.happening import check_deeds

NO_MODEL_YET = "|x(There is no language model yet: simple rules answer for the villagers.)|n"
MODEL_NOW = "|x(The villagers have a language model now.)|n"
_HEARD = frozenset(
    {
        MessageType.SAY,
        MessageType.TALK,
        MessageType.WHISPER,
        MessageType.POSE,
        MessageType.SHOUT,
        *BY_RULE,
    }
)


def tell_of_model() -> None:
    """Tell the players who read that there was no language model that there is one now."""
    if runtime().agent_profile is None:
        return
    for session in evennia.SESSION_HANDLER.get_sessions():
        character = session.get_puppet()
        if character is not None and character.ndb.knows_no_model:
            character.ndb.knows_no_model = False
            character.msg(MODEL_NOW)


class Character(CharacterMixin, ObjectParent, DefaultCharacter):
    """A character in the world, and the class of the players' characters."""

    default_description = "A stranger, as yet undescribed."

    def get_display_desc(self, looker: Any, **kwargs: Any) -> str:
        """Return the description, and whether the character sleeps."""
        text = super().get_display_desc(looker, **kwargs)
        sleeps = f"{self.get_display_name(looker, **kwargs)} lies asleep."
        return f"{text}\n{sleeps}" if self.db.asleep else text

    def get_display_things(self, looker: Any, **kwargs: Any) -> str:
        """Return what the character carries: ``Carries: a jar of honey``."""
        line = super().get_display_things(looker, **kwargs).replace(", and ", " and ")
        return f"|wCarries:|n {line.partition('|n ')[2]}." if line else ""

    def announce_move_from(
        self, destination: Any, msg: str | None = None, mapping: Any = None, **kwargs: Any
    ) -> None:
        """Show the departure to the old room: ``Tom goes south to The Quay``."""
        way = next((e for e in self.location.exits if e.destination == destination), None)
        text = "{object} goes {exit} to {destination}." if way else "{object} is gone."
        super().announce_move_from(destination, msg=msg or text, mapping=mapping, **kwargs)

    def announce_move_to(
        self, source_location: Any, msg: str | None = None, mapping: Any = None, **kwargs: Any
    ) -> None:
        """Show the arrival to the new room: ``Tom arrives from The Kettle``."""
        text = "{object} arrives from {origin}."
        super().announce_move_to(source_location, msg=msg or text, mapping=mapping, **kwargs)

    def msg(
        self,
        text: Any = None,
        from_obj: Any = None,
        session: Any = None,
        options: Any = None,
        **kwargs: Any,
    ) -> None:
        """Send a text; for the web client, mark words that are said to this character."""
        if isinstance(text, tuple) and len(text) > 1 and is_spoken_to(self):
            text = (text[0], {**text[1], "to_you": True})
        super().msg(text=text, from_obj=from_obj, session=session, options=options, **kwargs)

    def at_msg_receive(self, text: Any = None, from_obj: Any = None, **kwargs: Any) -> bool:
        """Return whether to show a message: speech and emotes of ignored players are hidden."""
        line, *_, facts = text if isinstance(text, tuple) and len(text) > 1 else (text, None)
        kind = (facts or {}).get("type")
        if kind in _HEARD and getattr(from_obj, "id", None) in (self.db.ignored or ()):
            return False
        if kind in SPOKEN:
            talker = getattr(from_obj, "key", "")
            said = strip_ansi(str(line))
            send(self, "comm_channel_text", channel=kind, talker=talker, text=said)
        return bool(super().at_msg_receive(text=text, from_obj=from_obj, **kwargs))

    def at_look(self, target: Any, **kwargs: Any) -> str:
        """Return the target's appearance; for the room, also send the location to the clients."""
        if target is self.location:
            send_room(self)
        return str(super().at_look(target, **kwargs))

    def at_post_puppet(self, **kwargs: Any) -> None:
        """Show the room, announce the player, and check for steps of deeds."""
        super().at_post_puppet(**kwargs)
        with suppress(KeepsakeError):  # the agents do not run, or their model cannot be used
            if runtime().agent_profile is None:
                self.msg(NO_MODEL_YET)
                self.ndb.knows_no_model = True
        check_deeds(self)

    def at_forgotten(self) -> None:
        """Delete the player's progress in deeds, and their name from the world's records."""
        forget_player(self)

    def at_post_move(self, source_location: Any, move_type: str = "move", **kwargs: Any) -> None:
        """Look around, and check whether the arrival takes a step of a deed."""
        if not self.is_agent:
            return_things(self.location)
        super().at_post_move(source_location, move_type=move_type, **kwargs)
        check_deeds(self)
