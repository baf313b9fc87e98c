"""What a game may override on its agents.

Hooks are called on the reactor thread. Their exceptions are logged, and the agent goes on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from keepsake.agent.surroundings.game_objects import CharacterObject, GameObject
from keepsake.books.usual_hours import UsualHours
from keepsake.tasks.answer import AnswerPart


class AgentHooks:
    """The hooks of :class:`~keepsake.contrib.evennia.agents.AgentMixin`, which do nothing here."""

    private_lines = True
    """Whether a plain line that is sent to this agent alone is private: ``agent.msg("…")``.

    The agent tells it only to the character that sent it, or to nobody if no character did. Set it
    to False if your game sends lines that everybody may know to each character by itself, such as
    the weather.
    """

    pictures: Collection[str] = frozenset({"map", "xymap"})
    """Types of messages that are drawn with characters. The agent does not perceive them.

    These are the types of the maps of Evennia's in-game map and of its grid.
    """

    agent_verbs: Mapping[str, str] = {}
    """Commands of its command set that the model is offered in addition to the standard verbs.

    Maps each usage to a sentence on what it does: ``{"attack <person>": "attack somebody"}``. The
    first word is the command; ``<person>``, ``<thing>``, ``<item>`` (carried) and ``<exit>`` are
    replaced by what is there, ``<words>`` is free text. May be a property.
    """

    def at_agent_heard(
        self, line: str, speaker: CharacterObject, kind: str, addressed: bool
    ) -> bool | None:
        """Called after the agent remembers an event that may start a thought; False prevents it.

        Args:
            line: The remembered text: ``Tom says, "Hello."``; empty if a player logs in here.
            speaker: The character that spoke or acted.
            kind: The type of the message, such as ``say``, ``whisper``, ``give``; or ``arrival``.
            addressed: Whether it was said or given to this agent.
        """

    def at_agent_prompt(self) -> Sequence[str]:
        """Called for each prompt; returns lines for its last message, which are not remembered."""
        return ()

    def at_agent_answer(self, part: AnswerPart) -> AnswerPart | None:
        """Called for each part of an answer before it is said or done; None vetoes that part.

        ``part``: Its ``kind`` is ``speech``, ``emote`` or ``deed``; its ``text`` is what the model
        wrote: ``give lamp to Tom``. Return it, or ``dataclasses.replace(part, text=…)``.
        """
        return part

    def deeds_needed(self, words: str, who: CharacterObject) -> Mapping[str, str]:
        """Called when a model that writes no commands has answered somebody.

        If the model says that its answer agrees to one of the deeds, ``who`` is told what it needs.

        Args:
            words: What was said to the agent.
            who: The character that said it.

        Returns:
            Deeds that the words are about and that no command of the agent does, each with what
            ``who`` must do: ``{"give comb of honey to Tom": "Tell the bees the news first."}``.
        """
        return {}

    def wishes(self) -> Collection[str]:
        """Return the names of things that the agent waits for: ``("blue cup",)``.

        Words of others that name one are a reason to think, though they are not said to the agent.
        It is called for words that are said beside the agent, so it must be fast.
        """
        return ()

    def is_everyday(self, line: str, facts: Mapping[str, Any], from_obj: GameObject | None) -> bool:
        """Return whether a scene is not remembered, because it happens every day.

        Args:
            line: The line of the scene.
            facts: The options of its message.
            from_obj: Who does what it tells of; None for nobody.
        """
        return False

    def usual_day(self) -> str:
        """Return what the agent does on an ordinary day, in a line; empty if that is not set.

        The line is in every prompt, and at night a model plans what the agent does besides. It
        should stay the same for a day: a model server keeps the beginning of a prompt, where it
        stands, in its cache.
        """
        return ""

    def usual_now(self) -> str:
        """Return what the agent does at this hour of an ordinary day; empty if that is not set.

        The line is at the end of every prompt.
        """
        return ""

    def hours_between(self, since: datetime, until: datetime) -> Sequence[UsualHours]:
        """Return what the agent will do by itself in a span of time, if no plan is due.

        Pages for builders show it for today and tomorrow. So it says which hours will hold, by the
        same rules as the game's own, and it must be fast. Empty if that is not set.

        Args:
            since: The first moment, in the world's time zone.
            until: The moment after the last.
        """
        return ()

    def at_minute(self) -> None:
        """Called each minute, to move the agent through its day."""
