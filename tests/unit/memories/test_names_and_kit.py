"""Memories are found by name, and hold to what any memory must."""

from __future__ import annotations

import pytest

from keepsake.errors import KeepsakeError
from keepsake.lab.memories.generative_agents import GenerativeAgents
from keepsake.lab.memories.keepsake import KeepsakeMemory
from keepsake.lab.memories.plain import FullContext, Rag
from keepsake.memory.protocol import RecalledLine, Surroundings, maker
from keepsake.ports import FixedClock
from tests.unit.memories.conformance import BEGAN, MemoryConformance, life

LESS = """
class Less:
    def perceive(self, memory): ...
    def context(self, budget): return []
"""


def test_what_is_no_memory_is_named_before_anything_is_lived(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "lacking_memory.py").write_text(LESS)
    for name, told in (
        ("lacking_memory:Less", "it lacks recall, rest, close"),
        ("lacking_memory:More", "Name a class of lacking_memory"),
        ("nowhere_to_be_found:Memory", "pip install -e"),
    ):
        with pytest.raises(KeepsakeError) as refused:
            maker(name)
        assert told in str(refused.value)


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
    ("wrong", "test", "told"),
    [
        (
            *(_Invents, "test_the_limit_is_kept_and_what_is_recalled_was_perceived"),
            "lines are more than 1",
        ),
        (_Overfull, "test_the_budget_is_kept_in_a_long_life", "of 0 tokens"),
    ],
)
def test_a_memory_that_does_not_conform_is_told_so(wrong, test, told, tmp_path):
    kit = type("Kit", (MemoryConformance,), {"make": staticmethod(wrong)})()
    with pytest.raises(AssertionError, match=told):
        getattr(kit, test)(tmp_path)


def test_what_left_the_window_stands_in_summaries_and_rules_stay(tmp_path):
    rule = "- rule from Ada: Never open the cellar door. (memory 1)\n"
    (tmp_path / "noticed.md").write_text(rule)
    memory = KeepsakeMemory(Surroundings(agent="Mira", folder=tmp_path, clock=FixedClock(BEGAN)))
    for each in life(300):
        memory.perceive(each)
    memory.rest(asleep=True)
    shown = "\n".join(memory.context(3840))
    assert "Ada told you: Never open the cellar door. (memory 1)" in shown
    assert list((tmp_path / "summaries").iterdir())
    memory.close()
