"""Where this copy of Keepsake keeps its things, and on which ports it listens.

Everything follows from environment variables, so that two copies can run side by
side: ``KEEPSAKE_HOME``, ``KEEPSAKE_VAULT``, ``KEEPSAKE_PORT_BASE``, ``KEEPSAKE_LISTEN``,
``KEEPSAKE_TLS_CERT`` and ``KEEPSAKE_TLS_KEY``, ``KEEPSAKE_DATABASE_URL``.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from keepsake.errors import KeepsakeError

REPOSITORY = Path(__file__).resolve().parent.parent
"""The checkout: holds ``game``, ``typeclasses``, ``commands``, ``world``."""

DATABASE_URL = "KEEPSAKE_DATABASE_URL"
"""In the environment of a world on PostgreSQL: where its database is."""
DEFAULT_PORT_BASE = 4000
DEFAULT_LISTEN = "127.0.0.1"
_HIGHEST_OFFSET = 8
_SOCKET_PATH_BYTES = 100
"""Unix sockets refuse paths of more than 108 bytes (104 on BSD), the final zero included."""


class _Port:
    """A port, by how far it lies from the base of its copy."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def __get__(self, ports: Ports, _: type[Ports]) -> int:
        return ports.base + self._offset


@dataclass(frozen=True, slots=True)
class Ports:
    """The TCP ports of one copy, all derived from one base."""

    base: int = DEFAULT_PORT_BASE

    telnet = _Port(0)
    """Players connect here."""
    web = _Port(1)
    """Web site and web client."""
    websocket = _Port(2)
    """The web client's socket."""
    telnet_tls = _Port(3)
    """Players connect here as well where there is a certificate."""
    web_internal = _Port(5)
    """Portal to Server, loopback only, as all that follow."""
    amp = _Port(6)
    """The same."""
    model = _Port(7)
    """The embedded model server."""
    vectors = _Port(8)
    """Chroma's server."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What encrypted connections need, both as PEM."""

    cert: Path  # the certificate, with those that vouch for it
    key: Path  # its private key


class _Path:
    """A path of a copy, by the folder that it lies in."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder, self._name = folder, name

    def __get__(self, places: Places, _: type[Places]) -> Path:
        folder: Path = getattr(places, self._folder)
        return folder / self._name


@dataclass(frozen=True, slots=True)
class Places:
    """The folders, ports and address of one copy of Keepsake."""

    home: Path  # run-time files: database, logs, keys, pid files
    vault: Path  # what a person can open: configuration, agents
    ports: Ports  # all TCP ports
    # the IPv4 address that players reach; internal ports stay on loopback
    listen: str = DEFAULT_LISTEN
    certificate: Certificate | None = None  # for encrypted connections; None for plain ones
    # PostgreSQL's, with what may be a password; empty for SQLite in the home
    database_url: str = field(default="", repr=False)

    config = _Path("vault", "config")
    """The markdown configuration in the vault."""
    agents = _Path("vault", "agents")
    """One folder an agent: archive, summaries."""
    logs = _Path("home", "logs")
    """All log files."""
    database = _Path("home", "evennia.db3")
    """Evennia's SQLite database; not there in a world on PostgreSQL."""
    elsewhere = _Path("home", "database-elsewhere")
    """Where the database of a world on PostgreSQL is, in words without a password."""
    models = _Path("home", "models")
    """Model weights put together from their packages."""
    admin_password = _Path("home", "admin-password")
    """The generated password of the ``admin`` account, mode 0600."""
    secret_key = _Path("home", "secret-key")
    """Signs web sessions, mode 0600."""
    portal_pid = _Path("home", "portal.pid")
    """Process number of Evennia's Portal, which holds the connections."""
    server_pid = _Path("home", "server.pid")
    """Process number of Evennia's Server, which runs the world."""
    model_pid = _Path("home", "model.pid")
    """Process number of the embedded model server."""
    vectors_pid = _Path("home", "vectors.pid")
    """Process number of Chroma's server."""
    index = _Path("home", "index")
    """The recall index: one folder an agent, and Chroma's own."""
    agents_log = _Path("logs", "agents.log")
    """What the agents think, do and remember."""
    events = _Path("logs", "events")
    """The event log: JSON lines of all that the agents think, and their prompts."""
    spill = _Path("home", "waiting-memories.jsonl")
    """Memories that wait for an archive that could not be written."""

    @property
    def control_socket(self) -> Path:
        """Where the running world answers the ``keepsake`` command.

        In the home, or under a short name in the temporary folder when the home's
        path is too long for a Unix socket.
        """
        path = self.home / "control.sock"
        if len(os.fsencode(path)) <= _SOCKET_PATH_BYTES:
            return path
        digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"keepsake-{digest}.sock"


