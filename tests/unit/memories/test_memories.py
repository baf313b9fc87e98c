"""Memories are found by name, and hold to what any memory must; docs/research.md tests another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.lab.memories.generative_agents import GenerativeAgents
from keepsake.lab.memories.keepsake import KeepsakeMemory
from keepsake.lab.memories.mem0 import Mem0
from keepsake.lab.memories.plain import FullContext
from keepsake.lab.memories.retrieval import Bm25, Hybrid, Rag
from keepsake.memory.protocol import Maker, MemorySystem, RecalledLine, Surroundings, maker
from keepsake.ports import Embedder, FixedClock
from keepsake.prompt.tokens import Heuristic
from tests.fakes.embedder import BagOfWords
from tests.sentences import table

BEGAN = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)
_PEOPLE = ("Ada", "Bram", "Cleo")
_THINGS = ("the blue kettle", "a jar of honey", "the north gate", "a torn map", "her grandfather")
_DEEDS = ("lost", "found", "sold", "painted", "forgot", "remembered", "hid", "asked about")
ODD = (*table("odd texts"), "long " * 2_000)
"""Texts that somebody will say one day."""


def life(length: int, *, who: Sequence[str] = _PEOPLE, start: int = 1) -> list[Memory]:
    """A small life: what people say of things, an hour after the other, numbered from ``start``."""
    return [
        Memory(
            number,
            BEGAN + timedelta(hours=number),
            MemoryKind.PERCEPTION,
            f'{(person := who[number % len(who)])} says, "I {_DEEDS[number % len(_DEEDS)]}'
            f' {_THINGS[number % len(_THINGS)]} on day {number // 24}."',
            place="The Inn",
            source=person,
            source_id=f"{person}-1",
            event="say",
        )
        for number in range(start, start + length)
    ]


class MemoryConformance:
    """The tests; a subclass says what is tested."""

    make: Maker  # the class, or any function from Surroundings to a memory
    embedder: Embedder | None = BagOfWords()  # None to test it with words alone
    long: int = 1500  # memories of the longest life that is lived

    @contextmanager
    def opened(
        self, folder: Path, lived: Sequence[Memory] = (), agent: str = "Mira"
    ) -> Iterator[MemorySystem]:
        folder.mkdir(parents=True, exist_ok=True)
        clock = FixedClock(BEGAN)
        given = Surroundings(agent=agent, folder=folder, clock=clock, embedder=self.embedder)
        memory = self.make(given)
        try:
            assert isinstance(memory, MemorySystem), "a method of MemorySystem is missing"
            for each in lived:
                clock.time = each.time
                memory.perceive(each)
            yield memory
        finally:
            memory.close()

    def test_limit_and_budget_are_kept_in_a_long_life(self, tmp_path: Path) -> None:
        with self.opened(tmp_path / "life", life(self.long)) as memory:
            memory.rest(asleep=True)
            for limit in (1, 3, 100):
                found = _recalled(memory, "Who found the torn map?", limit)
                assert len(found) <= limit, f"{len(found)} lines are more than {limit}"
                for line in found:
                    assert set(line.numbers) <= set(range(1, self.long + 1)), line.numbers
                    assert line.text.strip(), "a recalled line is empty"
            for budget in (0, 40, 400, 3840):
                spent = _cost(memory.context(budget))
                assert spent <= budget, f"the context takes {spent} of {budget} tokens"

    def test_odd_text_is_taken_and_the_same_twice(self, tmp_path: Path) -> None:
        twice = life(2 * len(ODD))
        lived = [replace(each, text=text) for each, text in zip(twice, (*ODD, *ODD), strict=True)]
        with self.opened(tmp_path / "life", [*lived, *life(5, start=len(lived) + 1)]) as memory:
            memory.rest(asleep=True)
            for text in ODD:
                assert len(_recalled(memory, text, 5)) <= 5
            assert _cost(memory.context(1000)) <= 1000

    def test_an_empty_memory_answers_and_rest_may_come_at_any_time(self, tmp_path: Path) -> None:
        with self.opened(tmp_path / "life") as memory:
            assert list(memory.recall("Who lost the kettle?", 5)) == []
            assert _cost(memory.context(500)) <= 500
            for number, asleep in enumerate((True, False, False, True, True), 1):
                memory.rest(asleep=asleep)
                memory.perceive(life(1, start=number)[0])
                memory.rest(asleep=not asleep)
            assert len(_recalled(memory, "Who sold a torn map?", 5)) <= 5
            memory.close()  # and once more as the test ends

    def test_lives_do_not_mix(self, tmp_path: Path) -> None:
        hers, his = life(20, who=("Ada",)), life(20, who=("Zoltan",))
        with (
            self.opened(tmp_path / "one", hers) as one,
            self.opened(tmp_path / "two", his, agent="Oswin") as two,
        ):
            for memory, other in ((one, "Zoltan"), (two, "Ada")):
                shown = [each.text for each in _recalled(memory, "Who lost honey?", 20)]
                told = "\n".join([*shown, *memory.context(2000)])
                assert other not in told, f"{other} belongs to another life"

    def test_the_same_life_gives_the_same(self, tmp_path: Path) -> None:
        found = []
        for name in ("one", "two"):
            with self.opened(tmp_path / name, life(80)) as memory:
                memory.rest(asleep=True)
                recalled = _recalled(memory, "Who asked about the torn map?", 10)
                found.append(([(r.text, r.numbers) for r in recalled], list(memory.context(1000))))
        assert found[0] == found[1], "two runs of one life differ"


def _recalled(memory: MemorySystem, question: str, limit: int) -> list[RecalledLine]:
    found = list(memory.recall(question, limit))
    for line in found:
        assert isinstance(line, RecalledLine), f"{line!r:.60} is no RecalledLine"
    return found


def _cost(lines: Sequence[str]) -> int:
    assert not isinstance(lines, str), "the context is no list of lines"
    return sum(Heuristic().each(list(lines)))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("collections:OrderedDict", "it lacks perceive, context, recall, rest, close"),
        ("collections:More", "name a package.module:Class"),
        ("nowhere_to_be_found:Memory", "pip install -e"),
    ],
)
def test_what_is_no_memory_is_named_before_anything_is_lived(name, told):
    with pytest.raises(KeepsakeError, match=told):
        maker(name)


class TestRivals(MemoryConformance):
    @pytest.fixture(autouse=True, params=[FullContext, Rag, Bm25, Hybrid, GenerativeAgents])
    def _made(self, request: pytest.FixtureRequest) -> None:
        self.make = request.param


class TestKeepsake(MemoryConformance):
    make = staticmethod(KeepsakeMemory)
    long = 400


class TestKeepsakeByWords(MemoryConformance):
    make = staticmethod(KeepsakeMemory)
    embedder = None
    long = 400


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


@pytest.mark.parametrize(
    ("make", "settings", "told"),
    [(Hybrid, {"reranker": "nowhere"}, "model.onnx and"), (Mem0, {}, "--writer")],
)
def test_what_a_memory_lacks_is_told_with_the_cure(tmp_path, make, settings, told):
    given = Surroundings(agent="", folder=tmp_path, clock=FixedClock(BEGAN), settings=settings)
    with pytest.raises(KeepsakeError, match=re.escape(told)):
        make(given)
