"""Plain RAG finds the nearest line, by cosine or by BM25."""

import pytest

from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.lab.memories.conformance import BEGAN, WordHashes, life
from keepsake.lab.memories.plain import Rag
from keepsake.memory.protocol import Surroundings
from keepsake.ports import FixedClock


def made(folder, lived, embedder=None, **settings):
    clock = FixedClock(BEGAN)
    given = Surroundings(
        agent="Mira", folder=folder, clock=clock, embedder=embedder, settings=settings
    )
    memory = Rag(given)
    for each in lived:
        memory.perceive(each)
    return memory


def planted(length=50, place=20):
    lived = life(length)
    old = lived[place - 1]
    text = 'Cleo says, "My dog Pepper sleeps under the bakery stairs."'
    lived[place - 1] = Memory(place, old.time, MemoryKind.PERCEPTION, text, source="Cleo")
    return lived


@pytest.mark.parametrize("embedder", [WordHashes(), None], ids=["meaning", "words"])
def test_it_finds_a_line_of_long_ago(tmp_path, embedder):
    memory = made(tmp_path, planted(), embedder)
    best = memory.recall("Where does Cleo's dog Pepper sleeps under the stairs?", 3)[0]
    assert best.numbers == (20,)
    assert best.text.startswith("2 May 2026, Cleo says")


def test_the_newest_lines_stand_in_every_prompt(tmp_path):
    memory = made(tmp_path, life(50), window="3")
    assert len(memory.context(3840)) == 3
    assert made(tmp_path, life(50), window="0").context(3840) == []
    with pytest.raises(KeepsakeError, match="Did you mean window"):
        made(tmp_path, [], windows="3")
