"""A child process, up for a measurement, as the game starts it; and the embedded model."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from game.cli.world.ports import free_base
from keepsake.child.supervisor import Supervisor
from keepsake.models.embedded.supervisor import Embedded
from keepsake.models.profiles import ModelProfile, Profiles
from keepsake.models.servers import build
from keepsake.paths import REPOSITORY, Places, Ports
from keepsake.ports import LanguageModel

FIRST_BASE = 47_500
_SECONDS = 120


@contextmanager
def child_up[S: Supervisor](kind: type[S], folder: Path, first_base: int) -> Iterator[S]:
    """A child process of the game, answering, in a home below ``folder``."""
    server = kind(Places(folder / "home", folder / "vault", Ports(free_base(first_base))))
    server.pid_file.parent.mkdir(parents=True)
    try:
        deadline = time.monotonic() + _SECONDS
        while not server.watch():
            if time.monotonic() > deadline:
                raise server.problem or TimeoutError("it did not start")
            time.sleep(0.1)
        yield server
    finally:
        server.stop()


@contextmanager
def embedded_server(first_base: int = FIRST_BASE) -> Iterator[Embedded]:
    """The embedded model's process, answering, in a home of its own."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        child_up(Embedded, Path(scratch), first_base) as server,
    ):
        yield server


@contextmanager
def embedded_model(profile_name: str) -> Iterator[tuple[ModelProfile, LanguageModel]]:
    """A shipped profile and its model, with all the guards that it has in the game."""
    with embedded_server() as server:
        profile = _profile(profile_name)
        guarded = build(profile, server, {})
        yield profile, guarded.model
        guarded.client.close()


def _profile(name: str) -> ModelProfile:
    """The profile of the shipped ``llm.md``, if it uses the embedded model; else the default."""
    shipped = Profiles(REPOSITORY / "vault" / "config" / "llm.md").get(name)
    return shipped if shipped.provider == "embedded" else ModelProfile(name, max_tokens=200)
