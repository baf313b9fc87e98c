"""A client for each of the two APIs, with short pauses."""

from __future__ import annotations

import pytest

from keepsake.models import retries
from tests.fakes.model_server import FakeModelServer
from tests.unit.llm.clients.asking import (
    Model,
    client_of,
)


@pytest.fixture(params=["ollama", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "FIRST_PAUSE", 0.01)


@pytest.fixture
def model(provider: str, fake: FakeModelServer) -> Model:
    fake.capabilities = ["completion", "tools"]
    return client_of(fake.address, provider, time_limit=20)
