"""Checks of the machine: Python, disk, ports, processes, secrets."""

from __future__ import annotations

import os
import platform
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from game.cli.checks.finding import Finding
from game.cli.world import client, ports, processes
from game.cli.world.processes import Component
from game.server import databases, vault_lock
from game.server.private_files import OWNER_ONLY
from keepsake.errors import KeepsakeError
from keepsake.paths import DATABASE_URL, Places
from keepsake.web.live.door import CURE, TOKEN_VARIABLE, too_short

LEAST_PYTHON = (3, 12)
LEAST_FREE_MB = 500
_PROBE_BYTES = 65_536


def python(_here: Places) -> Iterator[Finding]:
    """Python is new enough."""
    well = sys.version_info >= LEAST_PYTHON
    cure = "" if well else "Install Python 3.12 or newer, remove .venv, then `make run`"
    yield Finding("Python", well, f"{platform.python_version()} in {sys.prefix}", cure)


def copy(asked: Places, here: Places) -> Iterator[Finding]:
    """Which copy this is, and whether the shell names the one that runs."""
    what = f"home {here.home}, vault {here.vault}, port base {here.ports.base}"
    if differing := [name for name, one, other in _named(asked, here) if one != other]:
        cure = "Set these where you run it, as they were set for `keepsake start`: " + " ".join(
            f"{name}={other}" for name, _, other in _named(asked, here) if name in differing
        )
        yield Finding("Copy", False, f"{what}: it runs so, and this shell names another", cure)
    elif not processes.running(here) and (holder := vault_lock.holder(here)):
        cure = "Stop that copy, or set KEEPSAKE_VAULT to another folder"
        yield Finding("Copy", False, f"{what}: the vault is in use by {holder}", cure)
    else:
        yield Finding("Copy", True, what)


def _named(asked: Places, here: Places) -> list[tuple[str, object, object]]:
    one, other = (databases.shown(each) if each.database_url else "" for each in (asked, here))
    return [
        ("KEEPSAKE_VAULT", asked.vault, here.vault),
        ("KEEPSAKE_PORT_BASE", asked.ports.base, here.ports.base),
        ("KEEPSAKE_LISTEN", asked.listen, here.listen),
        (DATABASE_URL, one, other),  # without its password
    ]


def room(here: Places) -> Iterator[Finding]:
    """Home and vault can be written to, which is tried, and have room left."""
    folders = (("Home", here.home, "KEEPSAKE_HOME"), ("Vault", here.agents, "KEEPSAKE_VAULT"))
    for subject, folder, variable in folders:
        nearest = next(each for each in (folder, *folder.parents) if each.exists())
        if wrong := _unwritable(nearest):
            cure = f"Make room or make it yours, or set {variable} to a folder of your own"
            yield Finding(subject, False, f"{nearest} cannot be written to: {wrong}", cure)
            continue
        free = shutil.disk_usage(nearest).free // 1_000_000
        cure = "" if free >= LEAST_FREE_MB else "Make room on that disk"
        yield Finding(subject, free >= LEAST_FREE_MB, f"{folder}, {free:,} MB free", cure)


def _unwritable(folder: Path) -> str:
    """Why a file cannot be written there; empty if it can."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(bytes(_PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return error.strerror or str(error)
    return ""


def secrets(here: Places) -> Iterator[Finding]:
    """Secrets are readable by their owner alone."""
    for path in (here.admin_password, here.secret_key):
        if path.exists() and (mode := stat.S_IMODE(path.stat().st_mode)) != OWNER_ONLY:
            cure = f"chmod 600 {path}"
            yield Finding("Secrets", False, f"{path} has mode {mode:o}, others may read it", cure)
            return
    yield Finding("Secrets", True, "readable by their owner alone")


def metrics(_here: Places) -> Iterator[Finding]:
    """The token for the metrics, if there is one where this is run, opens to somebody."""
    if token := os.environ.get(TOKEN_VARIABLE, "").strip():
        wrong = too_short(token)
        yield Finding("Metrics", not wrong, wrong or "open with a token", CURE if wrong else "")
    else:
        yield Finding("Metrics", True, "open to this machine alone")


def listening(here: Places) -> Iterator[Finding]:
    """Every port is free, or held by a process of this copy."""
    ours = frozenset(each.pid for each in processes.running(here))
    obstacles = ports.taken(ports.of(here), ours)
    for port, reason in obstacles:
        cure = ports.cure(here.ports)
        yield Finding("Ports", False, f"{port.number} ({port.name}) {reason}", cure)
    if not obstacles:
        first, last = here.ports.telnet, here.ports.vectors
        yield Finding("Ports", True, f"{first} to {last} are free or ours")


def world(here: Places) -> Iterator[Finding]:
    """The world runs whole, or not at all."""
    found = processes.running(here)
    alive = {each.component for each in found}
    if not found:
        yield Finding("World", True, "not running")
        return
    missing = {Component.PORTAL, Component.SERVER} - alive
    if missing:
        what = f"runs without its {' and '.join(sorted(missing))}"
        cure = "`make run` mends that; `keepsake logs server --no-follow` has why it ended"
        yield Finding("World", False, what, cure)
        return
    yield _answer(here)


def _answer(here: Places) -> Finding:
    try:
        ready = client.ask(here, "ready", seconds=5)["ready"]
    except KeepsakeError as error:
        cure = "`make stop`, `make run`; if it stays so, `keepsake logs server --no-follow`"
        return Finding("World", False, f"runs but does not answer: {error.what}", cure)
    return Finding("World", True, "runs and answers" if ready else "is being built")
