"""Commands to walk, see the map and wake sleepers, and the answer to unknown commands."""

from __future__ import annotations

from difflib import get_close_matches

from evennia.commands.cmdhandler import CMD_NOMATCH
from evennia.help.filehelp import FILE_HELP_ENTRIES
from evennia.utils.verb_conjugation.conjugate import verb_conjugate

from commands.base import PlayerCommand
from keepsake.agent.surroundings.addressing import WAKE
from keepsake.agent.surroundings.people import people_near
from keepsake.contrib.evennia.audit import AuditedCommand
from keepsake.contrib.evennia.hearing import person_of
from keepsake.contrib.evennia.wording import CannotDo, harmless, listed, quoted, sought
from keepsake.happening import Deed
from keepsake.language.perception import one_line
from keepsake.prompt.verbs import COMPASS
from typeclasses.clients import map_of
from typeclasses.rooms import EXIT_ORDER, where
from world.deed.happening import check_deeds, deed_waits_for


class CmdGo(PlayerCommand):
    """Walk through an exit.

    Usage:
      go <direction>
      go <place>
      <direction>

    Example:
      go north     n     go quay

    |wlook|n lists the exits. You can also name the place that an exit leads to.
    """

    key = "go"
    aliases = ("walk",)

    def act(self) -> None:
        """Find the exit and walk through it."""
        here = self.caller.location
        exits = [e for e in here.exits if e.access(self.caller, "view")] if here else []
        exits.sort(key=lambda way: EXIT_ORDER.get(way.key, 99))
        names = listed([e.get_display_name(self.caller) for e in exits])
        ways = f"Exits: {names}." if exits else "There is no way out."
        words = sought(self.args).removeprefix("to ").removeprefix("the ")
        if not words:
            raise CannotDo(f"Go where? {ways}")
        # An exit in that direction comes first, even if it is also an alias of another exit.
        direction = COMPASS.get(words.casefold(), words.casefold())
        named = [each for each in exits if each.key.casefold() == direction]
        missing = f"There is no exit {quoted(words)} here. {ways}"
        way = named[0] if len(named) == 1 else self.find(words, exits, missing)
        if not way.access(self.caller, "traverse"):
            raise CannotDo(way.db.err_traverse or "You cannot go there.")
        way.at_traverse(self.caller, way.destination)


class CmdMap(PlayerCommand):
    """See the places around you, and how to walk to each.

    Usage:
      map
    """

    key = "map"
    help_category = "The world"

    def act(self) -> None:
        """Show the location and the map."""
        if (here := self.caller.location) is None:
            raise CannotDo("You are nowhere, and there is no map of it.")
        self.msg(text=(f"You are {where(here)}.\n\n{map_of(self.caller)}", {"type": "map"}))


class CmdWake(PlayerCommand):
    """Shake somebody who sleeps until they wake.

    Usage:
      wake <name>

    The beginning of a name is enough. You can also |wshout|n their name.
    """

    key = "wake"

    def act(self) -> None:
        """Shake the sleeper."""
        if not self.args:
            raise CannotDo("Wake whom? For instance: wake mira")
        target = self.find_person(self.args.removeprefix("up "))
        if not target.db.asleep:
            raise CannotDo(f"{target.get_display_name(self.caller)} is awake.")
        what = Deed(actor=person_of(self.caller), verb=WAKE, to=(person_of(target),))
        self.show(WAKE, "$You() $conj(shake) $you(target) by the shoulder.", what, target=target)
        check_deeds(self.caller)


class CmdNoMatch(AuditedCommand):
    """The answer to a line that is not a command."""

    key = CMD_NOMATCH
    locks = "cmd:all()"
    auto_help = False

    def func(self) -> None:
        """Run a direction as `go`, and a line that a deed waits for as an emote; else suggest."""
        line = one_line(self.args)
        if COMPASS.get(line.casefold(), line.casefold()) in COMPASS.values():
            self.caller.execute_cmd(f"go {line}", session=self.session)
        elif deed_waits_for(line, self.caller):
            verb, _, rest = line.partition(" ")
            played = f"{verb_conjugate(verb.lower(), '3rd singular present')} {rest}"
            played = played if " " in rest else played.replace(" ", " the ")
            self.caller.execute_cmd(f"emote {played}.", session=self.session)
        else:
            hint = self._suggest(line) or 'Type "help" for help.'
            self.msg(f"Command '{harmless(line[:80])}' is not available. {hint}")

    def _suggest(self, line: str) -> str:
        name, _, words = line.partition(" ")
        name = name.rstrip(",:").casefold()
        plays = hasattr(self.caller, "location") and not name.startswith("@")
        here = people_near(self.caller) if plays else ()
        if words and (named := next((p.key for p in here if p.key.casefold() == name), "")):
            return f"To speak to {named}: talk {name} {harmless(words)}"
        topics = (each for each in FILE_HELP_ENTRIES.all() if each.access(self.caller, "read"))
        if any(line.casefold() in (topic.key, *topic.aliases) for topic in topics):
            return f"To read about it: help {line.casefold()}"
        there = self.cmdset.get_all_cmd_keys_and_aliases(self.caller)
        near = get_close_matches(name, [each for each in there if len(each) > 2], 3, 0.75)
        tips = []
        shown = harmless(line[:80])
        if near:
            tips.append(f"Maybe you meant {listed([f'"{each}"' for each in near], 'or')}?")
        elif words and plays:
            tips.append(f"To act it out: emote {shown}")
        if words and here:
            tips.append(f"To speak: say {shown} - or to one alone: talk {here[0].key.casefold()} …")
        return "\n".join(tips)
