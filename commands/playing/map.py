"""The map of the places round about."""

from __future__ import annotations

from commands.base import PlayerCommand
from commands.wording import CannotDo
from typeclasses.clients import map_in_words, map_of, reads_aloud


class CmdMap(PlayerCommand):
    """See the places round about, and the ways between them.

    Usage:
      map

    You are at the |wo|n. |w^|n is a place with a way up, |wv|n one with a way
    down. For a screen reader (|woption screenreader = on|n) it is in words.
    """

    key = "map"
    help_category = "The world"
    arg_regex = r"\s|$"

    def act(self) -> None:
        """Draw it, or tell it."""
        if (here := self.caller.location) is None:
            raise CannotDo("You are nowhere, and there is no map of it.")
        aloud = reads_aloud(self.session)
        drawn = map_in_words(self.caller) if aloud else map_of(self.caller)
        self.msg(text=(f"You are at {here.key}.\n\n{drawn}", {"type": "map"}))
