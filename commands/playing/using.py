"""What can be done with things: putting them into others, eating, wearing."""

from __future__ import annotations

import re

from evennia.contrib.game_systems.clothing import clothing

from commands.base import EVERYTHING, with_article
from commands.playing.things import ThingCommand
from keepsake.contrib.evennia.wording import CannotDo, quoted, sought


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


class CmdWear(ThingCommand):
    """Put on something you carry; |wremove|n takes it off.

    Usage:
      wear <thing>
    """

    key = "wear"
    aliases = ("put on", "don", "wield")

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
