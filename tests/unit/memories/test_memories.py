"""Memories are found by name, and hold to what any memory must; docs/research.md tests another."""

from __future__ import annotations

import re

import pytest

from keepsake.archive.privacy import PrivateWords
from keepsake.errors import KeepsakeError
from keepsake.lab.conformance import START, check_memory, lines
from keepsake.lab.memories.generative_agents import GenerativeAgents
from keepsake.lab.memories.keepsake import KeepsakeMemory
from keepsake.lab.memories.mem0 import Mem0
from keepsake.lab.memories.plain import FullContext, SlidingWindow
from keepsake.lab.memories.retrieval import Bm25, Hybrid, Rag
from keepsake.memory.protocol import MemoryArguments, RecalledLine, dated, load_memory_class
from keepsake.ports import FixedClock
from tests.fakes.embedder import BagOfWords
from tests.unit.lab.in_process import keepsake

MEMORIES = (FullContext, SlidingWindow, Rag, Bm25, Hybrid, GenerativeAgents, KeepsakeMemory)


def faults_of(make, embedder=None):
    return [each.fault for each in check_memory(make, embedder) if each.fault]


@pytest.mark.parametrize("embedder", [BagOfWords(), None], ids=["embedder", "words"])
@pytest.mark.parametrize("make", MEMORIES)
def test_each_memory_conforms(make, embedder):
    assert faults_of(make, embedder) == []


class Good:
    """Finds the newest lines; the wrong ones below differ from it in one point."""

    def __init__(self, given):
        self.given, self.lived, self.private = given, {}, PrivateWords()

    def perceive(self, memory):
        self.lived[memory.number] = memory
        self.private.add(memory)

    def heard(self):
        audience = self.given.audience()
        return [m for n, m in self.lived.items() if self.private.may_hear([n], audience)]

    def context(self, budget):
        return []

    def recall(self, question, limit):
        return [RecalledLine(dated(m), (m.number,)) for m in self.heard()[::-1]][:limit]

    def rest(self, *, asleep): ...

    def close(self): ...


def with_lines(change):
    """A memory whose recalled lines are changed."""

    class Changed(Good):
        def recall(self, question, limit):
            return change(list(super().recall(question, limit)))

    return Changed


def each_as(change):
    """A memory each of whose recalled lines is made of other arguments."""
    return with_lines(lambda lines: [RecalledLine(*change(each)) for each in lines])


class Blabs(Good):
    def heard(self):
        return list(self.lived.values())


class KeepsQuestions(Good):
    asked = ""

    def recall(self, question, limit):
        self.asked, before = question, self.asked
        return [RecalledLine(before)][: bool(before)]


class Overspends(Good):
    def context(self, budget):
        return [dated(each) for each in self.heard()]


class Breaks(Good):
    def rest(self, *, asleep):
        raise ZeroDivisionError("tired")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (with_lines(lambda lines: [*lines, RecalledLine("more")]), "the limit is 1"),
        (each_as(lambda e: (e.text, (e.numbers[0] + 1,))), "are still to come"),
        (each_as(lambda e: (e.text, (1,))), "names memories [1]"),
        (each_as(lambda e: (e.text,)), "names memories []"),
        (each_as(lambda e: (e.text, e.numbers * 2)), "one is repeated"),
        (with_lines(lambda lines: lines[:1] * len(lines)), "the same line twice"),
        (each_as(lambda _: (" ",)), "is empty"),
        (Blabs, "a whisper of Ada-1"),
        (KeepsQuestions, "a whisper of Ada-1"),
        (Overspends, "tokens; the budget is 0"),
        (Breaks, "ZeroDivisionError('tired')"),
    ],
)
def test_what_a_memory_does_wrong_is_told(make, told):
    assert faults_of(Good) == []
    assert any(told in fault for fault in faults_of(make)), faults_of(make)


def test_the_check_is_a_command_and_its_exit_code_says_whether_a_memory_conforms():
    ran = keepsake({}, "eval", "--check", f"{__name__}:Good", "--embedder", "none")
    assert (ran.returncode, ran.stdout.count("✓")) == (0, 6)
    ran = keepsake({}, "eval", "--check", f"{__name__}:Blabs", "--embedder", "none")
    assert ran.returncode == 1
    assert "✗ whispers are hidden from others: a whisper of Ada-1 is shown" in ran.stdout
    ran = keepsake({}, "eval", "--check", "rag", "--embedder", "none")
    assert (ran.returncode, ran.stdout.count("–")) == (0, 1)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("collections:OrderedDict", "it does not have perceive, context, recall, rest, close"),
        ("collections:More", "name a package.module:Class"),
        ("nowhere_to_be_found:Memory", "pip install -e"),
    ],
)
def test_what_is_no_memory_is_named_before_anything_is_lived(name, told):
    with pytest.raises(KeepsakeError, match=told):
        load_memory_class(name)


def test_what_left_the_window_stands_in_summaries_and_rules_stay(tmp_path):
    rule = "- rule from Ada: Never open the cellar door. (memory 1)\n"
    (tmp_path / "noticed.md").write_text(rule)
    memory = KeepsakeMemory(MemoryArguments(agent="Mira", folder=tmp_path, clock=FixedClock(START)))
    for each in lines(300):
        memory.perceive(each)
    memory.rest(asleep=True)
    shown = "\n".join(memory.context(3840))
    assert "Ada told you: Never open the cellar door. (memory 1)" in shown
    assert list((tmp_path / "summaries").iterdir())
    memory.close()


@pytest.mark.parametrize(
    ("make", "settings", "told"),
    [
        (Hybrid, {"reranker": "nowhere"}, "model.onnx and"),
        (Mem0, {}, "--writer"),
        (KeepsakeMemory, {"boost": "1"}, "no setting boost. It has immediate_window"),
    ],
)
def test_what_a_memory_lacks_is_told_with_the_cure(tmp_path, make, settings, told):
    given = MemoryArguments(agent="", folder=tmp_path, clock=FixedClock(START), settings=settings)
    with pytest.raises(KeepsakeError, match=re.escape(told)):
        make(given)
