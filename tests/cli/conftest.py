"""Copies of Keepsake in temporary homes, driven through their real command."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from game.cli import ports, processes
from game.paths import REPOSITORY, Places, places

FIRST_BASE = 10000 + os.getpid() % 200 * 100
"""Another one for each run of the tests, so that two runs at once do not meet, and below
the ports that the system gives to connections."""


@dataclass(frozen=True)
class Copy:
    """One copy: its environment and its places, and what a test wants to remember."""

    environ: dict[str, str]
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def here(self) -> Places:
        return places(self.environ)

    def keepsake(self, *arguments: str, timeout: float = 240) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "game", *arguments],
            cwd=REPOSITORY,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


def make_copy(folder: Path, **environ: str) -> Copy:
    base = ports.free_base(FIRST_BASE)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KEEPSAKE_")}
    return Copy(
        {
            **kept,
            "KEEPSAKE_HOME": str(folder / "home"),
            "KEEPSAKE_VAULT": str(folder / "vault"),
            "KEEPSAKE_PORT_BASE": str(base),
            **environ,
        }
    )


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Copy]:
    """A copy that nobody has started; ended after the test, whatever became of it."""
    made = make_copy(tmp_path)
    yield made
    if processes.running(made.here):
        made.keepsake("stop")
