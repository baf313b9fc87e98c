"""Copies of Keepsake in temporary homes, run through the real command."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from keepsake.cli import processes
from keepsake.paths import PRIVATE_UMASK, REPOSITORY, Places, places
from tests import postgres
from tests.free_ports import free_base
from tests.unit.lab.in_process import OWN_PREFIXES, CommandResult, keepsake


@dataclass(frozen=True)
class Copy:
    """A copy of Keepsake: its environment, and notes for later tests."""

    environ: dict[str, str]
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def here(self) -> Places:
        return places(self.environ)

    def keepsake(self, *arguments: str) -> CommandResult:
        """Run the command in this process, which has already imported most modules."""
        return keepsake(self.environ, *arguments)

    def process(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command in a process of its own, as a shell does."""
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
"""An address without a server: tests must not use an Ollama of this machine."""


def make_copy(folder: Path, **environ: str) -> Copy:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN_PREFIXES)}
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
    """End all processes of the copy by signal; other tests cover ``keepsake stop``."""
    while found := processes.running(copy.here):
        processes.end(found)


@pytest.fixture(autouse=True)
def private_files() -> Iterator[None]:
    """Let tests make a home as the game does: for its owner alone."""
    before = os.umask(PRIVATE_UMASK)
    yield
    os.umask(before)


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Copy]:
    """A copy that has not been started; its processes are ended after the test."""
    made = make_copy(tmp_path)
    yield made
    end(made)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The PostgreSQL cluster of this test run, or one for the module."""
    if postgres.programs() is None:
        pytest.skip("PostgreSQL is not installed")
    with ExitStack() as stack:
        yield os.environ.get(postgres.TEST_DATABASE) or stack.enter_context(postgres.cluster())


@pytest.fixture(scope="module")
def database(cluster: str) -> Callable[..., str]:
    """Returns a function that creates a database, empty or as a copy; it returns the address."""

    def make(name: str, *like: str) -> str:
        return postgres.new_database(cluster, *(f"{each}-{os.getpid()}" for each in (name, *like)))

    return make
