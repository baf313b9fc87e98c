"""Speaking and gesturing: say, talk, whisper, shout, emote, and gestures by name."""

from __future__ import annotations

import re
from typing import Any

from evennia.objects.models import ObjectDB

from commands.base import PlayerCommand
from commands.manners import mute_message
from keepsake.agent.surroundings.people import people_near
from keepsake.archive.message_types import MessageType
from keepsake.contrib.evennia.hearing import POSE_MARK, happens, person_of
from keepsake.contrib.evennia.wording import CannotDo, spoken
from keepsake.happening import Manner, Pose, Speech
from keepsake.language.perception import inner_quotes, unquoted
from world.deed.happening import check_deeds
from world.socials import socials

_AFTER_NAME = "=:, \t"
_CLOSED = re.compile(r"[^\w\s]'(?!\w)")
"""A single mark that closes a quotation: it stands after punctuation, as no apostrophe does."""


class SpeechCommand(PlayerCommand):
    """A command whose words others perceive; it refuses words that are too long."""

    help_category = "Speaking"
    arg_regex = None  # `"Hello` and `:nods` work without a blank

    def act(self) -> None:
        """Speak, unless the caller is nowhere or muted."""
        if self.caller.location is None:
            raise CannotDo("You are nowhere, and nobody can hear you.")
        if refusal := mute_message(self.caller):
            raise CannotDo(refusal)
        self.speak()

    def speak(self) -> None:
        """Do the work of the command."""
        raise NotImplementedError

    def speech(self, words: str, missing: str, **kwargs: Any) -> str:
        """Return ``words`` as others hear them; raise CannotDo with ``missing`` if none are left.

        Quotation marks around all the words are left out. Others become single ones, because the
        game shows speech between double ones.
        """
        words = inner_quotes(unquoted(words))
        if not (speech := self.caller.at_pre_say(spoken(words), **kwargs)):
            raise CannotDo(missing)
        return str(speech)


class CmdSay(SpeechCommand):
    """Speak so that everybody in the room hears you.

    Usage:
      say <words>
      "<words>
      '<words>

    To speak to one person, use |wtalk|n. That person knows that you mean them.
    """

    key = "say"
    aliases = ('"', "'")

    def speak(self) -> None:
        """Say it."""
        speech = self.speech(self._words, "Say what? For instance: say Good evening.")
        what = Speech(speaker=person_of(self.caller), words=speech)
        self.show(MessageType.SAY, '$You() $conj(say), "{speech}"', what, speech=speech)
        check_deeds(self.caller, speech)

    @property
    def _words(self) -> str:
        """The words, with the quotation mark that was read as the command if it belongs to them."""
        mark = str(self.cmdstring)
        opens = mark == '"' or (mark == "'" and _CLOSED.search(self.args))
        return f"{mark}{self.args}" if opens else str(self.args)


class CmdShout(SpeechCommand):
    """Shout, so that the rooms one exit away hear you too.

    Usage:
      shout <words>

    Shout a sleeper's name to wake them. In the same room |wshout Wake up!|n
    also works.

    Example:
      shout Mira! The roof is on fire!
    """

    key = "shout"
    aliases = ("yell",)
    arg_regex = r"\s|$"

    def speak(self) -> None:
        """Show it here and in the rooms one exit away."""
        missing = "Shout what? For instance: shout Mira! The soup boils over!"
        speech = self.speech(self.args, missing)
        what = Speech(speaker=person_of(self.caller), words=speech, manner=Manner.SHOUT)
        here = self.caller.location
        rooms = dict.fromkeys(way.destination for way in here.exits)
        with happens(what):
            self.show(MessageType.SHOUT, '$You() $conj(shout), "{speech}"', what, speech=speech)
            for room in rooms:
                if room is not None and room is not here:
                    room.msg_contents(
                        ('{actor} shouts from {place}, "{speech}"', {"type": MessageType.SHOUT}),
                        from_obj=self.caller,
                        mapping={"actor": self.caller, "place": here, "speech": speech},
                    )


class AddressedCommand(SpeechCommand):
    """Speech to somebody: `<name> <words>`, also with `to`, a comma, a colon or `=`."""

    arg_regex = r"\s|$"

    def addressee(self, missing: str) -> tuple[ObjectDB, str]:
        """Return the addressee and the words; raise CannotDo if nobody here has the name."""
        if not self.args:
            raise CannotDo(missing)
        args = re.sub(r"^to\s+", "", self.args, flags=re.IGNORECASE)
        for person in sorted(people_near(self.caller), key=lambda each: -len(each.key)):
            head = args[: len(person.key)]
            rest = args[len(person.key) :]
            if head.casefold() == person.key.casefold() and not rest[:1].isalpha():
                return person, rest.lstrip(_AFTER_NAME)
        name = re.split(f"[{_AFTER_NAME}]", args, maxsplit=1)[0]  # the beginning of a name
        return self.find_person(name), args[len(name) :].lstrip(_AFTER_NAME)


