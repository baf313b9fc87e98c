"""Speaking and gesturing: say, talk, whisper, emote."""

from __future__ import annotations

import re
from typing import Any

from evennia.objects.models import ObjectDB

from commands.base import PlayerCommand, people_here
from commands.playing.manners import silenced
from commands.wording import CannotDo, spoken, unquoted
from keepsake.archive.privacy import WHISPER
from keepsake.archive.records import POSE
from typeclasses.deeds.happening import happened

POSED = "* "
"""Begins what is only played; whatever else somebody types begins with their name."""
_NAME_AND_REST = re.compile(r"([^=:,\s]*)[=:,\s]*(.*)")


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
        name, rest = _NAME_AND_REST.match(args).groups()
        return self.find_person(name), rest

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
      talk <name> <words>
      talk to <name>, <words>

    Example:
      talk mira What's good tonight?

    The beginning of a name will do. Who is spoken to knows it and
    answers first.
    """

    key = "talk"
    aliases = ("ask",)
    arg_regex = r"\s|$"

    def speak(self) -> None:
        """Say it to them."""
        target, words = self.addressee("Talk to whom? For instance: talk mira Good evening.")
        missing = f"What do you want to say to {target.get_display_name(self.caller)}?"
        speech = self.speech(words, missing, receivers=[target])
        self.say_to(target, speech)
        self.tell_if_away(target)
        happened(self.caller, speech, to=target)


class CmdTell(CmdTalk):
    """Speak to somebody who lives here, or to a player wherever they are.

    Usage:
      tell <name> <words>

    Somebody who lives here has to be in the same room, and all in the room
    hear it, as with |wtalk|n. A player can be anywhere, and nobody else reads
    it, as with |wpage|n. If nobody has that name, nothing is sent.

    Example:
      tell mira Good evening.
    """

    key = "tell"
    aliases = ()

    def speak(self) -> None:
        """Talk, if it is an agent; page, if it is not."""
        agents = [each for each in people_here(self.caller) if each.is_agent]
        name = _NAME_AND_REST.match(self.args)[1]
        whole = any(self._whole_name(agent, self.args) for agent in agents)
        if whole or self.matches(name, agents):
            super().speak()
        elif self.account:
            self.account.execute_cmd(f"page {self.args}", session=self.session)
        else:
            raise CannotDo("Only players can page.")


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
