"""A dream lies in the agent's folder, and no search of any kind ever brings it."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from keepsake.index.agent_index import AgentIndex
from keepsake.ports import SystemClock
from keepsake.recall.recall import MemorySearch
from keepsake.sleep.dream import FOLDER, dream
from tests.index.conftest import DAWN, BagOfWords, Life, by_meaning, by_words
from tests.mind.sleepers import Free, Script

LIVED = (
    "Tom says, “The blue cup lies below the boathouse.”",
    "Ada says, “A heron stole my net this morning.”",
)
DREAMT = "I saw the blue cup fly, and the heron stole it; a zeppelin hummed below the boathouse."
"""Holds words that stand in no memory: whatever finds them has found the dream."""


@pytest.fixture
def dreamt(life: Life) -> str:
    """A life that has left the window, dreamt of afterwards; the dream's text."""
    life.live(*LIVED)
    life.live_days(4)
    life.compact(1, 6, "Tom told of a cup, Ada of her net.")
    memories = list(life.archive.read(1, 2))
    script = Script(lambda _: DREAMT)
    night = DAWN + timedelta(hours=20)
    figures = dream(memories, "Mira", Free(script), random.Random(1), life.folder, night)
    assert figures["written by"] == "a model"
    text = (life.folder / FOLDER / str(figures["file"])).read_text()
    assert "zeppelin" in text
    return text


def test_no_search_of_any_kind_brings_a_dream(
    index: AgentIndex, life: Life, embedder: BagOfWords, dreamt: str
):
    index.follow(7)
    for made_anew in (False, True):
        if made_anew:
            index.rebuild()
        assert by_words(index, "zeppelin", "hummed") == []
        assert by_words(index, "heron")[0] == "memory:2"
        assert not any("zeppelin" in text for text in embedder.texts)
        found = by_meaning(index, DREAMT)
        assert found
        assert all(key.startswith(("memory:", "summary:")) for key in found)
    recall = MemorySearch(
        index.words, index.vectors, embedder, names=lambda: ("Tom", "Ada"), clock=SystemClock()
    )
    for question in (DREAMT, "Did the cup fly?", "Who hummed? A zeppelin?", "the dream of Mira"):
        for hit in recall.search(question, limit=50) or ():
            assert "zeppelin" not in hit.document.text
            assert "dream" not in hit.document.text
    assert life.notes.all() == []
    assert life.notes.changed_since({}).changed == ()
