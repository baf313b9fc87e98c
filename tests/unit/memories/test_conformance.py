"""The shipped memories hold to what any memory must; and the kit finds one that does not."""

import pytest

from keepsake.lab.memories.conformance import MemoryConformance, check
from keepsake.lab.memories.generative_agents import GenerativeAgents
from keepsake.lab.memories.keepsake import KeepsakeMemory
from keepsake.lab.memories.plain import FullContext, Rag
from keepsake.memory.protocol import RecalledLine


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
