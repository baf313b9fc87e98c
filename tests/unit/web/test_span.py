"""When the memories of an agent begin and end, by the ends of its archive alone."""

from __future__ import annotations

import pytest

from keepsake.tracing.past import Past
from keepsake.web.pasts.archives import span_of
from tests.unit.made_archives import Village


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, "Mira/archive")


def test_it_is_that_of_all_memories(village):
    for n in range(9):
        village.said("Bob", f"Wave {n}.", "Mira/archive")
    village.compact("Mira/archive", "There were waves.")
    past = Past(village.folder / "Mira" / "archive")
    past.read_on()
    assert span_of(village.folder / "Mira") == past.span


def test_it_begins_with_the_first_memory_that_there_is(village):
    for n in range(3):
        village.said("Bob", f"Wave {n}.", "Mira/archive")
    (segment,) = (village.folder / "Mira" / "archive").glob("*.jsonl")
    first, *others = segment.read_text().splitlines(keepends=True)
    segment.write_text("".join(others))
    begins, ends = span_of(village.folder / "Mira")
    assert ends - begins == 60  # from the second wave to the third
    assert "Wave 0" in first


def test_without_a_memory_there_is_none(village):
    assert span_of(village.folder / "Mira") is None


def test_the_whole_archive_is_not_read(village, monkeypatch):
    village.said("Bob", "Good evening.", "Mira/archive")
    read = []
    monkeypatch.setattr(Past, "read_on", read.append)
    assert span_of(village.folder / "Mira") is not None
    assert read == []
