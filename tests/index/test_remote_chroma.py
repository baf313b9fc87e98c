"""Chroma's own server as somebody else runs it: `chroma run`, which comes and goes as it likes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepsake.index.service import IndexService
from keepsake.recall.config import RecallConfig
from tests.free_ports import free_port
from tests.index.conftest import BagOfWords, Life, by_words, settles
from tests.llm.conftest import places_in, until


class RemoteChroma:
    """`chroma run` on a port and a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.port, self._folder = free_port(), folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Begin to come up; nobody waits for it."""
        command = [Path(sys.executable).with_name("chroma"), "run", "--path", self._folder / "data"]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--port", str(self.port)],
                env={**os.environ, "ANONYMIZED_TELEMETRY": "False"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        """End it as a power cut does; a second call does nothing."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[RemoteChroma]:
    made = RemoteChroma(tmp_path)
    yield made
    made.kill()


def test_a_world_begins_without_it_and_has_its_vectors_when_it_is_there(
    tmp_path: Path, remote: RemoteChroma, said: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("keepsake.index.service.RETRY_SECONDS", 0.5)
    here = places_in(tmp_path / "copy")
    mira = Life(here.agents / "mira")
    embedder = BagOfWords()
    service = IndexService(here, RecallConfig(chroma=remote.address), embedder, said.append)
    service.start()
    try:
        mira.live_days(50)
        index = service.open("mira", mira.archive.folder, mira.notes)
        service.schedule_follow("mira", 51)
        until(lambda: by_words(index, "50"))  # without it words serve
        remote.start()
        until(lambda: settles(index, "Sack 50", "memory:50"))
        remote.kill()
        mira.live_days(50)
        service.schedule_follow("mira", 101)
        until(lambda: by_words(index, "100"))
        remote.start()
        until(lambda: settles(index, "Sack 100", "memory:100"))
        until(lambda: settles(index, "Sack 50", "memory:50"))  # what it had, it has still
        until(lambda: index.status().embedded == 100)
        until(lambda: index.problem is None)
    finally:
        service.close(stop_server=True)
        mira.archive.close()
    assert any(remote.address in line for line in said), "people are told what is not there"
