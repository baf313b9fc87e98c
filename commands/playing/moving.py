"""Getting about, alone or after somebody, and sitting down."""

from __future__ import annotations

from commands.base import PlayerCommand
from commands.playing.things import find_detail
from keepsake.contrib.evennia.wording import CannotDo, harmless, listed, quoted, sought
from keepsake.prompt.verbs import COMPASS
from world.deed.happening import happened


class CmdGo(PlayerCommand):
    """Walk through an exit.

    Usage:
      go <direction>
      go <place>
      <direction>
      exits              where you can go

    Example:
      go north     n     go quay

    |wlook|n lists the exits. A place next door can be called by name.
    """

    key = "go"
    aliases = ("walk", "exits")

    def act(self) -> None:
        """Find the exit and walk through it."""
        here = self.caller.location
        exits = [e for e in here.exits if e.access(self.caller, "view")] if here else []
        names = listed([e.get_display_name(self.caller) for e in exits])
        ways = f"Exits: {names}." if exits else "There is no way out."
        if self.cmdstring == "exits":
            self.msg(ways)
            return
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


class CmdFollow(PlayerCommand):
    """Go wherever somebody goes.

    Usage:
      follow <name>
      follow              whom you follow
      unfollow            stop it
    """

    key = "follow"
    aliases = ("unfollow",)

    def act(self) -> None:
        """Begin or end it."""
        caller, leader = self.caller, self.caller.ndb.following
        if self.cmdstring == "unfollow" or self.args.casefold() in ("me", "self", "nobody"):
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


class CmdWake(PlayerCommand):
    """Shake somebody who sleeps until they wake.

    Usage:
      wake <name>
      wake

    The beginning of a name will do; |wwake|n alone ends your own sleep. You can
    also |wshout|n their name.
    """

    key = "wake"

    def act(self) -> None:
        """Shake them."""
        if not self.args and self.caller.is_asleep:
            self.execute_cmd("stand")
            return
        if not self.args:
            raise CannotDo("Wake whom? For instance: wake mira")
        target = self.find_person(self.args.removeprefix("up "))
        if not target.is_asleep:
            raise CannotDo(f"{target.get_display_name(self.caller)} is awake.")
        self.show(
            "wake",
            you="You shake {target} by the shoulder.",
            others="{actor} shakes {target} by the shoulder.",
            target=target,
            to_target="{actor} shakes you by the shoulder.",
        )
        target.attributes.remove("posture")  # of a player
        happened(self.caller)
