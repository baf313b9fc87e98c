"""Agents and models write one log."""

from __future__ import annotations

import logging

import pytest

from keepsake.agent import agent_log


@pytest.fixture
def untouched():
    logger = logging.getLogger("keepsake")
    before = list(logger.handlers), logger.level, logger.propagate
    yield
    for handler in logger.handlers:
        handler.close()
    logger.handlers[:], logger.level, logger.propagate = before


@pytest.mark.usefixtures("untouched")
def test_agents_and_models_write_into_one_log(tmp_path):
    path = tmp_path / "logs" / "agents.log"
    agent_log.open_log(path)
    agent_log.open_log(path)
    agent_log.log("[Memory] Mira: Starting compaction")
    logging.getLogger("keepsake.llm").info("[Model] The embedded model answers")
    lines = path.read_text().splitlines()
    assert [line.partition(" [")[2] for line in lines] == [
        "Memory] Mira: Starting compaction",
        "Model] The embedded model answers",
    ]
