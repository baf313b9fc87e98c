"""A dream lies in the agent's folder, and no search of any kind ever brings it."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from game.index.agent_index import AgentIndex
from game.mind.books.notes import NoteBook
from game.mind.ports import SystemClock
from game.mind.recall.recall import MemorySearch
from game.mind.sleep.dream import FOLDER, dream
from tests.index.conftest import DAWN, BagOfWords, Life, Opener, by_meaning, by_words
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


def test_the_index_never_reads_a_dream(
    index: AgentIndex, life: Life, embedder: BagOfWords, dreamt: str
):
    index.follow(7)
    assert by_words(index, "zeppelin", "hummed") == []
    assert by_words(index, "heron")[0] == "memory:2"
    assert not any("zeppelin" in text for text in embedder.texts)
    assert by_meaning(index, DREAMT, 1) != []
    assert all(key.startswith(("memory:", "summary:")) for key in by_meaning(index, DREAMT))


def test_an_index_made_anew_does_not_either(
    reopen: Opener, life: Life, embedder: BagOfWords, dreamt: str
):
    index = reopen()
    index.follow(7)
    index.rebuild()
    assert by_words(index, "zeppelin") == []
    assert not any("zeppelin" in text for text in embedder.texts)


def test_recall_brings_what_happened_and_not_what_was_dreamt(
    index: AgentIndex, life: Life, embedder: BagOfWords, dreamt: str
):
    index.follow(7)
    recall = MemorySearch(
        index.words, index.vectors, embedder, names=lambda: ("Tom", "Ada"), clock=SystemClock()
    )
    for question in (DREAMT, "Did the cup fly?", "Who hummed? A zeppelin?", "the dream of Mira"):
        for hit in recall.search(question, limit=50) or ():
            assert "zeppelin" not in hit.document.text
            assert "dream" not in hit.document.text


def test_a_dream_is_no_note(life: Life, dreamt: str):
    book = NoteBook(life.folder / "notes")
    assert book.all() == []
    assert book.changed_since({}).changed == ()
