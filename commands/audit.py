"""The base of all commands; what builders type is written down."""

from __future__ import annotations

import inspect
import re
from typing import Any

from evennia import InterruptCommand
from evennia.commands.default.muxcommand import MuxCommand

from keepsake.contrib.evennia.written_down import AUDIT, LONGEST, keep
from keepsake.language.words import words

_EVENNIAS = {  # which declare none of what they take
    "@link": ("twoway",),
    "@lock": ("del", "view"),
    "@set": ("edit", "script", "channel", "account", "room", "exit", "char", "character"),
    "encoding": ("clear",),
}
_FOR_STAFF = re.compile(r"(?<!not )(?<!p)\bp?perm\((?!player\b)", re.I)


class AuditedCommand(MuxCommand):
    """Evennia's base of commands; what is for builders alone is written down when it is typed.

    A switch that a command does not declare in ``switch_options`` is refused, and nothing is done.
    """

    switch_options: tuple[str, ...] | None = None

    def get_help(self, caller: Any, cmdset: object) -> str:
        """The class's docstring, without the indentation of the source."""
        return inspect.cleandoc(self.__doc__ or "")

    def at_pre_cmd(self) -> Any:
        """Write it down; a disk that refuses stops nobody who may have to free it."""
        access = next((p for p in str(self.locks).split(";") if p.strip().startswith("cmd:")), "")
        if _FOR_STAFF.search(access):
            line = str(self.raw_string).strip()
            if "".join(words(line)[:1]).casefold().endswith("password"):
                line = f"{line.split(maxsplit=1)[0]} …"
            try:
                keep(AUDIT, **_who(self), line=line[:LONGEST])
            except OSError as error:
                self.msg(f"|rThis was not written into the audit log:|n {error.strerror}")
        return super().at_pre_cmd()

    def parse(self) -> None:
        """Take the words apart, unless they begin with a switch that there is not."""
        typed = self.args.split(maxsplit=1)[0] if self.args.startswith("/") else ""
        there = self.switch_options or _EVENNIAS.get(self.key, ())
        for switch in filter(None, typed.lower().split("/")):
            if not any(each.startswith(switch) for each in there):
                known = f"It has /{', /'.join(there)}" if there else "It has none"
                shown = switch.replace("|", "||")[:40]
                self.msg(f"|rThat did not work:|n {self.key} has no switch /{shown}. {known}.")
                raise InterruptCommand
        super().parse()


def _who(command: MuxCommand) -> dict[str, Any]:
    session, account = command.session, command.account
    return {
        "who": str(getattr(command.caller, "key", command.caller)),
        "account": str(getattr(account, "key", "") or ""),
        "address": str(getattr(session, "address", "") or ""),
    }
