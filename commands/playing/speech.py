"""Speaking and gesturing: say, talk, whisper, emote."""

from __future__ import annotations

import re
from typing import Any

from evennia.objects.models import ObjectDB

from commands.base import PlayerCommand, nobody, people_here
from commands.playing.manners import silenced
from commands.wording import TooMuch, spoken, unquoted

POSED = "* "
"""Begins what is only played; whatever else somebody types begins with their name."""
_NAME_AND_REST = re.compile(r"([^=:,\s]*)[=:,\s]*(.*)")


class SpeechCommand(PlayerCommand):
    """A command whose words others perceive; it refuses what is too long."""

    help_category = "Talking"
    arg_regex = None  # `"Hello` and `:nods` need no blank

    def func(self) -> None:
        """Make the words safe, then do the act."""
        if self.caller.location is None:
            self.fail("You are nowhere, and nobody can hear you.")
            return
        if refusal := silenced(self.caller):
            self.fail(refusal)
            return
        try:
            self.act()
        except TooMuch as refusal:
            self.fail(str(refusal))

    def act(self) -> None:
        """What the command does."""
        raise NotImplementedError

    def speech(self, words: str, **kwargs: Any) -> str:
        """``words`` as others may hear them, after the caller's own hook."""
        return str(self.caller.at_pre_say(spoken(unquoted(words)), **kwargs) or "")


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

    def act(self) -> None:
        """Say it."""
        if not (speech := self.speech(self.args)):
            self.fail("Say what? For instance: say Good evening.")
            return
        self.show(
            "say", you='You say, "{speech}"', others='{actor} says, "{speech}"', speech=speech
        )


class AddressedCommand(SpeechCommand):
    """Speech to somebody: `<name> <words>`, also with `to`, a comma, a colon or `=`."""

    def addressee(self) -> tuple[ObjectDB | None, str]:
        """Whom the words are for, and the words; the caller is told when it is nobody."""
        people = people_here(self.caller)
        args = re.sub(r"^to\s+", "", self.args, flags=re.IGNORECASE)
        matches = [self._whole_name(person, args) for person in people]
        if whole := max((m for m in matches if m), key=lambda m: len(m[0].key), default=None):
            return whole
        name, rest = _NAME_AND_REST.match(args).groups()
        return self.find(name, people, nobody(name, self.caller)), rest

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

    def act(self) -> None:
        """Say it to them."""
        if not self.args:
            self.fail("Talk to whom? For instance: talk mira Good evening.")
            return
        target, words = self.addressee()
        if target is None:
            return
        if not (speech := self.speech(words, receivers=[target])):
            self.fail(f"What do you want to say to {target.get_display_name(self.caller)}?")
            return
        self.show(
            "talk",
            you='You say to {target}, "{speech}"',
            others='{actor} says to {target}, "{speech}"',
            target=target,
            to_target='{actor} says to you, "{speech}"',
            speech=speech,
        )


class CmdWhisper(AddressedCommand):
    """Speak to one person so that nobody else hears it.

    Usage:
      whisper <name> = <words>

    Agents keep what you whisper to them in their memory; see
    |whelp privacy|n.
    """

    key = "whisper"
    arg_regex = r"\s|$"

    def act(self) -> None:
        """Whisper it."""
        if not self.args:
            self.fail("Whisper to whom? For instance: whisper mira = I found something.")
            return
        target, words = self.addressee()
        if target is None:
            return
        if not (speech := self.speech(words, whisper=True, receivers=[target])):
            self.fail(f"What do you want to whisper to {target.get_display_name(self.caller)}?")
            return
        facts = {"type": "whisper", "to": target.id}
        me, you = self.caller.get_display_name(target), target.get_display_name(self.caller)
        self.caller.msg((f'You whisper to {you}, "{speech}"', facts), from_obj=self.caller)
        target.msg((f'{me} whispers to you, "{speech}"', dict(facts)), from_obj=self.caller)


class CmdEmote(SpeechCommand):
    """Do something that everybody in the room sees.

    Usage:
      emote <what you do>
      pose <what you do>
      :<what you do>

    Example:
      emote warms his hands at the fire.
        -> * Tom warms his hands at the fire.
      :'s hat drips.
        -> * Tom's hat drips.

    The star says that you play it: nothing else begins with one.
    """

    key = "emote"
    aliases = (":", "pose")

    def act(self) -> None:
        """Show it."""
        if not (gesture := spoken(self.args)):
            self.fail("Do what? For instance: emote warms his hands at the fire.")
            return
        blank = "" if gesture.startswith(("'", "’", ",")) else " "
        text = POSED + "{actor}" + blank + "{gesture}"
        self.show("pose", you=text, others=text, gesture=gesture)
