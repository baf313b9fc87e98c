"""Where this copy of Keepsake keeps its things, and on which ports it listens.

Everything follows from three environment variables, so that two copies can run
side by side: ``KEEPSAKE_HOME``, ``KEEPSAKE_VAULT``, ``KEEPSAKE_PORT_BASE``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from game.mind.errors import KeepsakeError

REPOSITORY = Path(__file__).resolve().parent.parent
"""The checkout: holds ``game``, ``typeclasses``, ``commands``, ``world``."""

DEFAULT_PORT_BASE = 4000
_HIGHEST_OFFSET = 7


@dataclass(frozen=True, slots=True)
class Ports:
    """The TCP ports of one copy, all derived from one base."""

    base: int = DEFAULT_PORT_BASE

    @property
    def telnet(self) -> int:
        """Players connect here."""
        return self.base

    @property
    def web(self) -> int:
        """Web site and web client."""
        return self.base + 1

    @property
    def websocket(self) -> int:
        """The web client's socket."""
        return self.base + 2

    @property
    def web_internal(self) -> int:
        """Portal to Server, loopback only."""
        return self.base + 5

    @property
    def amp(self) -> int:
        """Portal to Server, loopback only."""
        return self.base + 6

    @property
    def model(self) -> int:
        """The embedded model server, loopback only."""
        return self.base + 7


@dataclass(frozen=True, slots=True)
class Places:
    """The folders and ports of one copy of Keepsake."""

    home: Path
    vault: Path
    ports: Ports

    @property
    def config(self) -> Path:
        """The markdown configuration in the vault."""
        return self.vault / "config"

    @property
    def agents(self) -> Path:
        """One folder an agent: archive, summaries."""
        return self.vault / "agents"

    @property
    def logs(self) -> Path:
        """All log files."""
        return self.home / "logs"

    @property
    def database(self) -> Path:
        """Evennia's SQLite database."""
        return self.home / "evennia.db3"

    @property
    def models(self) -> Path:
        """Model weights put together from their packages."""
        return self.home / "models"

    @property
    def admin_password(self) -> Path:
        """The generated password of the ``admin`` account, mode 0600."""
        return self.home / "admin-password"


def places(environ: Mapping[str, str] = os.environ) -> Places:
    """The places of this process.

    Raises:
        KeepsakeError: ``KEEPSAKE_PORT_BASE`` is not a usable port number.
    """
    return Places(
        home=_folder(environ.get("KEEPSAKE_HOME"), REPOSITORY / ".run"),
        vault=_folder(environ.get("KEEPSAKE_VAULT"), REPOSITORY / "vault"),
        ports=Ports(_port_base(environ.get("KEEPSAKE_PORT_BASE", ""))),
    )


def _folder(given: str | None, default: Path) -> Path:
    return Path(given).expanduser().resolve() if given else default


def _port_base(given: str) -> int:
    if not given:
        return DEFAULT_PORT_BASE
    if not given.isdecimal() or not 1024 <= int(given) <= 65535 - _HIGHEST_OFFSET:
        raise KeepsakeError(
            f"KEEPSAKE_PORT_BASE is {given!r}",
            f"Set it to a number from 1024 to {65535 - _HIGHEST_OFFSET}",
        )
    return int(given)
