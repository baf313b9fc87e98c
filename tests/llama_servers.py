"""Real llama.cpp servers with the shipped model, several beside each other."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.free_ports import free_port


@dataclass
class LlamaServer:
    """One process of ``keepsake.models.embedded.server``, which nothing starts again."""

    process: subprocess.Popen[bytes]
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answers(self) -> bool:
        """Whether it has loaded its model; fails when the process has ended."""
        assert self.process.poll() is None, "the server has ended; its log is beside the pid file"
        try:
            return httpx.get(f"{self.address}/health", trust_env=False).is_success
        except httpx.HTTPError:
            return False

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()


@contextmanager
def llama_servers(
    folder: Path, weights: Path, number: int, **options: object
) -> Iterator[list[LlamaServer]]:
    """So many servers that answer; ``options`` are those of the program, such as ``slots=2``."""
    servers = [_started(folder, weights, options) for _ in range(number)]
    try:
        deadline = time.monotonic() + 300
        for each in servers:
            while not each.answers():
                assert time.monotonic() < deadline, "it did not come up"
                time.sleep(0.05)
        yield servers
    finally:
        for each in servers:
            each.kill()


def _started(folder: Path, weights: Path, options: dict[str, object]) -> LlamaServer:
    port = free_port()
    words = [sys.executable, "-m", "keepsake.models.embedded.server", "--swa-full"]
    given = options | {
        "nice": 0,
        "port": port,
        "model": weights,
        "pid-file": folder / f"llama-{port}.pid",
        "watch-pid": os.getpid(),
    }
    for name, value in given.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    with (folder / f"llama-{port}.log").open("wb") as log:
        return LlamaServer(subprocess.Popen(words, stdout=log, stderr=log), port)