class CmdTalk(AddressedCommand):
    """Speak to one person. Everybody in the room hears it.

    Usage:
      talk <name> <words>     talk to <name>, <words>
      ask <name> <words>
      tell <name> <words>     a player who is elsewhere is paged

    Example:
      talk mira What's good tonight?

    The beginning of a name is enough. If nobody has that name, nothing is sent.
    """

    key = "talk"
    aliases = ("ask", "tell")
    says_words = True
    """For :func:`keepsake.contrib.evennia.speaking.speak_to`: it is ``talk <name> <words>``."""

    def speak(self) -> None:
        """Say it to the addressee; `tell` pages a player."""
        if self.cmdstring == "tell" and self.account and not self._is_for_an_agent():
            self.account.execute_cmd(f"page {self.args}", session=self.session)
            return
        target, words = self.addressee("Talk to whom? For instance: talk mira Good evening.")
        missing = f"What do you want to say to {target.get_display_name(self.caller)}?"
        speech = self.speech(words, missing, receivers=[target])
        text = '$You() $conj(say) to $you(target), "{speech}"'
        what = Speech(speaker=person_of(self.caller), words=speech, to=(person_of(target),))
        self.show(MessageType.TALK, text, what, target=target, speech=speech)
        # Words may do something in this village, such as to tell the bees the news.
        check_deeds(self.caller, speech, to=target)

    def _is_for_an_agent(self) -> bool:
        try:
            return bool(self.addressee("")[0].is_agent)
        except CannotDo:
            return False


class CmdWhisper(AddressedCommand):
    """Speak to one person so that nobody else hears it.

    Usage:
      whisper <name> = <words>

    Agents remember what you whisper to them; see |whelp privacy|n.
    """

    key = "whisper"

    def speak(self) -> None:
        """Whisper it."""
        target, words = self.addressee(
            "Whisper to whom? For instance: whisper mira = I found something."
        )
        me = self.caller.get_display_name(target)
        you = target.get_display_name(self.caller)
        missing = f"What do you want to whisper to {you}?"
        speech = self.speech(words, missing, whisper=True, receivers=[target])
        kind = {"type": MessageType.WHISPER}
        what = Speech(
            speaker=person_of(self.caller),
            words=speech,
            to=(person_of(target),),
            manner=Manner.WHISPER,
        )
        with happens(what):
            self.caller.msg((f'You whisper to {you}, "{speech}"', kind), from_obj=self.caller)
            target.msg((f'{me} whispers to you, "{speech}"', dict(kind)), from_obj=self.caller)
        check_deeds(self.caller, speech, to=target, how=MessageType.WHISPER)


class CmdEmote(SpeechCommand):
    """Do something that everybody in the room sees.

    Usage:
      emote <what you do>
      pose <what you do>
      :<what you do>     ;<what you do>

    Example:
      emote warms his hands at the fire.
        -> * Tom warms his hands at the fire.
      :'s hat drips.
        -> * Tom's hat drips.
      :The corner of his mouth moves.
        -> * Tom — The corner of his mouth moves.

    |whelp socials|n lists gestures that are commands: smile, bow, wave …

    The star marks a pose: no other line begins with one.
    """

    key = "emote"
    aliases = (":", ";", "pose")

    def speak(self) -> None:
        """Show the pose."""
        if not (gesture := spoken(self.args)):
            raise CannotDo("Do what? For instance: emote warms his hands at the fire.")
        what = Pose(actor=person_of(self.caller), gesture=gesture)
        line = POSE_MARK + "{actor}" + _before_gesture(gesture) + "{gesture}"
        self.show(MessageType.POSE, line, what, gesture=gesture)
        check_deeds(self.caller, gesture, how=MessageType.POSE)


def _before_gesture(gesture: str) -> str:
    """Return the characters that separate a name from the gesture after it.

    A gesture that begins with a capital is a sentence with a subject of its own: ``The corner of
    his mouth moves.`` It does not go on after the name. After a colon it would read like speech.
    """
    if gesture.startswith(("'", "’", ",")):
        return ""
    return " — " if gesture[:1].isupper() else " "


class CmdSocial(SpeechCommand):
    """Make a gesture: smile, nod, bow, wave.

    Usage:
      <gesture>
      <gesture> <name>

    Example:
      smile        bow mira        shake ada

    |whelp socials|n lists them. Write any other gesture with |wemote|n.
    """

    auto_help = False
    arg_regex = r"\s|$"
    alone = ""
    together = ""

    def speak(self) -> None:
        """Show the gesture, in the second or third person as fits the reader."""
        words = re.sub(r"^(?:at|to|with|for|before)\s+", "", self.args)
        target = self.find_person(words) if words else None
        if not (text := self.together if target else self.alone):
            whom = " whom" if target is None else ""
            example = self.key + (" mira" if target is None else "")
            raise CannotDo(f"{self.key.capitalize()}{whom}? For instance: {example}.")
        to = (person_of(target),) if target else ()
        what = Pose(actor=person_of(self.caller), to=to)
        self.show(MessageType.POSE, f"{POSE_MARK}$You() {text}", what, target=target)


def social_commands() -> list[CmdSocial]:
    """Return a command for each line of ``socials.yaml``."""
    return [
        CmdSocial(key=each.name, alone=each.alone, together=each.together) for each in socials()
    ]
