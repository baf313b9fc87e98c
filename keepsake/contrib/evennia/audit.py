"""What is written down of builders' doings and of players' reports.

Each is a line of JSON, which nobody changes later. The files rotate as the event log's do, and so
many of them are kept.
"""

from __future__ import annotations

import inspect
import re
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from evennia import InterruptCommand
from evennia.commands.default.muxcommand import MuxCommand

from keepsake.events.files import LineWriter, files_of
from keepsake.json_lines import line_of, parsed
from keepsake.language.perception import words

AUDIT, REPORTS = "audit", "reports"
"""How the names of the files begin."""
FILE_BYTES, MOST_FILES = 1_000_000, 400
"""Of one file, and how many are kept: more than a year, as each day begins one."""
LONGEST = 1000
"""Characters of one typed line that are kept."""


def keep(name: str, **facts: Any) -> None:
    """Append a line; it is with the operating system when this returns.

    Raises:
        OSError: The disk refused.
    """
    now, folder = datetime.now(UTC), Path(settings.LOG_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    lines = LineWriter(folder, name, FILE_BYTES, MOST_FILES)
    number = lines.last_number() + 1
    record = {"seq": number, "t": now.isoformat(timespec="milliseconds")} | facts
    try:
        lines.write(line_of(record), now.date(), number)
    finally:
        if lines.file is not None:  # not `lines.close`, which waits for the disk
            lines.file.close()


def newest(name: str, most: int) -> list[dict[str, Any]]:
    """The newest lines, oldest first; those that cannot be read are passed over."""
    files = reversed(files_of(Path(settings.LOG_DIR), name))
    records = (record for file in files for record in map(parsed, file.lines_from_end()) if record)
    return [*islice(records, most)][::-1]


# -- commands that are written down

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
