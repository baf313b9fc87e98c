from __future__ import annotations

import pytest

from tests.unit.mind.lives import Life


@pytest.fixture
def life(tmp_path):
    return Life(tmp_path / "Mira")


@pytest.fixture
def memory(life):
    memory = life.open()
    yield memory
    memory.close()
