"""Getting about, alone or after somebody, and sitting down."""

from __future__ import annotations

from typing import Any

import evennia
from evennia.objects.models import ObjectDB

from commands.base import PlayerCommand
from commands.playing.speech import SpeechCommand
from commands.playing.things import find_detail
from commands.wording import CannotDo, harmless, listed, quoted, sought
from keepsake.prompt.verbs import COMPASS


class CmdGo(PlayerCommand):
    """Walk through an exit.

    Usage:
      go <direction>
      go <place>
      <direction>

    Example:
      go north     n     go quay

    |wlook|n lists the exits. A place next door can be called by name.
    """

    key = "go"
    aliases = ("walk",)

    def act(self) -> None:
        """Find the exit and walk through it."""
        here = self.caller.location
        exits = [e for e in here.exits if e.access(self.caller, "view")] if here else []
        names = listed([e.get_display_name(self.caller) for e in exits])
        ways = f"Exits: {names}." if exits else "There is no way out."
        words = sought(self.args).removeprefix("to ").removeprefix("the ")
        if not words:
            raise CannotDo(f"Go where? {ways}")
        # One exit of that direction is meant, whatever others are called besides.
        direction = COMPASS.get(words.casefold(), words.casefold())
        named = [each for each in exits if each.key.casefold() == direction]
        missing = f"There is no exit {quoted(words)} here. {ways}"
        way = named[0] if len(named) == 1 else self.find(words, exits, missing)
        if way.access(self.caller, "traverse"):
            way.at_traverse(self.caller, way.destination)
        elif way.db.err_traverse:
            raise CannotDo(way.db.err_traverse)
        else:
            way.at_failed_traverse(self.caller)


class CmdNoExit(CmdGo):
    """A direction typed where it leads nowhere: the exits' own commands come first."""

    auto_help = False

    def parse(self) -> None:
        """The direction is the command's own name."""
        self.args = self.key
        super().parse()


class CmdExits(PlayerCommand):
    """See the ways out of here, and where they lead.

    Usage:
      exits
    """

    key = "exits"
    aliases = ("ways",)
    arg_regex = r"$"

    def act(self) -> None:
        """List them as a look does."""
        here = self.caller.location
        self.msg((here and here.get_display_exits(self.caller)) or "There is no way out.")


class CmdFollow(PlayerCommand):
    """Go wherever somebody goes.

    Usage:
      follow <name>
      follow              whom you follow
      unfollow            stop it
      lose <name>         have somebody follow you no longer
    """

    key = "follow"
    aliases = ("unfollow", "lose")

    def act(self) -> None:
        """Begin or end it."""
        caller, leader = self.caller, self.caller.ndb.following
        if self.cmdstring == "lose":
            other = self.find(self.args, followers(caller), "They do not follow you.")
            other.ndb.following = None
            other.msg(f"You lose {caller.get_display_name(other)}.")
            self.msg(f"{other.get_display_name(caller)} follows you no longer.")
        elif self.cmdstring == "unfollow" or self.args.casefold() in ("me", "self", "nobody"):
            caller.ndb.following = None
            self.msg("You follow nobody.")
        elif not self.args:
            self.msg(f"You follow {leader.get_display_name(caller) if leader else 'nobody'}.")
        else:
            other = self.find_person(self.args)
            if caller.id in (other.db.ignored or {}):
                raise CannotDo(f"You cannot follow {other.get_display_name(caller)}.")
            caller.ndb.following = other
            self.msg(f"You follow {other.get_display_name(caller)}. `unfollow` ends it.")
            other.msg(f"{caller.get_display_name(other)} follows you.")


def followers(leader: ObjectDB) -> list[ObjectDB]:
    """Who plays and goes wherever that one goes."""
    playing = {each.get_puppet() for each in evennia.SESSION_HANDLER.get_sessions()}
    return [each for each in playing if each is not None and each.ndb.following == leader]


class CmdGroup(SpeechCommand):
    """See who goes with you, or speak to them wherever they are.

    Usage:
      group
      group <words>

    A group is who follows one, and that one: see |wfollow|n.
    """

    key = "group"
    aliases = ("gtell", "gsay")
    arg_regex = r"\s|$"

    def speak(self) -> None:
        """List them, or tell the players among them."""
        leader = self.caller.ndb.following or self.caller
        members = [leader, *followers(leader)]
        if len(members) == 1:
            raise CannotDo("You are in no group. |wfollow|n somebody.")
        if not self.args:
            rest = listed([each.get_display_name(self.caller) for each in members[1:]])
            self.msg(f"{leader.get_display_name(self.caller)} is followed by {rest}.")
            return
        speech = self.speech(self.args, "Say what?")
        for each in members:
            if not each.is_agent:
                name = self.caller.get_display_name(each)
                text = f'[Group] {name} says, "{speech}"'
                each.msg((text, {"type": "say"}), from_obj=self.caller)


_POSTURES = {"sit": "sitting", "rest": "sitting", "sleep": "asleep", "lie": "asleep"}
_SHOWN = {
    "sitting": ("You sit down", "{actor} sits down"),
    "asleep": ("You lie down to sleep", "{actor} lies down to sleep"),
    "": ("You stand up", "{actor} stands up"),
}


class CmdSit(PlayerCommand):
    """Sit down, lie down to sleep, or stand up again.

    Usage:
      sit [on <thing or detail>]
      sleep
      stand

    Others see it. Who walks away stands up first.
    """

    key = "sit"
    aliases = ("stand", "sleep", "rest", "lie down", "sit down", "stand up", "wake up")
    arg_regex = r"\s+(?:on|at|in|by)\s|\s*$"

    def act(self) -> None:
        """Do it before all eyes."""
        caller, here = self.caller, self.caller.location
        posture = _POSTURES.get(self.cmdstring.split()[0], "")
        if (caller.db.posture or "") == posture:
            raise CannotDo(f"You are {posture or 'standing'} already.")
        on, _, what = self.args.partition(" ")
        if what and not find_detail(here, what):
            self.find(what, here.contents, "There is none here.")
        caller.db.posture = posture
        where = f" {on} the {sought(what)}" if what else ""
        you, others = (text + "{where}." for text in _SHOWN[posture])
        self.show("posture", you=you, others=others, where=harmless(where))


def direction_commands() -> list[Any]:
    """One fallback for each compass direction.

    Evennia treats commands that share any name as one, so that a single fallback
    with all the names would vanish wherever one exit is.
    """
    return [CmdNoExit(key=way, aliases=[short]) for short, way in COMPASS.items()]