def places(environ: Mapping[str, str] = os.environ) -> Places:
    """The places of this process.

    Raises:
        KeepsakeError: ``KEEPSAKE_PORT_BASE`` is not a usable port number,
            ``KEEPSAKE_LISTEN`` not an address, one half of the certificate is missing, or
            ``KEEPSAKE_DATABASE_URL`` names no database.
    """
    return Places(
        home=_folder(environ.get("KEEPSAKE_HOME"), REPOSITORY / ".run"),
        vault=_folder(environ.get("KEEPSAKE_VAULT"), REPOSITORY / "vault"),
        ports=Ports(_port_base(environ.get("KEEPSAKE_PORT_BASE", ""))),
        listen=_listen(environ.get("KEEPSAKE_LISTEN", "")),
        certificate=_certificate(
            environ.get("KEEPSAKE_TLS_CERT", ""), environ.get("KEEPSAKE_TLS_KEY", "")
        ),
        database_url=_database_url(environ.get(DATABASE_URL, "").strip()),
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


def _listen(given: str) -> str:
    try:
        return str(ipaddress.IPv4Address(given or DEFAULT_LISTEN))
    except ValueError:
        raise KeepsakeError(
            f"KEEPSAKE_LISTEN is {given!r}",
            "Set it to an IPv4 address of this machine: 127.0.0.1 for this machine alone "
            "(the default), 0.0.0.0 for every network it is on",
        ) from None


def _database_url(given: str) -> str:
    wrong = _fault_of(given) if given else ""
    if wrong:  # the address is not shown itself, nor any part of it: it may hold a password
        raise KeepsakeError(
            f"{DATABASE_URL} cannot be used. {wrong}",
            "Set it to postgresql://user@host/database, or unset it for SQLite",
        )
    return given


def _fault_of(address: str) -> str:
    """What is wrong with the address of a database, in words that show nothing of it."""
    place = public_part(address)
    if not place.startswith(("postgresql://", "postgres://")):
        return "It is no PostgreSQL address"
    if "@" in place or re.search(r"%(?![0-9A-Fa-f]{2})", address):
        return "In user and password @ is written as %40, / as %2F and % as %25"
    try:
        url = urlsplit(place)
        _ = url.port
    except ValueError:
        return "Its host and port cannot be read"
    return "" if url.path.strip("/") else "It names no database"


def public_part(address: str) -> str:
    """The address of a database without user, password and options."""
    return re.sub(r"^(\w+://)[^@/]*@", r"\1", address).partition("?")[0]


def _certificate(cert: str, key: str) -> Certificate | None:
    if not (cert and key):
        if cert or key:
            given, missing = ("CERT", "KEY") if cert else ("KEY", "CERT")
            raise KeepsakeError(
                f"KEEPSAKE_TLS_{given} is set, and KEEPSAKE_TLS_{missing} is not",
                "Set both, or neither",
            )
        return None
    return Certificate(Path(cert).expanduser().resolve(), Path(key).expanduser().resolve())
