"""The audit log of builders' commands, and the log of players' reports.

Both are append-only files of JSON lines.
"""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings
from evennia.commands.default.muxcommand import MuxCommand

from keepsake.json_lines import AppendedFile, line_of, lines_from_end, parsed
from keepsake.language.perception import words

AUDIT = "audit"
REPORTS = "reports"
"""The names of the files. They grow by some megabytes a year."""
LONGEST = 1000
"""The most characters of a typed line that are logged."""


def append(name: str, **facts: Any) -> None:
    """Append a line and pass it to the operating system.

    Raises:
        OSError: The disk refused.
    """
    Path(settings.LOG_DIR).mkdir(parents=True, exist_ok=True)
    file = AppendedFile(_path(name), 0o600)
    try:
        file.append(line_of({"t": datetime.now(UTC).isoformat(timespec="milliseconds")} | facts))
    finally:
        file.close()


def newest(name: str, most: int) -> list[dict[str, Any]]:
    """Return the newest lines, oldest first; skips lines that cannot be read."""
    with suppress(FileNotFoundError), _path(name).open("rb") as file:
        return [*islice(filter(None, map(parsed, lines_from_end(file))), most)][::-1]
    return []


def _path(name: str) -> Path:
    return Path(settings.LOG_DIR, f"{name}.jsonl")


_FOR_STAFF = re.compile(r"(?<!not )(?<!p)\bp?perm\((?!player\b)", re.I)


class AuditedCommand(MuxCommand):
    """A base class of commands. Those that only staff may use are logged when they are typed."""

    def get_help(self, caller: object, cmdset: object) -> str:
        """Return the class's docstring without the indentation of the source."""
        return inspect.cleandoc(self.__doc__ or "")

    def at_pre_cmd(self) -> object:
        """Log the command. It runs even if the disk refuses: it may be needed to free space."""
        access = next((p for p in str(self.locks).split(";") if p.strip().startswith("cmd:")), "")
        if _FOR_STAFF.search(access):
            line = str(self.raw_string).strip()
            if "".join(words(line)[:1]).casefold().endswith("password"):
                line = f"{line.split(maxsplit=1)[0]} …"
            try:
                append(AUDIT, **_who(self), line=line[:LONGEST])
            except OSError as error:
                self.msg(f"|rThe audit log could not be written:|n {error.strerror}")
        return super().at_pre_cmd()


def _who(command: MuxCommand) -> dict[str, Any]:
    session = command.session
    account = command.account
    return {
        "who": str(getattr(command.caller, "key", command.caller)),
        "account": str(getattr(account, "key", "") or ""),
        "address": str(getattr(session, "address", "") or ""),
    }
