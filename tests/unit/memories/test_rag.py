"""Plain RAG finds the nearest line, by cosine or by BM25."""

import pytest

from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError, ModelUnavailable
from keepsake.lab.memories.conformance import BEGAN, WordHashes, life
from keepsake.lab.memories.plain import Rag
from keepsake.memory.protocol import Surroundings
from keepsake.ports import FixedClock


class CountingEmbedder(WordHashes):
    """Notes how many texts it was given at a time."""

    def __init__(self):
        self.batches = []
        self.up = True

    def embed(self, texts):
        if not self.up:
            raise ModelUnavailable("nobody answers", "Start it")
        self.batches.append(len(texts))
        return super().embed(texts)


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


def test_what_could_not_be_embedded_waits(tmp_path):
    embedder = CountingEmbedder()
    memory = made(tmp_path, planted(), embedder)
    embedder.up = False
    with pytest.raises(ModelUnavailable):
        memory.rest(asleep=True)
    assert memory.state()["waiting"] == 50
    embedder.up = True
    assert memory.recall("dog Pepper", 1)[0].numbers == (20,)
    assert memory.state()["waiting"] == 0


def test_the_newest_lines_stand_in_every_prompt(tmp_path):
    memory = made(tmp_path, life(50), window="3")
    assert len(memory.context(3840)) == 3
    assert made(tmp_path, life(50), window="0").context(3840) == []
    with pytest.raises(KeepsakeError, match="Did you mean window"):
        made(tmp_path, [], windows="3")
