"""Looking at things, and having them."""

from __future__ import annotations

from evennia.commands.default.building import CmdExamine as BuildersExamine
from evennia.objects.models import ObjectDB

from commands.base import PlayerCommand, people_here, with_article
from commands.wording import CannotDo, listed, quoted, sought, spoken


class CmdLook(PlayerCommand):
    """Look around, or at something.

    Usage:
      look
      look <thing, person, exit or detail>

    Example:
      look hearth

    Most of what a description mentions can be looked at.
    """

    key = "look"
    aliases = ("l",)
    arg_regex = r"\s|$"

    def act(self) -> None:
        """Show the room, what stands in it, a detail of it, or where an exit leads."""
        here, words = self.caller.location, self.args.removeprefix("at ")
        if here is None:
            raise CannotDo("You are nowhere, and there is nothing to see.")
        if not words or sought(words).lower() in ("here", "around", "room"):
            self._see(self.caller.at_look(here))
        elif self.caller in (things := self.matches(words, self._things(here))):
            self._see(self.caller.at_look(self.caller))
        elif not things and (detail := find_detail(here, words)):
            self._see(detail)
        else:
            among = things or [*here.exits, here]
            target = self.find(words, among, f"You see no {quoted(sought(words))} here.")
            self._see(exit_view(target) or self.caller.at_look(target))

    def _things(self, here: ObjectDB) -> list[ObjectDB]:
        return [*here.contents_get(exclude=here.exits), *self.caller.contents]

    def _see(self, text: str) -> None:
        self.msg(text=(text, {"type": "look"}))


def find_detail(room: ObjectDB, words: str) -> str | None:
    """The text of a detail of ``room``: by its whole name, else by one word of it."""
    details = room.db.details or {}
    name = sought(words).lower()
    if name in details:
        return str(details[name])
    texts = {text for key, text in details.items() if name in key.split()}
    return str(texts.pop()) if len(texts) == 1 else None


def exit_view(obj: ObjectDB) -> str:
    """Where an exit without a description of its own leads; empty for anything else."""
    if obj.destination is None or obj.db.desc:
        return ""
    return f"{obj.key.capitalize()} leads to {obj.destination.key}."


class CmdGet(PlayerCommand):
    """Pick something up.

    Usage:
      get <thing>
    """

    key = "get"
    aliases = ("take", "grab")
    arg_regex = r"\s|$"

    def act(self) -> None:
        """Take it from the room."""
        here = self.caller.location
        if not self.args or here is None:
            raise CannotDo("Get what? Look around for things to take.")
        missing = f"There is no {quoted(sought(self.args))} here to take."
        if here.db.details and find_detail(here, self.args):
            missing = "That belongs here. Look at it, but leave it where it is."
        things = here.contents_get(exclude=[*here.exits, self.caller])
        thing, caller = self.find(self.args, things, missing), self.caller
        if not thing.access(caller, "get"):
            raise CannotDo(thing.db.get_err_msg or "You can't take that.")
        if thing.at_pre_get(caller) and thing.move_to(caller, quiet=True, move_type="get"):
            thing.at_get(caller)
            what = with_article(thing, caller)
            told = "{actor} picks up {thing}."
            self.show("get", you="You pick up {thing}.", others=told, thing=what)


class CmdDrop(PlayerCommand):
    """Put down something you carry.

    Usage:
      drop <thing>
    """

    key = "drop"
    arg_regex = r"\s|$"

    def act(self) -> None:
        """Leave it in the room."""
        caller = self.caller
        if not self.args or caller.location is None:
            raise CannotDo("Drop what? |winventory|n lists what you carry.")
        missing = f"You carry no {quoted(sought(self.args))}."
        thing = self.find(self.args, caller.contents, missing)
        if thing.at_pre_drop(caller) and thing.move_to(
            caller.location, quiet=True, move_type="drop"
        ):
            thing.at_drop(caller)
            what = with_article(thing, caller)
            told = "{actor} puts down {thing}."
            self.show("drop", you="You put down {thing}.", others=told, thing=what)


