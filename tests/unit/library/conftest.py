"""A memory in a folder of its own, and a model server over the real protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keepsake import Memory
from tests.fakes.model_server import FakeModelServer

CHAT = "/v1/chat/completions"
PERSONA = "You are Mira, who keeps the inn."


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    with FakeModelServer(script=lambda _: "Good day to you.") as running:
        yield running


@pytest.fixture
def opened(tmp_path: Path, server: FakeModelServer) -> Iterator[Callable[..., Memory]]:
    """Open the memory in ``tmp_path/mira``; what is still open at the end is closed."""
    memories: list[Memory] = []

    def open_memory(**options: Any) -> Memory:
        given = {"persona": PERSONA, "model": f"openai:fake@{server.address}"} | options
        memories.append(Memory(tmp_path / "mira", **given))
        return memories[-1]

    yield open_memory
    for memory in memories:
        memory.close()
