"""Speech of one character to another, in any game."""

from __future__ import annotations

from typing import Any

from keepsake.agent.surroundings.game_objects import CharacterObject
from keepsake.archive.message_types import MessageType
from keepsake.contrib.evennia.hearing import happens, person_of
from keepsake.contrib.evennia.wording import harmless
from keepsake.happening import KnownVerb, Speech


def speak_to(speaker: CharacterObject, target: CharacterObject, words: str) -> None:
    """Let a character say words to another aloud.

    A game's command ``talk`` may forbid or change it, so it is used if it says words: then its
    class has ``says_words = True``. Many games have a ``talk`` that opens a menu.
    """
    talks = [each for each in speaker.cmdset.current or () if each == KnownVerb.TALK]
    if talks and all(getattr(each, "says_words", False) for each in talks):
        speaker.execute_cmd(f"{KnownVerb.TALK} {target.get_display_name(speaker)} {words}")
        return
    said = words_said(speaker, words, receivers=[target])
    if said:
        show_speech(speaker, target, words, said)


def show_speech(speaker: CharacterObject, target: CharacterObject, words: str, said: str) -> None:
    """Show words to one person to everybody in the room.

    Args:
        words: The words, for agents.
        said: The words as they are shown.
    """
    place = speaker.location
    if place is None:
        return
    speech = Speech(speaker=person_of(speaker), words=words.strip(), to=(person_of(target),))
    with happens(speech):
        place.msg_contents(
            ('{speaker} says to {target}, "{said}"', {"type": MessageType.TALK}),
            exclude=[target],
            from_obj=speaker,
            mapping={"speaker": speaker, "target": target, "said": said},
        )
        name = speaker.get_display_name(target)
        target.msg((f'{name} says to you, "{said}"', {"type": MessageType.TALK}), from_obj=speaker)


def words_said(speaker: CharacterObject, words: str, **kwargs: Any) -> str:
    """Return what a character says as ``at_pre_say`` leaves it; empty if it may not say it.

    RPSystem's hook makes an emote of the words, ``/Me says, "…"``, for its own command. Words that
    are only framed so are used without the frame.
    """
    plain = harmless(words.strip())
    changed = str(speaker.at_pre_say(plain, **kwargs) or "")
    return plain if plain in changed else changed
