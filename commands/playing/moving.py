"""Getting about."""

from __future__ import annotations

from typing import Any

from commands.base import PlayerCommand
from commands.wording import CannotDo, listed, quoted, sought
from game.mind.prompt.verbs import COMPASS


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
    arg_regex = r"\s|$"

    def act(self) -> None:
        """Find the exit and walk through it."""
        here = self.caller.location
        exits = [e for e in here.exits if e.access(self.caller, "view")] if here else []
        names = listed([e.get_display_name(self.caller) for e in exits])
        ways = f"Exits: {names}." if exits else "There is no way out."
        words = sought(self.args).removeprefix("to ").removeprefix("the ")
        if not words:
            raise CannotDo(f"Go where? {ways}")
        way = self.find(words, exits, f"There is no exit {quoted(words)} here. {ways}")
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


def direction_commands() -> list[Any]:
    """One fallback for each compass direction.

    Evennia treats commands that share any name as one, so that a single fallback
    with all the names would vanish wherever one exit is.
    """
    return [CmdNoExit(key=way, aliases=[short]) for short, way in COMPASS.items()]
