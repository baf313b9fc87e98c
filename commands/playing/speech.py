"""Speaking and gesturing: say, talk, whisper, emote."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Any

from evennia.objects.models import ObjectDB

from commands.base import PlayerCommand, people_here
from commands.playing.manners import silenced
from keepsake.archive.privacy import WHISPER
from keepsake.archive.records import POSE
from keepsake.contrib.evennia.wording import CannotDo, spoken, unquoted
from world.deed.happening import happened

POSED = "* "
"""Begins what is only played; whatever else somebody types begins with their name."""
_AFTER_NAME = "=:, \t"


class SpeechCommand(PlayerCommand):
    """A command whose words others perceive; it refuses what is too long."""

    help_category = "Speaking"
    arg_regex = None  # `"Hello` and `:nods` need no blank

    def act(self) -> None:
        """Speak, if anybody can hear it."""
        if self.caller.location is None:
            raise CannotDo("You are nowhere, and nobody can hear you.")
        if refusal := silenced(self.caller):
            raise CannotDo(refusal)
        self.speak()

    def speak(self) -> None:
        """What the command does."""
        raise NotImplementedError

    def speech(self, words: str, missing: str, **kwargs: Any) -> str:
        """``words`` as others may hear them, after the caller's own hook; raises CannotDo."""
        if not (speech := self.caller.at_pre_say(spoken(unquoted(words)), **kwargs)):
            raise CannotDo(missing)
        return str(speech)

    def tell_if_away(self, target: ObjectDB) -> None:
        """Say to the caller that whom they speak to is away."""
        if target.db.away:
            self.msg(f"{target.get_display_name(self.caller)} is away: {target.db.away}")


class CmdSay(SpeechCommand):
    """Speak so that everybody in the room hears you.

    Usage:
      say <words>
      "<words>
      '<words>

    To turn to one person, use |wtalk|n: they will know that you mean them.
    """

    key = "say"
    aliases = ('"', "'")

    def speak(self) -> None:
        """Say it."""
        speech = self.speech(self.args, "Say what? For instance: say Good evening.")
        self.show(
            "say", you='You say, "{speech}"', others='{actor} says, "{speech}"', speech=speech
        )
        happened(self.caller, speech)


class CmdShout(SpeechCommand):
    """Shout, so that you are heard next door too.

    Usage:
      shout <words>

    Whoever sleeps wakes when you shout their name; in the same room also when
    you shout |wWake up!|n

    Example:
      shout Mira! The roof is on fire!
    """

    key = "shout"
    aliases = ("yell",)
    arg_regex = r"\s|$"

    def speak(self) -> None:
        """Let it be heard here, and one exit away."""
        speech = self.speech(
            self.args, "Shout what? For instance: shout Mira! The soup boils over!"
        )
        self.show(
            "shout",
            you='You shout, "{speech}"',
            others='{actor} shouts, "{speech}"',
            speech=speech,
        )
        here = self.caller.location
        rooms = dict.fromkeys(way.destination for way in here.exits)  # one exit away
        for room in (each for each in rooms if each is not None and each is not here):
            room.msg_contents(
                ('{actor} shouts from {place}, "{speech}"', {"type": "shout"}),
                from_obj=self.caller,
                mapping={"actor": self.caller, "place": here, "speech": speech},
            )


class AddressedCommand(SpeechCommand):
    """Speech to somebody: `<name> <words>`, also with `to`, a comma, a colon or `=`."""

    def addressee(self, missing: str) -> tuple[ObjectDB, str]:
        """Whom the words are for, and the words; raises CannotDo when it is nobody."""
        if not self.args:
            raise CannotDo(missing)
        people = people_here(self.caller)
        args = re.sub(r"^to\s+", "", self.args, flags=re.IGNORECASE)
        matches = [self._whole_name(person, args) for person in people]
        if whole := max((m for m in matches if m), key=lambda m: len(m[0].key), default=None):
            return whole
        name = _first_name(args)
        return self.find_person(name), args[len(name) :].lstrip(_AFTER_NAME)

    @staticmethod
    def _whole_name(person: ObjectDB, args: str) -> tuple[ObjectDB, str] | None:
        """``person`` and the rest, when ``args`` begins with that whole name."""
        name = person.key
        head, rest = args[: len(name)], args[len(name) :]
        if head.casefold() != name.casefold() or rest[:1].isalpha():
            return None
        return person, rest.lstrip("=:, ")


