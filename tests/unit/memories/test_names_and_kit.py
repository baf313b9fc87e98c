"""Memories are found by name, and hold to what any memory must."""

from __future__ import annotations

import pytest

from keepsake.errors import KeepsakeError
from keepsake.lab.memories.conformance import MemoryConformance, check
from keepsake.lab.memories.generative_agents import GenerativeAgents
from keepsake.lab.memories.keepsake import KeepsakeMemory
from keepsake.lab.memories.plain import FullContext, Rag
from keepsake.memory.protocol import RecalledLine, maker

WHOLE = """
class Whole:
    def __init__(self, given): ...
    def perceive(self, memory): ...
    def context(self, budget): return []
    def recall(self, question, limit): return []
    def rest(self, *, asleep): ...
    def close(self): ...
"""
LESS = """
class Less:
    def perceive(self, memory): ...
    def context(self, budget): return []
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module that can be imported; each has a name of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        return name

    return write


def test_what_is_no_memory_is_named_before_anything_is_lived(module):
    lacking, misnamed = module("lacking_memory", LESS), module("misnamed_memory", WHOLE)
    for name, told in (
        (f"{lacking}:Less", "it lacks recall, rest, close"),
        (f"{misnamed}:Hole", "Name a class of misnamed_memory"),
        ("nowhere_to_be_found:Memory", "pip install -e"),
    ):
        with pytest.raises(KeepsakeError) as refused:
            maker(name)
        assert told in str(refused.value)
    assert maker(f"{misnamed}:Whole")


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
