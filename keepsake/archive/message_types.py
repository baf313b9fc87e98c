"""The types of messages that the library knows: the values of :attr:`Memory.event`."""

from __future__ import annotations

from enum import StrEnum


class MessageType(StrEnum):
    """The type of a message of the game, or of a memory that the library itself makes.

    A game may have other types, so :attr:`keepsake.archive.records.Memory.event` is any string.
    """

    # Evennia's, or those of our commands
    SAY = "say"
    TALK = "talk"
    """Words that are said aloud to one person."""
    WHISPER = "whisper"
    SHOUT = "shout"
    CHANNEL = "channel"
    POSE = "pose"
    """Somebody acts something out."""
    GIVE = "give"
    LOOK = "look"
    """A look that no act of the agent asked for, as on arrival."""
    MOVE = "move"
    TRAVERSE = "traverse"
    TELEPORT = "teleport"
    FAILURE = "failure"
    """A command was refused."""
    BUILDER = "builder"
    """The answer to a builder's command."""
    # ours
    LOGIN = "login"
    """A player enters or leaves the game."""
    ASLEEP = "asleep"
    """What somebody reads who speaks to a sleeping agent."""
    THINKING = "thinking"
    """What somebody reads whose answer takes long."""
    SHRUG = "shrug"
    """An own act: a stock phrase, said because the model had no answer."""
    COURTESY = "courtesy"
    """An own act: words said by rule, where nothing was asked."""
    SCENE = "scene"
    """A scene of an ordinary day, made by rule."""
    HEARSAY = "hearsay"
    """Words that an agent passes on, by rule."""
    DEED = "deed"
    """A deed by the world's rules: seen by the agent, or done to it."""
    KINDNESS = "kindness"
    WRONG = "wrong"
    FORGOTTEN = "(forgotten)"
    """A tombstone: a memory that its person had deleted. It is its text, too."""


STOCK = frozenset({MessageType.SHRUG, MessageType.COURTESY})
"""Types of own acts whose words are not the agent's own."""
BY_RULE = frozenset({MessageType.SCENE, MessageType.HEARSAY})
"""Types of memories that create no rule, no promise and no question."""
RULED = frozenset({MessageType.DEED, MessageType.KINDNESS, MessageType.WRONG})
"""Types of deeds by the world's rules."""
MOVES = frozenset({MessageType.MOVE, MessageType.TRAVERSE, MessageType.TELEPORT})
"""Types of messages about arrivals and departures."""
