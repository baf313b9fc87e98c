"""A short simulation, and ``keepsake watch`` in a process of its own that shows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from game.lab.simulations.plan import Lab, SimulationPlan
from game.lab.simulations.simulate import create, run
from keepsake.paths import REPOSITORY, Places, Ports

SHORT = SimulationPlan("short", agents=3, hours=0.7, visitors=2)


def lived(folder: Path, plan: SimulationPlan = SHORT) -> tuple[Places, Lab]:
    """The places of a world that has one simulation, and that one, lived to its end."""
    places = Places(folder, REPOSITORY / "vault", Ports(21000))
    lab = create(places, plan)
    run(lab)
    return places, lab


@contextmanager
def watching(places: Places, *labs: str) -> Iterator[str]:
    """Have them shown; gives the address of the first."""
    environ = {**os.environ, "KEEPSAKE_HOME": str(places.home), "KEEPSAKE_VAULT": str(places.vault)}
    process = subprocess.Popen(
        [sys.executable, "-m", "game", "watch", *(word for lab in labs for word in ("--lab", lab))],
        cwd=REPOSITORY,
        env=environ | {"COLUMNS": "300"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert found, said + process.stdout.read()
        yield found[0]
    finally:
        process.terminate()
        assert process.wait(30) is not None
        if process.stdout is not None:
            process.stdout.close()
