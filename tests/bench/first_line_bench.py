"""The time from a player's line to the first sentence of an answer, with a real model.

    BENCH_MODEL=FILE.gguf python -m tests.bench first_line

A player goes from room to room of the village. In each, they read for ``READING`` seconds (20), and
then speak to somebody to whom they have not spoken before, and once more. The embedded server runs
the model, on this machine. Without ``BENCH_MODEL`` nothing is measured.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure
from tests.fakes.model_server import llm_page
from tests.slow.cli.conftest import Copy, end, make_copy
from tests.slow.e2e.players import Player, keep_at_home

READING = float(os.environ.get("BENCH_READING", "20"))
LONGEST = 240.0
"""Seconds after which a line counts as not answered."""
ROOMS = {
    "Mira": ("The Kettle", "What is for supper tonight?"),
    "Nell": ("The Office of Lost Letters", "What has the sea brought you?"),
    "Bram": ("Bram's Orchard", "How are the bees today?"),
    "Joss": ("The Ferry Stage", "When does the ferry leave?"),
}
"""Where somebody is spoken to, and the first line to them."""
SECOND = "And how long have you lived here?"


def measure() -> Iterator[Figure]:
    """Measure seconds to the first sentence of first lines and of second lines."""
    model = os.environ.get("BENCH_MODEL", "")
    if not model:
        print("first_line: set BENCH_MODEL to a GGUF file", file=sys.stderr)
        return
    before = os.getloadavg()[0]
    firsts, seconds = _played(Path(model))
    load = f"load {before:.1f} to {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores"
    for name, times in (("first line to somebody", firsts), ("second line", seconds)):
        shown = ", ".join(f"{each:.1f}" for each in times)
        yield Figure(f"first sentence, {name}", len(times), median(times), "s", f"{shown}; {load}")


def _played(model: Path) -> tuple[list[float], list[float]]:
    """Play in a new world; return the seconds of first lines, and of second lines."""
    with TemporaryDirectory(prefix="keepsake-line-") as folder:
        copy = make_copy(Path(folder))
        shutil.copytree(REPOSITORY / "vault" / "config", copy.here.config)
        page = llm_page(
            agent=f"provider=embedded model_file={model.resolve()} temperature=0.3",
            summarizer="provider=none",
        )
        (copy.here.config / "llm.md").write_text(page)
        try:
            started = copy.keepsake("start")
            assert started.returncode == 0, started.stderr
            keep_at_home(copy)
            return _talk(copy)
        finally:
            end(copy)


def _talk(copy: Copy) -> tuple[list[float], list[float]]:
    admin = Player.admin(copy)
    admin.see("Here:")
    player = Player.new(copy, "Anneke", 1)
    player.see("Here:")
    _wait_for_the_model(copy)
    firsts = list[float]()
    seconds = list[float]()
    for name, (room, line) in ROOMS.items():
        admin.type(f"@tel {name} = {room}", "Teleported|already")
        admin.type(f"@tel Anneke = {room}", "Teleported|already")
        time.sleep(READING)
        firsts.append(_ask(player, name, line))
        time.sleep(READING / 2)
        seconds.append(_ask(player, name, SECOND))
        print(f"{name}: {firsts[-1]:.1f} s, {seconds[-1]:.1f} s", file=sys.stderr)
    admin.leave()
    player.leave()
    return firsts, seconds


def _wait_for_the_model(copy: Copy) -> None:
    """Wait until the embedded server answers."""
    deadline = time.monotonic() + LONGEST
    log = copy.here.logs / "model.log"
    while "listening on" not in (log.read_text() if log.exists() else ""):
        assert time.monotonic() < deadline, "the model was not loaded"
        time.sleep(1)
    time.sleep(READING)


def _ask(player: Player, name: str, line: str) -> float:
    """Say a line, and return the seconds to the first sentence; ``LONGEST`` if none came."""
    player.look_up()
    player.line.text = ""
    began = time.monotonic()
    player.line.send(f"talk {name} {line}")
    while time.monotonic() - began < LONGEST:
        if f"{name} says" in player.look_up():
            return time.monotonic() - began
        time.sleep(0.05)
    return LONGEST
