"""Copies of Keepsake in temporary homes, driven through their real command."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from keepsake.cli import processes
from keepsake.paths import REPOSITORY, Places, places
from tests import postgres
from tests.free_ports import free_base
from tests.unit.lab.in_process import OURS, Ran, keepsake


@dataclass(frozen=True)
class Copy:
    """One copy: its environment and its places, and what a test wants to remember."""

    environ: dict[str, str]
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def here(self) -> Places:
        return places(self.environ)

    def keepsake(self, *arguments: str) -> Ran:
        """The command in this very process, which has imported already what it needs."""
        return keepsake(self.environ, *arguments)

    def process(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command as a shell runs it."""
        return subprocess.run(
            [sys.executable, "-m", "keepsake", *arguments],
            cwd=REPOSITORY,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )


NO_OLLAMA = "127.0.0.1:9"
"""Where none answers, whatever this machine has."""


def make_copy(folder: Path, **environ: str) -> Copy:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return Copy(
        {
            **kept,
            "KEEPSAKE_HOME": str(folder / "home"),
            "KEEPSAKE_VAULT": str(folder / "vault"),
            "KEEPSAKE_PORT_BASE": str(free_base()),
            "KEEPSAKE_MODEL": "none",  # no test fetches a gigabyte
            "OLLAMA_HOST": NO_OLLAMA,
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


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The cluster of this run of tests, or one of a module's own."""
    if postgres.programs() is None:
        pytest.skip("PostgreSQL is not installed")
    with ExitStack() as stack:
        yield os.environ.get(postgres.TEST_DATABASE) or stack.enter_context(postgres.cluster())


@pytest.fixture(scope="module")
def database(cluster: str) -> Callable[..., str]:
    """Makes an empty database, or one like another that it made; its address."""

    def make(name: str, *like: str) -> str:
        return postgres.new_database(cluster, *(f"{each}-{os.getpid()}" for each in (name, *like)))

    return make
