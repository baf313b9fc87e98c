"""What `keepsake doctor` says of the index: the checks over a real service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from game.cli.checks import index as checks_index
from game.cli.checks.finding import Finding
from game.cli.world import client
from keepsake.errors import KeepsakeError
from keepsake.index.service import IndexService
from keepsake.models.clients.minilm import MiniLMEmbedder
from keepsake.paths import Places
from keepsake.recall.config import RecallConfig
from tests.llm.conftest import places_in


@pytest.fixture
def here(tmp_path: Path) -> Places:
    here = places_in(tmp_path / "copy")
    here.config.mkdir(parents=True, exist_ok=True)
    return here


@pytest.fixture
def world(here: Places, monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexService]:
    """A service that answers as the world does, without the socket between."""
    service = IndexService(here, RecallConfig(), MiniLMEmbedder(), print)

    def ask(_here: Places, operation: str, **_arguments: Any) -> Any:
        assert operation == "index_status"
        return service.answer_status({})

    monkeypatch.setattr(client, "ask", ask)
    yield service
    service.close(stop_server=True)


def found(here: Places) -> list[Finding]:
    return list(checks_index.embedding(here))


def write(here: Places, *lines: str) -> None:
    (here.config / "llm.md").write_text("\n".join(["## embedder", "", *lines, ""]))


def test_an_embedder_that_was_changed_since_the_start_is_named(here: Places, world: IndexService):
    write(here, "**provider**: ollama", "**model**: nomic-embed-text")
    (finding,) = found(here)
    assert not finding.well
    assert "nomic-embed-text" in finding.what
    assert MiniLMEmbedder().model_name in finding.what
    assert "keepsake reload" in finding.cure


def test_the_embedder_that_is_in_use_is_well(here: Places, world: IndexService):
    write(here, "**provider**: embedded")
    (finding,) = found(here)
    assert finding.well
    (here.config / "llm.md").unlink()
    assert [each.well for each in found(here)] == [True], "the default is in use as well"


def test_a_file_that_cannot_be_read_is_told_elsewhere(here: Places, world: IndexService):
    write(here, "**provider**: magic")
    assert found(here) == []


def test_without_a_world_there_is_nothing_to_compare(here: Places):
    with pytest.raises(KeepsakeError):
        client.ask(here, "index_status")
    assert found(here) == []
