"""Tokens of programs: for which agents, with which rights. Only their hashes are stored."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from keepsake.errors import KeepsakeError, refusing
from keepsake.files import OWN, Stamp, replace_file, stamp

ALL = "*"
"""In place of the agents' names: all agents, also those that are made later."""
_PREFIX = "ks"
_SECRET_BYTES = 32
"""Nobody can guess so many, so a plain SHA-256 of a token is as good as a slow hash."""
_CURE = "Fix or remove the file, then make new tokens with `keepsake service add-token`"


class Right(StrEnum):
    """What a token allows."""

    READ = "read"
    """Recall, prompts, summaries, people, plans: all that the agent knows."""
    WRITE = "write"
    """Have it perceive, answer and plan; compact and undo."""
    FORGET = "forget"
    """Delete what a person said and did."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What the bearer of a token may do.

    Attributes:
        id: Names the token in the audit, and to remove it.
        label: What it is for, in the words of who made it.
        agents: The folders of the agents, or :data:`ALL`.
        made: When it was made.
    """

    id: str
    label: str
    agents: tuple[str, ...]
    rights: tuple[Right, ...]
    made: str

    def knows(self, agent: str) -> bool:
        """Whether the token is for that agent."""
        return ALL in self.agents or agent in self.agents


class ServiceTokens:
    """The tokens of one service, in a file that only its owner can read; safe for threads.

    Args:
        folder: The folder that is served.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / OWN / "tokens.json"
        self._stamp: Stamp | None = None
        self._known: Mapping[str, tuple[Grant, str]] = {}

    def grant(self, token: str) -> Grant | None:
        """Return what the bearer of a token may do; None for an unknown token.

        Raises:
            KeepsakeError: The file cannot be read.
        """
        given = token.split("_")
        if len(given) < 3 or given[0] != _PREFIX:
            return None
        found = self._read().get(given[1])
        if found is None or not hmac.compare_digest(found[1], _hashed(token)):
            return None
        return found[0]

    def grants(self) -> list[Grant]:
        """Return all grants. It raises as :meth:`grant`."""
        return [grant for grant, _ in self._read().values()]

    def add(self, agents: Collection[str], rights: Collection[Right], label: str = "") -> str:
        """Make a token, and return it: it cannot be read again later.

        Raises:
            KeepsakeError: The file cannot be read or written.
        """
        with self._changing() as known:
            number = secrets.token_hex(4)
            while number in known:
                number = secrets.token_hex(4)
            token = f"{_PREFIX}_{number}_{secrets.token_urlsafe(_SECRET_BYTES)}"
            made = datetime.now(UTC).isoformat(timespec="seconds")
            order = tuple(each for each in Right if each in rights)
            grant = Grant(number, label, tuple(sorted(agents)), order, made)
            known[number] = (grant, _hashed(token))
        return token

    def remove(self, number: str) -> None:
        """Remove a token, by its id or by the token itself. It is refused from then on.

        Raises:
            KeepsakeError: There is none, or the file cannot be written.
        """
        parts = number.split("_")
        number = parts[1] if len(parts) > 2 else number
        with self._changing() as known:
            if known.pop(number, None) is None:
                ids = ", ".join(known) or "none"
                raise KeepsakeError(f"There is no token {number!r}", f"There are: {ids}")

    @contextmanager
    def _changing(self) -> Iterator[dict[str, tuple[Grant, str]]]:
        """Yield the tokens to change, and write them; no other process changes them meanwhile."""
        with refusing(f"{self.path} cannot be written", "Fix its permissions, or free some space"):
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                known = dict(self._read())
                yield known
                lines = [asdict(grant) | {"sha256": hashed} for grant, hashed in known.values()]
                if not self.path.exists():  # so that it is never readable for others
                    os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
                replace_file(self.path, json.dumps(lines, indent=1) + "\n")
            finally:
                os.close(lock)

    def _read(self) -> Mapping[str, tuple[Grant, str]]:
        """Return the tokens by id, read again if the file has changed."""
        now = stamp(self.path)
        if now is None:
            return {}
        if now != self._stamp:
            with refusing(f"{self.path} cannot be read", _CURE, ValueError, KeyError, TypeError):
                lines = json.loads(self.path.read_text(encoding="utf-8"))
                self._known = {each["id"]: (_grant(each), str(each["sha256"])) for each in lines}
            self._stamp = now
        return self._known


def _grant(line: Mapping[str, Any]) -> Grant:
    rights = tuple(map(Right, line["rights"]))
    agents = tuple(map(str, line["agents"]))
    return Grant(str(line["id"]), str(line["label"]), agents, rights, str(line["made"]))


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