class CmdGive(PlayerCommand):
    """Hand something you carry to somebody here.

    Usage:
      give <thing> to <name>
      give <thing> = <name>

    Some things matter to somebody. Ask around.
    """

    key = "give"
    aliases = ("hand",)
    rhs_split = ("=", " to ")
    arg_regex = r"\s|$"

    def act(self) -> None:
        """Hand it over."""
        if not self.lhs or not self.rhs:
            raise CannotDo("Give what to whom? For instance: give honey to ruan.")
        caller = self.caller
        missing = f"You carry no {quoted(sought(self.lhs))}."
        thing = self.find(self.lhs, caller.contents, missing)
        receiver = self.find_person(self.rhs)
        if thing.at_pre_give(caller, receiver) and thing.move_to(
            receiver, quiet=True, move_type="give"
        ):
            thing.at_give(caller, receiver)
            self.show(
                "give",
                you="You give {thing} to {target}.",
                others="{actor} gives {thing} to {target}.",
                target=receiver,
                to_target="{actor} gives you {thing}.",
                thing=with_article(thing, caller),
            )


class CmdInventory(PlayerCommand):
    """See what you carry.

    Usage:
      inventory
      i
    """

    key = "inventory"
    aliases = ("inv", "i")
    arg_regex = r"$"

    def act(self) -> None:
        """List it."""
        things = [with_article(thing, self.caller) for thing in self.caller.contents]
        text = f"You carry {listed(things)}." if things else "You carry nothing."
        self.msg(text=(text, {"type": "inventory"}))


class CmdExamine(BuildersExamine):
    """Take a closer look at something or somebody here.

    Usage:
      examine <thing or person>

    Tells what it is, who has it, and whether somebody would miss it.
    What an agent remembers is not shown: that is the agent's own.
    """

    key = "examine"
    aliases = ("ex", "exam")
    locks = "cmd:all()"
    help_category = "General"
    arg_regex = r"\s|$"

    def parse(self) -> None:
        """Builders have switches and attributes, players only a name."""
        self.for_builder = self.caller.check_permstring("Builder")
        self.player_part = None if self.for_builder else PlayersExamine()
        if self.player_part is None:
            super().parse()
            return
        for field in ("caller", "args", "session", "cmdstring", "raw_string"):
            setattr(self.player_part, field, getattr(self, field))
        self.player_part.parse()

    def func(self) -> None:
        """Evennia's full view for builders, a closer look for everybody else."""
        if self.player_part is None:
            super().func()
        else:
            self.player_part.func()


class PlayersExamine(CmdLook):
    """The closer look; reached through :class:`CmdExamine`."""

    def act(self) -> None:
        """Look, and add what a careful eye finds."""
        super().act()
        here = self.caller.location
        found = self.matches(self.args, self._things(here)) if here and self.args else []
        if len(found) == 1:
            self._see(closer_look(found[0], self.caller))


def closer_look(obj: ObjectDB, caller: ObjectDB) -> str:
    """What ``obj`` is and who has it, from nothing but what all may know."""
    if obj == caller:
        return "That is you."
    if obj in people_here(caller):
        kind = "lives in the village." if obj.is_agent else "is a visitor, as you are."
        return f"{obj.get_display_name(caller)} {kind}"
    where = "You have it with you." if obj.location == caller else "It lies here for the taking."
    if not obj.access(caller, "get"):
        where = "It stays where it is."
    missed = " It has the look of something that somebody misses." if obj.db.loved_by else ""
    return f"{where}{missed}"


class CmdDescribe(PlayerCommand):
    """Say what others see when they look at you.

    Usage:
      describe <one or two sentences>

    Example:
      describe A man with ink on his cuffs.
    """

    key = "describe"
    aliases = ("setdesc",)
    arg_regex = r"\s|$"

    def act(self) -> None:
        """Keep the description."""
        if not (text := spoken(self.args)):
            raise CannotDo(
                "Describe yourself how? For instance: describe A thin man with ink on his cuffs."
            )
        self.caller.db.desc = text
        self.msg(f"Others now see: {text}")
