"""What can be done with things: putting them into others, eating, reading, wearing, trading."""

from __future__ import annotations

import re

from evennia.contrib.game_systems.clothing import clothing

from commands.base import EVERYTHING, with_article
from commands.playing.things import CmdLook, ThingCommand, hand_over
from commands.wording import CannotDo, quoted, sought


class CmdPut(ThingCommand):
    """Put something you carry into something.

    Usage:
      put <thing> in <container>
      put all in <container>
    """

    key = "put"
    aliases = ("place",)
    rhs_split = ("=", " into ", " in ", " on ")

    def act(self) -> None:
        """Move it, if there is room."""
        if not self.lhs or not self.rhs:
            raise CannotDo("Put what into what? For instance: put honey in basket.")
        caller, container = self.caller, self.container(self.rhs)
        for thing in self.carried(self.lhs):
            if thing == container:
                if sought(self.lhs).casefold() not in EVERYTHING:
                    raise CannotDo("It cannot be put into itself.")
                continue
            if not thing.at_pre_drop(caller) or not container.at_pre_put_in(caller, thing):
                return
            if thing.move_to(container, quiet=True, move_type="put"):
                thing.at_drop(caller)
                where = f"the {container.get_display_name(caller)}"
                self.handled("put", thing, "put", "puts", " in {where}.", where=where)


class CmdEat(ThingCommand):
    """Eat or drink something.

    Usage:
      eat <thing>
      drink <thing>

    There is more of it where it came from.
    """

    key = "eat"
    aliases = ("drink", "taste", "sip")

    def act(self) -> None:
        """Take a bite or a draught: what is eaten up lies where it came from again."""
        verb = "drink" if self.cmdstring in ("drink", "sip") else "eat"
        words = re.sub(r"^(?:from|of)\s+", "", self.args)
        if not words:
            raise CannotDo(f"{verb.capitalize()} what?")
        caller, missing = self.caller, f"There is no {quoted(sought(words))} here."
        thing = self.find(words, self.at_hand(), missing)
        if not (taste := thing.attributes.get(verb)):
            raise CannotDo(f"That is nothing to {verb}.")
        told = f"{{actor}} {verb}s {{thing}}."
        what = with_article(thing, caller)
        self.show(
            verb, you=f"You {verb} {{thing}}. {{taste}}", others=told, thing=what, taste=taste
        )
        if thing.home and thing.location == caller:
            thing.move_to(thing.home, quiet=True, move_type="eat")


class CmdRead(CmdLook):
    """Read something that is written.

    Usage:
      read <thing or detail>

    Example:
      read chalkboard
    """

    key = "read"
    aliases = ()

    def act(self) -> None:
        """Show it as a look does; nothing is written on people and places."""
        if not self.args:
            raise CannotDo("Read what? For instance: read chalkboard.")
        here = self.caller.location
        found = self.matches(self.args, here.contents if here else ())
        if any(hasattr(each, "is_agent") or each.destination for each in found):
            raise CannotDo("There is nothing to read on that.")
        super().act()


class CmdWear(ThingCommand):
    """Put on something you carry; |wremove|n takes it off.

    Usage:
      wear <thing>
    """

    key = "wear"
    aliases = ("put on", "don")

    def act(self) -> None:
        """Put it on, by the rules of Evennia's clothes."""
        caller = self.caller
        if not self.args:
            raise CannotDo("Wear what? |winventory|n lists what you carry.")
        garment = self.find(
            self.args, caller.contents, f"You carry no {quoted(sought(self.args))}."
        )
        worn, kind = clothing.get_worn_clothes(caller), garment.db.clothing_type
        if not isinstance(garment, clothing.ContribClothing):
            raise CannotDo("That is nothing to wear.")
        if garment in worn:
            raise CannotDo("You wear it already.")
        most = clothing.CLOTHING_TYPE_LIMIT.get(kind, clothing.CLOTHING_OVERALL_LIMIT)
        if clothing.single_type_count(worn, kind) >= most:
            raise CannotDo(f"You wear a {kind} already.")
        garment.wear(caller, True, quiet=True)
        self.handled("wear", garment, "put on", "puts on")


class CmdRemove(ThingCommand):
    """Take off something you wear.

    Usage:
      remove <thing>
    """

    key = "remove"
    aliases = ("take off", "doff")

    def act(self) -> None:
        """Take it off."""
        caller, missing = self.caller, f"You wear no {quoted(sought(self.args))}."
        garment = self.find(self.args, clothing.get_worn_clothes(caller), missing)
        garment.remove(caller, quiet=True)
        self.handled("remove", garment, "take off", "takes off")


class CmdTrade(ThingCommand):
    """Offer something you carry for something that somebody else carries.

    Usage:
      trade <yours> for <theirs> with <name>
      trade accept
      trade decline

    A player is asked; both things change hands at once when they accept. An
    agent hears your offer, and gives what it wants to give.

    Example:
      trade cup for honey with ada
    """

    # Evennia's barter lets one offer what one does not have, people too, and moves it unnoticed.
    key = "trade"
    aliases = ("barter",)
    _OFFER = re.compile(r"(.+?) for (.+?) with (.+)", re.I)

    def act(self) -> None:
        """Offer, accept or decline."""
        if self.args.casefold() in ("accept", "decline"):
            self._answer(accepted=self.args.casefold() == "accept")
            return
        if not (asked := self._OFFER.fullmatch(self.args)):
            raise CannotDo("Trade what? For instance: trade cup for honey with ada.")
        mine, theirs, name = asked.groups()
        other = self.find_person(name)
        thing = self.carried(mine)[0]
        missing = f"{other.get_display_name(self.caller)} carries no {quoted(sought(theirs))}."
        wanted = self.find(theirs, other.contents, missing)
        if not other.is_agent:
            other.ndb.offered = (self.caller, thing, wanted)
        # Speech, so that an agent is spoken to.
        named = [with_article(each, self.caller) for each in (thing, wanted)]
        end = "" if other.is_agent else " (trade accept, or trade decline)"
        self.say_to(other, f"I offer you {named[0]} for {named[1]}.", end=end)

    def _answer(self, *, accepted: bool) -> None:
        offer, self.caller.ndb.offered = self.caller.ndb.offered, None
        if not offer:
            raise CannotDo("Nobody has offered you anything.")
        other, thing, wanted = offer
        if not accepted:
            other.msg(f"{self.caller.get_display_name(other)} declines.")
            self.msg("You decline.")
            return
        near, mine = other.location == self.caller.location, wanted.location == self.caller
        if not near or not mine or thing.location != other or wanted.db.worn or thing.db.worn:
            raise CannotDo("That cannot be done any more.")
        hand_over(self, wanted, other)
        self.caller, receiver = other, self.caller
        hand_over(self, thing, receiver)
