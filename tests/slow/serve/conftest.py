"""A real service on a free port, with a model server over the real protocol."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from keepsake.serve.house import make_agent
from keepsake.serve.tokens import Right, ServiceTokens
from tests.fakes.model_server import FakeModelServer
from tests.free_ports import free_base
from tests.unit.llm.conftest import until

ALL = list(Right)


def environ() -> dict[str, str]:
    """Return an environment in which Python keeps byte code: a service loads a thousand modules."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


@dataclass
class Service:
    """A service in a process of its own.

    Attributes:
        options: Further options of the command.
    """

    folder: Path
    model: FakeModelServer
    options: list[str] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None
    port: int = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.port = self.port or free_base()
        given = ["--port", str(self.port), "--model", f"openai:fake@{self.model.address}"]
        command = [sys.executable, "-m", "keepsake", "serve", str(self.folder), *given]
        with (self.folder.parent / "serve.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, *self.options], stdout=log, stderr=log, env=environ()
            )
        until(self.answers)

    def answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.folder.parent / "serve.log").read_text()
        try:
            return httpx.get(f"{self.address}/health").status_code == 200
        except httpx.TransportError:
            return False

    def stop(self, how: int = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(how)
        return self.process.wait(60)

    def token(self, *agents: str, rights: list[Right] = ALL) -> str:
        return ServiceTokens(self.folder).add(agents or ("mira",), rights)

    def client(self, *agents: str, rights: list[Right] = ALL) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token(*agents, rights=rights)}"}
        return httpx.Client(base_url=f"{self.address}/agents", headers=headers, timeout=60)


@pytest.fixture
def model() -> Iterator[FakeModelServer]:
    with FakeModelServer(script=lambda _: "Good day to you.") as running:
        yield running


@pytest.fixture
def services(tmp_path: Path, model: FakeModelServer) -> Iterator[Callable[..., Service]]:
    """Start a service with the agents mira and bram; what still runs at the end is stopped."""
    started: list[Service] = []

    def start(**given: Any) -> Service:
        folder = tmp_path / "memories"
        if not folder.exists():
            make_agent(folder, "mira", "You are Mira, who keeps the inn.")
            make_agent(folder, "bram", "You are Bram, who bakes.")
        started.append(Service(folder, model, **given))
        started[-1].start()
        return started[-1]

    yield start
    for each in started:
        if each.process is not None and each.process.poll() is None:
            each.stop(signal.SIGKILL)


@pytest.fixture
def service(services: Callable[..., Service]) -> Service:
    return services()
