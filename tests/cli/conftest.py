"""Copies of Keepsake in temporary homes, driven through their real command."""

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import pytest

from game.cli.app import main
from game.cli.world import processes
from game.paths import REPOSITORY, Places, places
from tests.free_ports import free_base

_OURS = ("KEEPSAKE_", "OLLAMA_", "OPENAI_", "DJANGO_")
"""How the names begin of what must not come in from outside, or from another test."""


@dataclass(frozen=True)
class Copy:
    """One copy: its environment and its places, and what a test wants to remember."""

    environ: dict[str, str]
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def here(self) -> Places:
        return places(self.environ)

    def keepsake(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command in this very process, which has imported already what it needs."""
        out, err, code = io.StringIO(), io.StringIO(), 0
        argv = ["keepsake", *arguments]
        with (
            patch.dict(os.environ, self.environ, clear=True),
            patch.object(sys, "argv", argv),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            try:
                main()
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        return subprocess.CompletedProcess(argv, code, out.getvalue(), err.getvalue())

    def process(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command as a shell runs it."""
        return subprocess.run(
            [sys.executable, "-m", "game", *arguments],
            cwd=REPOSITORY,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )


def make_copy(folder: Path, **environ: str) -> Copy:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return Copy(
        {
            **kept,
            "KEEPSAKE_HOME": str(folder / "home"),
            "KEEPSAKE_VAULT": str(folder / "vault"),
            "KEEPSAKE_PORT_BASE": str(free_base()),
            **environ,
        }
    )


def end(copy: Copy) -> None:
    """End whatever runs of it, by signal: how the command stops it is tested elsewhere."""
    while found := processes.running(copy.here):
        processes.end(found)


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Copy]:
    """A copy that nobody has started; ended after the test, whatever became of it."""
    made = make_copy(tmp_path)
    yield made
    end(made)
