"""What builders do, and what players report: a line of JSON each, which nobody changes later."""

from __future__ import annotations

import re
from collections import deque
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from evennia.commands.default.muxcommand import MuxCommand

from game.mind.json_lines import AppendedFile, line_of, parsed

AUDIT, REPORTS = "audit.jsonl", "reports.jsonl"
LONGEST = 1000
"""Characters of one typed line that are kept."""
_OWNER_ONLY = 0o600
_SECRET = re.compile(r"^\W*\w*password\b", re.I)
_FOR_STAFF = re.compile(r"(?<!not )(?<!p)\bp?perm\((?!player\b)", re.I)


def path_of(name: str) -> Path:
    """Where these lines are kept."""
    return Path(settings.LOG_DIR) / name


def keep(name: str, **facts: Any) -> None:
    """Append a line; it is with the operating system when this returns.

    Raises:
        OSError: The disk refused.
    """
    record = {"t": datetime.now(UTC).isoformat(timespec="milliseconds")} | facts
    path = path_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(AppendedFile(path, _OWNER_ONLY)) as file:
        file.append(line_of(record))


def newest(name: str, most: int) -> list[dict[str, Any]]:
    """The newest lines, oldest first; those that cannot be read are passed over."""
    try:
        with path_of(name).open(encoding="utf-8", errors="replace") as file:
            return [*filter(None, map(parsed, deque(file, maxlen=most)))]
    except FileNotFoundError:
        return []


class AuditedCommand(MuxCommand):
    """Evennia's base of commands; what is for builders alone is written down when it is typed."""

    def at_pre_cmd(self) -> Any:
        """Write it down; a disk that refuses stops nobody who may have to free it."""
        access = next((p for p in str(self.locks).split(";") if p.strip().startswith("cmd:")), "")
        if _FOR_STAFF.search(access):
            line = str(self.raw_string).strip()
            if _SECRET.match(line):
                line = f"{line.split(maxsplit=1)[0]} …"
            try:
                keep(AUDIT, **_who(self), line=line[:LONGEST])
            except OSError as error:
                self.msg(f"|rThis was not written into {AUDIT}:|n {error.strerror}")
        return super().at_pre_cmd()


def _who(command: MuxCommand) -> dict[str, Any]:
    session, account = command.session, command.account
    return {
        "who": str(getattr(command.caller, "key", command.caller)),
        "account": str(getattr(account, "key", "") or ""),
        "address": str(getattr(session, "address", "") or ""),
    }
