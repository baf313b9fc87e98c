"""What builders do, and what players report: a line of JSON each, which nobody changes later."""

from __future__ import annotations

import json
import os
import re
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from evennia.commands.default.muxcommand import MuxCommand

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
    data = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    path = path_of(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
    try:
        os.write(fd, data)  # one call: no reader sees half a line
    finally:
        os.close(fd)


def newest(name: str, most: int) -> list[dict[str, Any]]:
    """The newest lines, oldest first; those that cannot be read are passed over."""
    try:
        with path_of(name).open(encoding="utf-8", errors="replace") as file:
            lines = deque(file, maxlen=most)
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


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
