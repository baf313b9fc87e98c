"""Prepares the folders of one copy, and lets one command at a time change it."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keepsake.errors import KeepsakeError, refusing
from keepsake.paths import REPOSITORY, Places

SHIPPED_CONFIG = REPOSITORY / "vault" / "config"


def prepare(here: Places) -> None:
    """Make the folders, and put the shipped configuration where the vault has none.

    Raises:
        KeepsakeError: A folder cannot be made or written to.
    """
    for folder, variable in (
        (here.logs, "KEEPSAKE_HOME"),
        (here.config, "KEEPSAKE_VAULT"),
        (here.agents, "KEEPSAKE_VAULT"),
    ):
        _make(folder, variable)
    if here.config.resolve() != SHIPPED_CONFIG.resolve():
        cure = "Free some disk space, or set KEEPSAKE_VAULT to a folder that you can write to"
        with refusing(f"The configuration could not be copied to {here.config}", cure):
            _copy_missing(SHIPPED_CONFIG, here.config)


@contextmanager
def alone(here: Places) -> Iterator[None]:
    """Hold this copy's lock, so that no other ``keepsake`` starts or stops it meanwhile.

    Raises:
        KeepsakeError: Another command holds it.
    """
    here.home.mkdir(parents=True, exist_ok=True)
    with (here.home / "command.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise KeepsakeError(
                f"Another keepsake command is at work on {here.home}",
                "Wait until it is done, then try again",
            ) from None
        yield


def _make(folder: Path, variable: str) -> None:
    cure = f"Make it yours, or set {variable} to a folder that you can write to"
    with refusing(f"{folder} cannot be written to", cure):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()


def _copy_missing(source: Path, target: Path) -> None:
    """Copy what is not there yet; a file that is there is somebody's work."""
    for shipped in sorted(source.rglob("*")):
        copy = target / shipped.relative_to(source)
        if shipped.is_dir():
            copy.mkdir(exist_ok=True)
        elif not copy.exists():
            draft = copy.with_name(f".{copy.name}.draft")  # half a file must not stay
            shutil.copyfile(shipped, draft)
            draft.replace(copy)
