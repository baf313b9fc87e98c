"""Tokens with which programs use the API: made by a builder, stored as hashes, limited in rate.

They are one JSON file in the home, so that the ``keepsake`` command works while the world stands
still, and a running world reads a change at once.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from keepsake.errors import KeepsakeError, refusing
from keepsake.files import Stamp, replace_file, stamp

FILE = "api-tokens.json"
"""The file in the home."""
PREFIX = "keepsake_"
"""The beginning of every token, by which a scanner for secrets recognises it."""
_BYTES = 32
"""Random bytes of a token: nobody guesses it, so that a plain hash of it is safe to store."""
MOST_TOKENS = 100
LONGEST_NAME = 60
"""The most tokens at a time, and the most characters of the name of one."""
PER_MINUTE = 120
"""The most requests of a token in a minute: two a second, as a dashboard with a page open makes."""
_MINUTE = 60.0
"""Seconds over which the requests of a token are counted."""
_OWNER_ONLY = 0o600
"""The permissions of the file: only its owner reads and writes it."""


@dataclass(frozen=True, slots=True)
class Token:
    """What is stored of a token.

    Attributes:
        id: Its number; never used twice.
        name: What it is for.
        digest: The SHA-256 of the token in hexadecimal.
        writes: Whether it may change anything.
        account: The number of the account of the builder who made it; 0 if the command did.
        by: The name of that account.
        made: When, in ISO 8601.
    """

    id: int
    name: str
    digest: str
    writes: bool
    account: int
    by: str
    made: str


class TokenRefused(KeepsakeError):
    """A token cannot be made or revoked."""


class TokenStore:
    """The tokens of one copy of Keepsake; safe to use from several threads and processes.

    Args:
        home: The folder with the file.
        clock: Returns seconds that never go back, for the rate.
    """

    def __init__(self, home: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = home / FILE
        self._clock = clock
        self._stamp: Stamp | None = None
        self._known: tuple[Token, ...] = ()
        self._uses: dict[int, deque[float]] = {}
        self._last: dict[int, datetime] = {}

    def all(self) -> tuple[Token, ...]:
        """Return every token, the oldest first.

        Raises:
            KeepsakeError: The file cannot be read.
        """
        now = stamp(self._path)
        if now != self._stamp or now is None:
            with refusing(f"{self._path} cannot be read", "Fix its permissions"):
                self._known = self._read()
            self._stamp = now
        return self._known

    def make(self, name: str, *, writes: bool, account: int = 0, by: str = "") -> tuple[Token, str]:
        """Make a token; return what is stored, and the token itself, which is not.

        Raises:
            TokenRefused: The name is empty, too long or used already, or there are too many.
            KeepsakeError: The file cannot be written.
        """
        clean = " ".join(name.split())
        if not clean or len(clean) > LONGEST_NAME:
            raise TokenRefused("A token needs a name", f"Use at most {LONGEST_NAME} characters")
        secret = f"{PREFIX}{secrets.token_urlsafe(_BYTES)}"
        with self._changing() as tokens:
            if any(each.name.casefold() == clean.casefold() for each in tokens):
                raise TokenRefused(f"There is a token {clean!r} already", "Revoke it first")
            if len(tokens) >= MOST_TOKENS:
                raise TokenRefused(f"There are {MOST_TOKENS} tokens", "Revoke one first")
            made = Token(
                id=max((each.id for each in tokens), default=0) + 1,
                name=clean,
                digest=_digest(secret),
                writes=writes,
                account=account,
                by=by,
                made=datetime.now(UTC).isoformat(timespec="seconds"),
            )
            tokens.append(made)
        return made, secret

    def revoke(self, which: str) -> Token:
        """Delete the token with that name or number; it is refused from the next request on.

        Raises:
            TokenRefused: There is no such token.
            KeepsakeError: The file cannot be written.
        """
        with self._changing() as tokens:
            wanted = which.strip().casefold()
            found = [each for each in tokens if wanted in (each.name.casefold(), str(each.id))]
            if not found:
                names = ", ".join(each.name for each in tokens) or "none"
                raise TokenRefused(f"There is no token {which[:60]!r}", f"There are: {names}")
            tokens.remove(found[0])
        return found[0]

    def find(self, secret: str) -> Token | None:
        """Return the token with that secret; None if there is none."""
        digest = _digest(secret)
        return next((each for each in self.all() if each.digest == digest), None)

    def seconds_left(self, token: Token) -> float:
        """Note a request; return 0, or the seconds to wait if there were too many."""
        now = self._clock()
        uses = self._uses.setdefault(token.id, deque())
        while uses and uses[0] <= now - _MINUTE:
            uses.popleft()
        if len(uses) >= PER_MINUTE:
            return uses[0] + _MINUTE - now
        uses.append(now)
        self._last[token.id] = datetime.now(UTC)
        return 0.0

    def last_used(self, token: Token) -> datetime | None:
        """Return when the token was last used since the server's start; None if it was not."""
        return self._last.get(token.id)

    def _read(self) -> tuple[Token, ...]:
        with suppress(FileNotFoundError):
            try:
                listed = json.loads(self._path.read_text(encoding="utf-8"))
                return tuple(Token(**each) for each in listed)
            except (ValueError, TypeError) as error:
                problem = f"{self._path} is damaged"
                raise KeepsakeError(problem, "Delete it; then make the tokens anew") from error
        return ()

    @contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        """Provide the tokens as a list, and write it afterwards."""
        cure = "Free some disk space, or fix the permissions of its folder"
        with refusing(f"{self._path} cannot be written", cure):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.with_suffix(".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # released when it is closed
                tokens = list(self._read())
                yield tokens
                if not self._path.exists():  # its permissions stay when it is replaced
                    os.close(os.open(self._path, os.O_CREAT, _OWNER_ONLY))
                replace_file(self._path, json.dumps([asdict(each) for each in tokens], indent=1))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
