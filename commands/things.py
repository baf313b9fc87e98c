"""Commands to look at things, carry them and use them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from evennia.commands.default import general
from evennia.objects.models import ObjectDB

from commands.base import EVERYTHING, PlayerCommand, find_character, whereabouts, with_article
from keepsake.agent.surroundings.people import people_near
from keepsake.archive.message_types import MessageType
from keepsake.contrib.evennia.hearing import person_of
from keepsake.contrib.evennia.wording import (
    LONGEST_SPEECH,
    CannotDo,
    harmless,
    listed,
    quoted,
    sought,
)
from keepsake.happening import Deed, KnownVerb
from keepsake.language.perception import one_line, sentences, stems, telling
from world.deed.happening import check_deeds


class ThingCommand(PlayerCommand):
    """A command that moves or uses things."""

    def find_carried(self, words: str) -> list[ObjectDB]:
        """Return the things of that name that the caller carries; raise CannotDo if none."""
        all_of_it = sought(words).casefold() in EVERYTHING
        missing = "You carry nothing." if all_of_it else f"You carry no {quoted(sought(words))}."
        return self.find_all(words, self.caller.contents, missing)

    def announce(self, kind: str, thing: ObjectDB, verb: str) -> None:
        """Show the room what was done with a thing; ``verb`` is such as ``$conj(put) down``."""
        name = with_article(thing, self.caller)
        what = Deed(actor=person_of(self.caller), verb=kind, objects=(name,))
        self.show(kind, f"$You() {verb} {{thing}}.", what, thing=name)


class CmdLook(PlayerCommand):
    """Look around, or at something.

    Usage:
      look
      look <thing, person, exit or detail>

    Example:
      look hearth     l basket     read chalkboard

    Most things that a description mentions can be looked at. |wexamine|n is the
    same. It does not show what an agent remembers.
    """

    key = "look"
    aliases = ("l", "read", "examine", "x", "ex", "exa", "exam")

    def act(self) -> None:
        """Show the room, something in it, a detail of it, or where an exit leads."""
        here = self.caller.location
        words = self.args.removeprefix("at ")
        if here is None:
            raise CannotDo("You are nowhere, and there is nothing to see.")
        around = here.contents_get(exclude=here.exits)
        name = sought(words).lower()
        things = self.matches(words, [*around, *self.caller.contents])
        called = any(name in (each.key.lower(), *each.aliases.all()) for each in things)
        if not words or name in ("here", "around", "room"):
            text = self.caller.at_look(here)
        elif self.caller in things:
            text = self.caller.at_look(self.caller)
        elif called or not (text := find_detail(here, words)):
            held = [each for person in people_near(self.caller) for each in person.contents]
            among = [] if find_character(words) else [*here.exits, here, *held]
            is_there = called or not among or self.matches(words, among)
            if is_there or not (text := find_mention(name, here, around)):
                missing = f"You see no {quoted(sought(words))} here. {whereabouts(words)}".rstrip()
                target = self.find(words, things or among, missing)
                place = target.destination if not target.db.desc else None
                led = place and f"{target.key.capitalize()} leads to {place.key}."
                text = led or self.caller.at_look(target)
        self.msg(text=(text, {"type": MessageType.LOOK}))


def find_detail(room: ObjectDB, words: str) -> str | None:
    """Return the text of a detail: by whole name, else by one word, singular or plural."""
    details = room.db.details or {}
    name = sought(words).lower()
    if name in details:
        return str(details[name])
    forms = {name.removesuffix("s"), f"{name.removesuffix('s')}s"}
    texts = {details[key] for key in forms & {*details}} or {
        text for key, text in details.items() if forms & {*key.split()}
    }
    return str(texts.pop()) if len(texts) == 1 else None


def find_mention(name: str, room: ObjectDB, things: Iterable[ObjectDB]) -> str:
    """Return a text that mentions it: a detail, or a sentence about the room or its contents."""
    texts = [str(room.get_display_desc(None)), *(str(each.db.desc or "") for each in things)]
    parts = [*(room.db.details or {}).values(), *chain.from_iterable(map(sentences, texts))]
    wanted = telling(name)
    return next((each for each in parts if wanted and wanted <= stems(each)), "")


class CmdGet(ThingCommand):
    """Pick something up.

    Usage:
      get <thing>
      get all
    """

    key = "get"
    aliases = ("take", "grab", "pick up", "hold")

    def act(self) -> None:
        """Move the things from the room to the caller."""
        caller = self.caller
        here = self.caller.location
        if not self.args or here is None:
            raise CannotDo("Get what? Look around for things to take.")
        around = here.contents_get(exclude=[*here.exits, caller])
        missing = ""
        if sought(self.args).casefold() in EVERYTHING:
            around = [each for each in around if each.access(caller, "get")]
            missing = "There is nothing here to take."
        elif find_detail(here, self.args):
            missing = "That belongs here. Look at it, but leave it where it is."
        missing = missing or f"There is no {quoted(sought(self.args))} here to take."
        for thing in self.find_all(self.args, around, missing):
            if not thing.access(caller, "get"):
                raise CannotDo(thing.db.get_err_msg or "You can't take that.")
            if thing.at_pre_get(caller) and thing.move_to(caller, quiet=True, move_type="get"):
                thing.at_get(caller)
                self.announce("get", thing, "$conj(pick) up")
                check_deeds(caller)


class CmdDrop(ThingCommand):
    """Put down something you carry.

    Usage:
      drop <thing>
      drop all
    """

    key = "drop"
    aliases = ("put down",)

    def act(self) -> None:
        """Move the things to the room."""
        caller = self.caller
        here = self.caller.location
        if not self.args or here is None:
            raise CannotDo("Drop what? |winventory|n lists what you carry.")
        for thing in self.find_carried(self.args):
            if thing.at_pre_drop(caller) and thing.move_to(here, quiet=True, move_type="drop"):
                thing.at_drop(caller)
                self.announce("drop", thing, "$conj(put) down")


class CmdGive(ThingCommand):
    """Hand something you carry to somebody here.

    Usage:
      give <thing> to <name>
      give <thing> = <name>
      give all to <name>

    Some things matter to somebody. Ask around.
    """

    key = "give"
    aliases = ("hand",)
    rhs_split = ("=", " to ")

    def act(self) -> None:
        """Move the things to the receiver."""
        if not self.lhs or not self.rhs:
            raise CannotDo("Give what to whom? For instance: give honey to ruan.")
        things = self.find_carried(self.lhs)
        receiver = self.find_person(self.rhs)
        for thing in things:
            if not thing.at_pre_give(self.caller, receiver):
                continue
            if thing.move_to(receiver, quiet=True, move_type="give"):
                thing.at_give(self.caller, receiver)
                name = with_article(thing, self.caller)
                me = person_of(self.caller)
                self.show(
                    MessageType.GIVE,
                    "$You() $conj(give) {thing} to $you(target).",
                    Deed(actor=me, verb=KnownVerb.GIVE, objects=(name,), to=(person_of(receiver),)),
                    target=receiver,
                    to_target="{actor} gives you {thing}.",
                    thing=name,
                )
                check_deeds(self.caller)
                if not receiver.is_agent:
                    check_deeds(receiver)  # who carries it now


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
        """List the things."""
        names = [with_article(each, self.caller) for each in self.caller.contents]
        self.msg(text=(f"You carry {listed(names) or 'nothing'}.", {"type": "inventory"}))


class CmdEat(ThingCommand):
    """Eat or drink something.

    Usage:
      eat <thing>
      drink <thing>

    The thing is not used up: it returns to where it came from.
    """

    key = "eat"
    aliases = ("drink",)

    def act(self) -> None:
        """Show the taste; a thing that the caller carries returns to its first place."""
        verb = self.cmdstring
        words = self.args.removeprefix("from ").removeprefix("of ")
        if not words:
            raise CannotDo(f"{verb.capitalize()} what?")
        here = self.caller.location
        lying = here.contents_get(content_type="object") if here else ()
        missing = f"There is no {quoted(sought(words))} here."
        thing = self.find(words, [*self.caller.contents, *lying], missing)
        if not (taste := thing.attributes.get(verb)):
            raise CannotDo(f"That is nothing to {verb}.")
        self.announce(verb, thing, f"$conj({verb})")
        self.msg(taste)
        if thing.home and thing.location == self.caller:
            thing.move_to(thing.home, quiet=True, move_type="eat")


class CmdDescribe(general.CmdSetDesc):
    """Say what others see when they look at you.

    Usage:
      describe <one or two sentences>

    Example:
      describe A man with ink on his cuffs.
    """

    key = "describe"
    aliases = ("setdesc",)
    help_category = "General"

    def parse(self) -> None:
        """Escape markup, which could forge lines of the game."""
        super().parse()
        self.args = harmless(one_line(self.args)[:LONGEST_SPEECH])
