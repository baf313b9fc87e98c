"""The folders and ports of this copy of Keepsake.

They all derive from environment variables, so that two copies can run side by side:
``KEEPSAKE_HOME``, ``KEEPSAKE_VAULT``, ``KEEPSAKE_WORLD``, ``KEEPSAKE_PORT_BASE``,
``KEEPSAKE_LISTEN``, ``KEEPSAKE_PROXIES``, ``KEEPSAKE_DATABASE_URL``; and ``KEEPSAKE_LANGUAGE``, the
world's language.
"""

from __future__ import annotations

import fcntl
import hashlib
import ipaddress
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from keepsake.errors import KeepsakeError, refusing
from keepsake.proxies import PROXIES, THIS_MACHINE, Proxies, trusted_proxies
from keepsake.shipped_config import update_copy

REPOSITORY = Path(__file__).resolve().parent.parent
"""The checkout: contains ``game``, ``typeclasses``, ``commands``, ``world``."""
_PACKAGED = Path(__file__).resolve().parent / "config"
SHIPPED_CONFIG = _PACKAGED if _PACKAGED.is_dir() else REPOSITORY / "vault" / "config"
"""The shipped configuration; in a wheel it is part of the package."""

_ZONES = Path("/usr/share/zoneinfo")
_LOCALTIME = "/etc/localtime"
"""The files of all time zones, and a link to the machine's."""
ZONE_FILE = "world-time-zone"
UNTIL = " until "
"""Between a time zone of that file and when the world ceased to live by it."""
"""The file beside the agents' folders with the time zone that the world lives by."""
DATABASE_URL = "KEEPSAKE_DATABASE_URL"  # environment variable: address of a PostgreSQL database
OWN_WORLD = "own-world"
"""The folder beside the vault that is laid over the village's world if ``KEEPSAKE_WORLD`` is not
set. In a checkout git ignores it, so an update never touches it."""
DEFAULT_PORT_BASE = 4000
DEFAULT_LISTEN = "127.0.0.1"
LANGUAGE = "KEEPSAKE_LANGUAGE"  # environment variable: the world's language
DEFAULT_LANGUAGE = "en"
_LANGUAGE_CODE = re.compile(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*")
_HIGHEST_BASE = 65535 - 8
"""The highest port base: the last port of a copy, that of Chroma, is the base plus 8."""
_SOCKET_PATH_BYTES = 100
"""Unix sockets refuse paths of more than 108 bytes (104 on BSD), the final zero included."""


class _Port:
    """A port, given by its offset from the port base."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def __get__(self, ports: Ports, _: type[Ports]) -> int:
        return ports.base + self._offset


@dataclass(frozen=True, slots=True)
class Ports:
    """The TCP ports of one copy, all derived from one base."""

    base: int = DEFAULT_PORT_BASE

    telnet = _Port(0)  # players connect here
    web = _Port(1)  # web site and web client
    websocket = _Port(2)  # the web client's socket
    web_internal = _Port(5)  # Portal to Server; loopback only, like all below
    model = _Port(7)  # the embedded model server
    vectors = _Port(8)  # Chroma's server


class _Path:
    """A path, given by its parent folder and its name."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder = folder
        self._name = name

    def __get__(self, places: Places, _: type[Places]) -> Path:
        folder: Path = getattr(places, self._folder)
        return folder / self._name


@dataclass(frozen=True, slots=True)
class Places:
    """The folders, ports and address of one copy of Keepsake."""

    home: Path  # run-time files: database, logs, keys, pid files
    vault: Path  # files for people to open: configuration, agents
    ports: Ports
    # the IPv4 address for players; internal ports stay on loopback
    listen: str = DEFAULT_LISTEN
    # PostgreSQL's address, which may contain a password; empty for SQLite in the home
    database_url: str = field(default="", repr=False)
    # the folder that ``KEEPSAKE_WORLD`` names; None if it is not set
    own_world_given: Path | None = None
    # the addresses whose ``X-Forwarded-For`` counts
    proxies: Proxies = THIS_MACHINE
    language: str = DEFAULT_LANGUAGE  # of the world, as in Django's LANGUAGE_CODE

    config = _Path("vault", "config")  # the configuration: markdown
    agents = _Path("vault", "agents")  # one folder an agent: archive, summaries
    logs = _Path("home", "logs")
    database = _Path("home", "evennia.db3")  # SQLite's; missing if the world uses PostgreSQL
    # says where the PostgreSQL database of the world is, without the password
    elsewhere = _Path("home", "database-elsewhere")
    models = _Path("home", "models")  # model weights assembled from their packages
    admin_password = _Path("home", "admin-password")  # generated, mode 0600
    secret_key = _Path("home", "secret-key")  # signs web sessions, mode 0600
    portal_pid = _Path("home", "portal.pid")  # of Evennia's Portal, which holds the connections
    server_pid = _Path("home", "server.pid")  # of Evennia's Server, which runs the world
    model_pid = _Path("home", "model.pid")  # of the embedded model server
    fetch_pid = _Path("home", "fetch.pid")  # of the process that downloads a model
    vectors_pid = _Path("home", "vectors.pid")  # of Chroma's server
    index = _Path("home", "index")  # the recall index: one folder an agent, and Chroma's own
    agents_log = _Path("logs", "agents.log")  # the agents' thoughts, acts and memories
    events = _Path("logs", "events")  # the event log: JSON lines, and the prompts
    # memories that wait for an archive that could not be written
    spill = _Path("home", "waiting-memories.jsonl")

    # which models keep secrets, found out by questions; a cache
    secret_trials = _Path("home", "secret-trials.json")
    # requests to be forgotten that are not done yet: one file for each
    forgetting = _Path("home", "forgetting")

    @property
    def own_world(self) -> Path:
        """The folder that is laid over the village's world; it may be missing."""
        return self.own_world_given or self.vault.parent / OWN_WORLD

    @property
    def control_socket(self) -> Path:
        """The Unix socket on which the running world answers the ``keepsake`` command."""
        return self._socket("control")

    @property
    def portal_socket(self) -> Path:
        """The Unix socket on which Evennia's Portal talks to its Server."""
        return self._socket("portal")

    def _socket(self, name: str) -> Path:
        """Return a socket's path: in the temporary folder if the home's path is too long for it."""
        path = self.home / f"{name}.sock"
        if len(os.fsencode(path)) <= _SOCKET_PATH_BYTES:
            return path
        digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        end = "" if name == "control" else f"-{name}"
        return Path(tempfile.gettempdir()) / f"keepsake-{digest}{end}.sock"


def places(environ: Mapping[str, str] = os.environ) -> Places:
    """Return the places of this process; raise KeepsakeError for a variable that cannot be used."""
    base = REPOSITORY if (REPOSITORY / "game").is_dir() else Path.cwd()
    home = _folder(environ.get("KEEPSAKE_HOME") or f"{base}/.run")
    vault = _folder(environ.get("KEEPSAKE_VAULT") or f"{base}/vault")
    return Places(
        home=home,
        vault=vault,
        ports=Ports(_port_base(environ.get("KEEPSAKE_PORT_BASE") or f"{DEFAULT_PORT_BASE}")),
        listen=_listen(environ.get("KEEPSAKE_LISTEN", "")),
        database_url=_database_url(environ.get(DATABASE_URL, "").strip()),
        own_world_given=_own_world(environ.get("KEEPSAKE_WORLD", ""), home, vault),
        proxies=trusted_proxies(environ.get(PROXIES, "")),
        language=_language(environ.get(LANGUAGE, "").strip()),
    )


def prepare(here: Places) -> None:
    """Create the folders, and bring the vault's copy of the shipped configuration up to date.

    Files that a person has changed stay as they are.

    Raises:
        KeepsakeError: A folder cannot be created or written to.
    """
    for folder, variable in (
        (here.logs, "KEEPSAKE_HOME"),
        (here.config, "KEEPSAKE_VAULT"),
        (here.agents, "KEEPSAKE_VAULT"),
    ):
        cure = f"Fix its permissions, or set {variable} to a folder that you can write to"
        with refusing(f"{folder} cannot be written to", cure):
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / ".writable"
            probe.touch()
            probe.unlink()
    cure = "Free some disk space, or set KEEPSAKE_VAULT to a folder that you can write to"
    with refusing(f"The configuration could not be copied to {here.config}", cure):
        update_copy(SHIPPED_CONFIG, here.config)


def _language(written: str) -> str:
    if written and not _LANGUAGE_CODE.fullmatch(written):
        cure = f"Set {LANGUAGE}, or LANGUAGE_CODE in the game's settings, to a code such as de"
        raise KeepsakeError(f"{written!r} is no code of a language", cure)
    return written or DEFAULT_LANGUAGE


PRIVATE_UMASK = 0o077
"""The umask of the village's processes: new files are for their owner alone."""
_OTHERS = 0o077  # group and all others
_STRANGERS = 0o007  # all others; a group may share the agents' files on purpose


def protect(here: Places) -> None:
    """Make the home its owner's alone, and close the agents' folder to users outside its group.

    The database has password hashes and the keys of web sessions, and the archives have whispers.
    Files that earlier versions created with other permissions are mended. Where this is not
    possible (another owner, a file system without permissions), :func:`exposed` still reports it.
    """
    for path, forbidden in _private_paths(here):
        with suppress(OSError):
            if (mode := stat.S_IMODE(path.stat().st_mode)) & forbidden:
                path.chmod(mode & ~forbidden)


def exposed(here: Places) -> list[tuple[Path, str]]:
    """Return each private path that other users may read, with the command that mends it."""
    found = []
    for path, forbidden in _private_paths(here):
        with suppress(OSError):
            if path.stat().st_mode & forbidden:
                found.append((path, f"chmod {'go' if forbidden == _OTHERS else 'o'}-rwx {path}"))
    return found


def _private_paths(here: Places) -> list[tuple[Path, int]]:
    """Return paths that others must not read, each with the permission bits that it must lack."""
    ends = ("", "-wal", "-shm")
    tables = [here.database.with_name(f"{here.database.name}{end}") for end in ends]
    secrets = (here.secret_key, here.admin_password, here.spill)
    return [
        *((path, _OTHERS) for path in (here.home, *tables, *secrets)),
        (here.agents, _STRANGERS),
    ]


def read_or_create(path: Path, *, nbytes: int) -> str:
    """Return the secret in ``path`` (mode 0600), or create a random one of ``nbytes``.

    Raises:
        KeepsakeError: The file can be neither read nor written.
    """
    cure = "Make KEEPSAKE_HOME a folder of your own that you can write to"
    with refusing(f"The secret in {path} cannot be used", cure):
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # Portal and Server start at the same time
            path.chmod(0o600)
            if not (secret := file.read().strip()):
                secret = secrets.token_urlsafe(nbytes)
                file.write(f"{secret}\n")
        return secret


def _folder(given: str) -> Path:
    return Path(given).expanduser().resolve()


def _own_world(given: str, home: Path, vault: Path) -> Path | None:
    """Return the folder of the own world; None if no variable names it.

    A restore moves what is in it aside, so it holds nothing else, and is in nothing else.
    """
    if not given:
        return None
    folder = _folder(given)
    for other in (REPOSITORY / "world", home, vault):
        if folder == other or folder in other.parents or other in folder.parents:
            cure = f"Set it to a folder of its own, such as {vault.parent / OWN_WORLD}"
            raise KeepsakeError(
                f"KEEPSAKE_WORLD is {folder}, which is not apart from {other}", cure
            )
    return folder


def _port_base(given: str) -> int:
    if given.isdecimal() and 1024 <= int(given) <= _HIGHEST_BASE:
        return int(given)
    cure = f"Set it to a number from 1024 to {_HIGHEST_BASE}"
    raise KeepsakeError(f"KEEPSAKE_PORT_BASE is {given!r}", cure)


def _listen(given: str) -> str:
    try:
        return str(ipaddress.IPv4Address(given or DEFAULT_LISTEN))
    except ValueError:
        cure = "Set it to an IPv4 address of this machine: 127.0.0.1 (the default), 0.0.0.0 for all"
        raise KeepsakeError(f"KEEPSAKE_LISTEN is {given!r}", cure) from None


def _database_url(given: str) -> str:
    # The message shows no part of the address, as it may contain a password.
    place = public_part(given)
    known = place.startswith(("postgresql://", "postgres://"))
    named = place.partition("://")[2].partition("/")[2]
    wrong = "@" in place or re.search(r"%(?![0-9A-Fa-f]{2})", given)
    if given and (wrong or not (known and named)):
        raise KeepsakeError(
            f"{DATABASE_URL} cannot be used. It is no PostgreSQL address",
            "Set it to postgresql://user@host/database, with @ in user and password written as "
            "%40, / as %2F and % as %25; or unset it for SQLite",
        )
    return given


def time_zone(environ: Mapping[str, str] = os.environ) -> str:
    """Return the name of the machine's time zone: ``Europe/Berlin``; ``UTC`` if it has none.

    Raises:
        KeepsakeError: The variable TZ names no time zone, such as ``CET-1CEST``. By such a rule the
            clock would run, but it has no name for the game's settings.
    """
    given = environ.get("TZ", "")
    name = (given or os.path.realpath(_LOCALTIME)).rpartition(_ZONES.name + "/")[2]
    name = name.removeprefix(":")
    if name and (_ZONES / name).is_file():
        return name
    if given and _ZONES.is_dir():
        cure = "Set it to the name of a time zone, such as Europe/Berlin or UTC, or unset it"
        raise KeepsakeError(f"TZ is {given!r}, which is the name of no time zone", cure)
    return "UTC"


def kept_zone(agents: Path) -> str:
    """Return the time zone that a world lived by at its last start; empty if none is known.

    ``agents``: The folder of the memories, which speak of hours of that zone.
    """
    name = next(iter(_zone_lines(agents)), "")
    return name if name and (_ZONES / name).is_file() else ""


def earlier_zones(agents: Path) -> Sequence[tuple[str, datetime]]:
    """Return the time zones that a world lived by before, oldest first, each with its end.

    What agents remember of that time speaks of hours of that zone.
    """
    found = []
    for line in _zone_lines(agents)[1:]:
        name, _, until = line.partition(UNTIL)
        with suppress(ValueError):
            end = datetime.fromisoformat(until)
            if end.tzinfo is not None and (_ZONES / name).is_file():
                found.append((name, end))
    return sorted(found, key=lambda each: each[1])


def zone_lines(zone: str, agents: Path, now: datetime) -> str:
    """Return the text of the file of a world's time zone, if it lives by ``zone`` from ``now`` on.

    Those that it lived by before follow, each with its end: ``UTC until 2026-05-01T12:00+00:00``.
    """
    kept = kept_zone(agents)
    ended = [f"{kept}{UNTIL}{now.isoformat()}"] if kept not in ("", zone) else []
    return "\n".join([zone, *ended, *_zone_lines(agents)[1:], ""])


def _zone_lines(agents: Path) -> Sequence[str]:
    try:
        lines = (agents / ZONE_FILE).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return ()
    return [each.strip() for each in lines if each.strip()]


def world_zone(agents: Path, environ: Mapping[str, str] = os.environ) -> str:
    """Return the name of the time zone that a world lives by.

    It is that of the variable TZ; else the one that the world lived by before, which a move to
    another machine does not change; else the machine's.

    Raises:
        KeepsakeError: TZ names no time zone.
    """
    kept = "" if environ.get("TZ") else kept_zone(agents)
    return kept or time_zone(environ)


def public_part(address: str) -> str:
    """Return the address of a database without user, password and options."""
    return re.sub(r"^(\w+://)[^@/]*@", r"\1", address).partition("?")[0]
