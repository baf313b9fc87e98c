"""``keepsake watch``: a world's folder in the dashboard's pages, without starting it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

from game.cli.output import out
from game.lab.simulations.plan import PLAN, Lab, lab_of
from game.web.recorded.server import serve
from game.web.recorded.world import RecordedWorld
from keepsake.errors import KeepsakeError
from keepsake.paths import Places, Ports


def watch(here: Places, labs: Sequence[str], port: int) -> None:
    """Serve the pages until Ctrl-C; without ``labs`` those of this copy's own world.

    Raises:
        KeepsakeError: There is no such simulation or folder, or the port is taken.
    """
    found = [_found(here, lab) for lab in labs or [""]]
    with tempfile.TemporaryDirectory(prefix="keepsake-watch-") as scratch:
        worlds = []
        for number, (places, title, zone) in enumerate(found):
            own = Path(scratch) / str(number)
            own.mkdir()
            worlds.append(RecordedWorld(places, title, own, zone))
        serve(worlds, port, _say)


def _found(here: Places, lab: str) -> tuple[Places, str, ZoneInfo | None]:
    """Where it lies, what it is called, and the time zone of its days."""
    if not lab:
        return here, "this world", None
    folder = Path(lab)
    found = Lab(folder) if (folder / "home").is_dir() else lab_of(here, lab)
    if found.folder == folder and not (folder / PLAN).exists():  # a fork that is no simulation
        return Places(found.home, found.vault, Ports()), folder.resolve().name, None
    plan = found.plan()
    if not found.made:
        raise KeepsakeError(
            f"The world of {lab!r} is not made yet", f"Let it begin: {found.resume}"
        )
    return found.places(), plan.name, ZoneInfo(plan.zone)


def _say(title: str, address: str) -> None:
    out.print(f"{title}: {address}  (Ctrl-C ends it; nothing is written there)", markup=False)
