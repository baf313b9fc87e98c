"""What is shown where no command fits, or several do."""

from __future__ import annotations

from difflib import get_close_matches

from evennia.commands.cmdhandler import CMD_MULTIMATCH, CMD_NOMATCH
from evennia.help.filehelp import FILE_HELP_ENTRIES
from evennia.utils.utils import at_search_result

from commands.base import people_here
from keepsake.contrib.evennia.audit import AuditedCommand
from keepsake.contrib.evennia.wording import harmless, listed, one_line
from keepsake.prompt.verbs import COMPASS

SHORTEST = 3
"""Letters of a name that is suggested: what is shorter is not mistyped but meant."""
_LIKE = 0.75


class CmdNoMatch(AuditedCommand):
    """What is shown for what is no command."""

    key = CMD_NOMATCH
    locks = "cmd:all()"
    auto_help = False

    def func(self) -> None:
        """Say so, and what may be meant; a direction with no exit is answered as by `go`."""
        line = one_line(self.args)
        if COMPASS.get(line.casefold(), line.casefold()) in COMPASS.values():
            self.caller.execute_cmd(f"go {line}", session=self.session)
            return
        guess = self._guess(line) or 'Type "help" for help.'
        self.msg(f"Command '{harmless(line[:80])}' is not available. {guess}")

    def _guess(self, line: str) -> str:
        first, _, rest = line.partition(" ")
        for person in people_here(self.caller) if hasattr(self.caller, "location") else ():
            if rest and first.rstrip(",:").casefold() == person.key.casefold():
                return (
                    f"To speak to {person.key}: talk {first.rstrip(',:').lower()} {harmless(rest)}"
                )
        entries = FILE_HELP_ENTRIES.all()
        if line.casefold() in {n.casefold() for each in entries for n in (each.key, *each.aliases)}:
            return f'Type "help {line.lower()}".'
        names = {
            n for n in self.cmdset.get_all_cmd_keys_and_aliases(self.caller) if n[0] not in "@_"
        }
        long = [name for name in names if len(name) >= SHORTEST]
        near = get_close_matches(first.lower(), long, 3, _LIKE)
        return f"Maybe you meant {listed([f'"{each}"' for each in near], 'or')}?" if near else ""


class CmdSeveral(AuditedCommand):
    """What is done where several commands fit: the one exit of a direction is the one."""

    key = CMD_MULTIMATCH
    locks = "cmd:all()"
    auto_help = False

    def func(self) -> None:
        """Go by that exit, or ask which is meant."""
        typed = self.matches[0][0].lower()
        direction = COMPASS.get(typed, typed)
        commands = [match[2] for match in self.matches]
        exact = [each for each in commands if each.key == direction]
        if len(exact) == 1 and getattr(exact[0], "is_exit", False):
            self.caller.execute_cmd(f"go {direction}", session=self.session)
        else:
            at_search_result(commands, self.caller, query=self.matches[0][0])
