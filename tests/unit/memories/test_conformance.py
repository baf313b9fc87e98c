"""The shipped memories hold to what any memory must; and the kit finds one that does not."""

from dataclasses import replace

import pytest

from keepsake.lab.memories.conformance import BEGAN, MemoryConformance, WordHashes, check, life
from keepsake.lab.memories.generative_agents import GenerativeAgents
from keepsake.lab.memories.keepsake import KeepsakeMemory
from keepsake.lab.memories.plain import FullContext, Rag
from keepsake.memory.protocol import RecalledLine, Surroundings
from keepsake.ports import FixedClock


class TestFullContext(MemoryConformance):
    make = staticmethod(FullContext)


class TestRag(MemoryConformance):
    make = staticmethod(Rag)


class TestGenerativeAgents(MemoryConformance):
    make = staticmethod(GenerativeAgents)


class TestKeepsake(MemoryConformance):
    make = staticmethod(KeepsakeMemory)
    long = 400


class TestKeepsakeByWords(MemoryConformance):
    make = staticmethod(KeepsakeMemory)
    embedder = None
    long = 400


class _Invents(FullContext):
    """Names memories that there never were, more of them than it may."""

    def recall(self, question, limit):
        return [RecalledLine("something", (n,)) for n in range(limit + 999)]


class _Overfull(FullContext):
    """Shows all there is, whatever may be shown."""

    def context(self, budget):
        return list(self._lines.values())


@pytest.mark.parametrize(
    ("wrong", "told"),
    [(_Invents, "the limit is kept"), (_Overfull, "the budget is kept")],
)
def test_a_memory_that_does_not_conform_is_told_so(wrong, told):
    assert any(told in line for line in check(wrong))


@pytest.mark.parametrize("embedder", [WordHashes(), None], ids=["meaning", "words"])
def test_plain_retrieval_finds_a_line_of_long_ago(tmp_path, embedder):
    given = Surroundings(
        agent="Mira",
        folder=tmp_path,
        clock=FixedClock(BEGAN),
        embedder=embedder,
        settings={"window": "3"},
    )
    memory, text = Rag(given), 'Cleo says, "My dog Pepper sleeps under the bakery stairs."'
    for each in life(50):
        memory.perceive(replace(each, text=text) if each.number == 20 else each)
    best = memory.recall("Where does Cleo's dog Pepper sleeps under the stairs?", 3)[0]
    assert best.numbers == (20,)
    assert len(memory.context(3840)) == 3
