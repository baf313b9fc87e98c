"""Ready-made agents: a character of the game with a memory, and one in place of ``LLMNPC``."""

from __future__ import annotations

import re
from typing import Any

from django.conf import settings
from evennia.utils.utils import class_from_module
from twisted.internet.defer import Deferred, succeed

from keepsake.agent.runtime import running, runtime
from keepsake.agent.surroundings.game_objects import CharacterObject
from keepsake.agent.surroundings.identity import is_agent, is_character
from keepsake.agent.surroundings.naming import name_of
from keepsake.archive.message_types import MessageType
from keepsake.contrib.evennia.agents import AgentMixin
from keepsake.contrib.evennia.hearing import happens, is_told, person_of
from keepsake.contrib.evennia.perceiving import text_and_options
from keepsake.happening import Speech

# A game's rooms and commands call methods of its own Character on all characters that they meet.
# An agent without them would make their code fail, such as that of somebody who enters its room.
_Character: Any = class_from_module(settings.BASE_CHARACTER_TYPECLASS)

MADE_PROFILE = "made_profile"
"""The attribute with the profile that a :class:`SimpleMixin` made of its description."""
_PROFILE = "You are {name}. {desc}"
_SLOT = re.compile(r"\{(name|desc|location|character)\}")
"""What a prefix is filled with, as in ``LLMNPC``; other braces stay as they are."""


class SimpleMixin(AgentMixin):
    """An agent that takes the place of ``LLMNPC`` of Evennia's contribs.

    It is talked to by that contrib's command ``talk``, which calls :meth:`at_talked_to`, and by
    ``say``. Its profile is made of what such a character has: ``prompt_prefix`` or its description.

    Attributes:
        prompt_prefix: Who it is, with ``{name}``, ``{desc}`` and ``{location}``; on the class, or
            as an attribute in the database. None for ``LLM_PROMPT_PREFIX`` of the settings, or the
            description alone.
    """

    prompt_prefix: str | None = None

    def at_init(self) -> None:
        """Make the profile when it is loaded: its class or the settings may have changed."""
        super().at_init()
        self.make_profile()

    def at_object_post_creation(self) -> None:
        """Make the profile of what it was created with."""
        super().at_object_post_creation()
        self.make_profile()

    def make_profile(self) -> None:
        """Make the profile of prefix and description, unless somebody has written one.

        A builder may change the description at any time, so it is called for each line.
        """
        profile = self.attributes.get("profile")
        made = self.attributes.get(MADE_PROFILE)
        if profile and profile != made:
            return
        wanted = self._profile()
        if wanted != profile:
            self.attributes.batch_add(("profile", wanted), (MADE_PROFILE, wanted))

    def _profile(self) -> str:
        setting = getattr(settings, "LLM_PROMPT_PREFIX", None)
        prefix = self.attributes.get("prompt_prefix") or self.prompt_prefix or setting or _PROFILE
        place = self.location
        known = {
            "name": self.key,
            "desc": str(self.db.desc or "").strip(),
            "location": str(place.key) if place is not None else "",
            "character": "whoever speaks to you",
        }
        return _SLOT.sub(lambda slot: known[slot[1]], str(prefix)).strip()

    # -- being talked to

    def take_line(self, text: Any, from_obj: Any) -> None:
        """Perceive a line; a character's line of which nothing is known, at the end of this turn.

        The command ``talk`` shows such a line first, and only then calls :meth:`at_talked_to`.
        """
        self.make_profile()
        _, options = text_and_options(text)
        plain = is_character(from_obj) and not is_agent(from_obj) and not options.get("type")
        if not plain or is_told(from_obj) or not running():
            super().take_line(text, from_obj)
            return
        if not self._waiting:
            runtime().post(self._take_waiting)
        self._waiting = [*self._waiting, (text, from_obj)]

    def at_talked_to(self, speech: str, character: CharacterObject) -> Deferred[None]:
        """Hear words of a character to this one, and answer when the model has.

        It remembers the line that was shown for them, or one of its own if none was.

        Returns:
            A Deferred that has fired, because ``LLMNPC`` returns one.
        """
        words = str(speech).strip()
        if not words:
            return succeed(None)
        name = name_of(character, self)
        shown: object = (f'{name} says to you, "{words}"', {"type": MessageType.TALK})
        lines = [each for each in self._waiting if each[1] is character]
        if lines:
            shown = lines[-1][0]
            self._waiting = [each for each in self._waiting if each is not lines[-1]]
        self._take_waiting()
        told = Speech(speaker=person_of(character), words=words, to=(person_of(self),))
        with happens(told):
            super().take_line(shown, character)
        return succeed(None)

    @property
    def _waiting(self) -> list[tuple[object, object]]:
        """The lines of this turn of the reactor that are not perceived yet, with their senders."""
        return list(self.ndb.waiting_lines or ())

    @_waiting.setter
    def _waiting(self, lines: list[tuple[object, object]]) -> None:
        self.ndb.waiting_lines = lines

    def _take_waiting(self) -> None:
        waiting = self._waiting
        self._waiting = []
        for text, from_obj in waiting:
            super().take_line(text, from_obj)


class AgentNPC(AgentMixin, _Character):
    """A ready-made agent, for games without their own agent class: the game's own Character."""


class SimpleNPC(SimpleMixin, _Character):
    """The game's own Character as a :class:`SimpleMixin`."""