class CmdTalk(AddressedCommand):
    """Speak to one person; everybody in the room hears it.

    Usage:
      talk <name> <words>     talk to <name>, <words>
      ask <name> <words>
      tell <name> <words>     a player who is elsewhere is paged

    Example:
      talk mira What's good tonight?

    The beginning of a name will do. Agents who are spoken to answer first.
    If nobody has that name, nothing is sent.
    """

    key = "talk"
    aliases = ("ask", "tell")
    arg_regex = r"\s|$"

    def speak(self) -> None:
        """Say it to them; page a player who is told something."""
        if self.cmdstring == "tell" and self.account and not self._is_for_an_agent():
            self.account.execute_cmd(f"page {self.args}", session=self.session)
            return
        target, words = self.addressee("Talk to whom? For instance: talk mira Good evening.")
        missing = f"What do you want to say to {target.get_display_name(self.caller)}?"
        speech = self.speech(words, missing, receivers=[target])
        self.say_to(target, speech)
        happened(self.caller, speech, to=target)

    def _is_for_an_agent(self) -> bool:
        """Whether the words begin with an agent's name who is here."""
        agents = [each for each in people_here(self.caller) if each.is_agent]
        whole = any(self._whole_name(agent, self.args) for agent in agents)
        return whole or bool(self.matches(_first_name(self.args), agents))

    def say_to(self, target: ObjectDB, speech: str) -> None:
        """Let all hear it; say to the caller that whom they speak to is away."""
        self.show(
            "talk",
            you='You say to {target}, "{speech}"',
            others='{actor} says to {target}, "{speech}"',
            target=target,
            to_target='{actor} says to you, "{speech}"',
            speech=speech,
        )
        self.tell_if_away(target)


class CmdWhisper(AddressedCommand):
    """Speak to one person so that nobody else hears it.

    Usage:
      whisper <name> = <words>

    Agents keep what you whisper to them in their memory; see
    |whelp privacy|n.
    """

    key = "whisper"
    arg_regex = r"\s|$"

    def speak(self) -> None:
        """Whisper it."""
        target, words = self.addressee(
            "Whisper to whom? For instance: whisper mira = I found something."
        )
        me, you = self.caller.get_display_name(target), target.get_display_name(self.caller)
        missing = f"What do you want to whisper to {you}?"
        speech = self.speech(words, missing, whisper=True, receivers=[target])
        facts = {"type": "whisper", "to": target.id}
        self.caller.msg((f'You whisper to {you}, "{speech}"', facts), from_obj=self.caller)
        target.msg((f'{me} whispers to you, "{speech}"', dict(facts)), from_obj=self.caller)
        self.tell_if_away(target)
        happened(self.caller, speech, to=target, how=WHISPER)


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

    |whelp socials|n lists what needs no words of yours: smile, bow, wave …

    The star says that you play it: nothing else begins with one.
    """

    key = "emote"
    aliases = (":", ";", "pose")

    def speak(self) -> None:
        """Show it."""
        if not (gesture := spoken(self.args)):
            raise CannotDo("Do what? For instance: emote warms his hands at the fire.")
        blank = "" if gesture.startswith(("'", "’", ",")) else " "
        text = POSED + "{actor}" + blank + "{gesture}"
        self.show("pose", you=text, others=text, gesture=gesture)
        happened(self.caller, gesture, how=POSE)


def _first_name(args: str) -> str:
    return "".join(takewhile(lambda char: char not in _AFTER_NAME, args))
