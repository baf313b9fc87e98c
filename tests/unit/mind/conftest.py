from __future__ import annotations

import pytest

from tests.unit.mind.fake_agent import FakeAgent


@pytest.fixture
def agent(tmp_path):
    return FakeAgent(tmp_path / "Mira")


@pytest.fixture
def memory(agent):
    memory = agent.open()
    yield memory
    memory.close()
