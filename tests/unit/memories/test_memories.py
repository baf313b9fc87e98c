"""The conformance check of memory classes, and how they are loaded by name (docs/research.md)."""

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


class ConformingMemory:
    """Finds the newest lines. Each class below differs from it in one fault."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.memories = {}
        self.private = PrivateWords()

    def perceive(self, memory):
        self.memories[memory.number] = memory
        self.private.add(memory)

    def audible(self):
        audience = self.arguments.audience()
        return [m for n, m in self.memories.items() if self.private.may_hear([n], audience)]

    def context(self, budget):
        return []

    def recall(self, question, limit):
        return [RecalledLine(dated(m), (m.number,)) for m in self.audible()[::-1]][:limit]

    def rest(self, *, asleep): ...

    def close(self): ...


def with_lines(change):
    """Return a memory class whose recalled lines are changed."""

    class Changed(ConformingMemory):
        def recall(self, question, limit):
            return change(list(super().recall(question, limit)))

    return Changed


def each_as(change):
    """Return a memory class that makes each recalled line from other arguments."""
    return with_lines(lambda lines: [RecalledLine(*change(each)) for each in lines])


class LeaksWhispers(ConformingMemory):
    def audible(self):
        return list(self.memories.values())


class RecallsQuestions(ConformingMemory):
    asked = ""

    def recall(self, question, limit):
        self.asked, before = question, self.asked
        return [RecalledLine(before)][: bool(before)]


class ExceedsBudget(ConformingMemory):
    def context(self, budget):
        return [dated(each) for each in self.audible()]


class RaisesErrors(ConformingMemory):
    def rest(self, *, asleep):
        raise ZeroDivisionError("tired")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (with_lines(lambda lines: [*lines, RecalledLine("more")]), "the limit is 1"),
        (each_as(lambda e: (e.text, (e.numbers[0] + 1,))), "are still to come"),
        (each_as(lambda e: (e.text, (1,))), "names memories [1]"),
        (each_as(lambda e: (e.text,)), "names memories []"),
        (each_as(lambda e: (e.text, e.numbers * 2)), "one is repeated"),
        (with_lines(lambda lines: lines[:1] * len(lines)), "the same line twice"),
        (each_as(lambda _: (" ",)), "is empty"),
        (LeaksWhispers, "a whisper of Ada-1"),
        (RecallsQuestions, "a whisper of Ada-1"),
        (ExceedsBudget, "tokens; the budget is 0"),
        (RaisesErrors, "ZeroDivisionError('tired')"),
    ],
)
def test_each_fault_is_reported(make, message):
    assert faults_of(ConformingMemory) == []
    assert any(message in fault for fault in faults_of(make)), faults_of(make)


def test_the_exit_code_of_the_check_says_whether_a_memory_conforms():
    ran = keepsake({}, "eval", "--check", f"{__name__}:ConformingMemory", "--embedder", "none")
    assert (ran.returncode, ran.stdout.count("✓")) == (0, 6)
    ran = keepsake({}, "eval", "--check", f"{__name__}:LeaksWhispers", "--embedder", "none")
    assert ran.returncode == 1
    assert "✗ whispers are hidden from others: a whisper of Ada-1 is shown" in ran.stdout
    ran = keepsake({}, "eval", "--check", "rag", "--embedder", "none")
    assert (ran.returncode, ran.stdout.count("–")) == (0, 1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("collections:OrderedDict", "it does not have perceive, context, recall, rest, close"),
        ("collections:More", "name a package.module:Class"),
        ("nowhere_to_be_found:Memory", "pip install -e"),
    ],
)
def test_a_class_that_is_no_memory_is_refused_when_loaded(name, message):
    with pytest.raises(KeepsakeError, match=message):
        load_memory_class(name)


def test_old_memories_are_summarised_and_rules_stay(tmp_path):
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
    ("make", "settings", "message"),
    [
        (Hybrid, {"reranker": "nowhere"}, "model.onnx and"),
        (Mem0, {}, "--writer"),
        (KeepsakeMemory, {"boost": "1"}, "no setting boost. It has immediate_window"),
    ],
)
def test_missing_requirements_are_reported_with_the_cure(tmp_path, make, settings, message):
    given = MemoryArguments(agent="", folder=tmp_path, clock=FixedClock(START), settings=settings)
    with pytest.raises(KeepsakeError, match=re.escape(message)):
        make(given)
