"""What matters stays, in the short-term and in the long-term summary."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.archive.records import Memory, MemoryKind
from keepsake.compaction.importance_cache import ImportanceCache
from keepsake.memory import CompactReason, Rung
from keepsake.summaries.strategy import NARRATIVE
from keepsake.summaries.summarizer import ExtractiveSummarizer
from tests.mind.lives import REPLACE, SLIDING, STRUCTURED, WIDE, Life, fill, talk

COUNT, HIGH, EMERGENCY = CompactReason.COUNT, CompactReason.HIGH, CompactReason.EMERGENCY
MANUAL, AGENT = CompactReason.MANUAL, CompactReason.AGENT
START = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
CONFIG = replace(WIDE, longterm_tokens=200)
CUP = 'Tom says to you, "The cup is yours, keep it."'


def memories(count, source="Tom"):
    return [
        Memory(n, START + timedelta(minutes=n), MemoryKind.PERCEPTION, f"Thing {n}.", source=source)
        for n in range(1, count + 1)
    ]


@pytest.fixture
def scores():
    """What each memory matters, by number; 2 where nothing is said."""
    return {}


@pytest.fixture
def life(tmp_path, scores):
    life = Life(tmp_path / "Mira", CONFIG)
    life.more = {"importance": lambda memory: scores.get(memory.number, 2)}
    return life


# -- judging


def test_each_is_judged_once_and_again_when_asked_to():
    judged: list[int] = []

    def judge(memory):
        judged.append(memory.number)
        return len(judged)

    mine = ImportanceCache(judge)
    lived = memories(3)
    assert [mine.of(m) for m in (lived[0], lived[1], lived[0], lived[0])] == [1, 2, 1, 1]
    mine.judge_anew(lived[1:])
    assert [mine.of(m) for m in lived[1:]] == [3, 4]
    assert mine.of(lived[0]) == 5, "what is not there any more is forgotten"
    assert judged == [1, 2, 2, 3, 1]


def test_no_more_judgements_are_kept_than_allowed():
    asked: list[int] = []
    mine = ImportanceCache(lambda memory: asked.append(memory.number) or 3, most=4)
    for each in memories(9):
        mine.of(each)
    mine.of(memories(9)[-1])
    assert asked == list(range(1, 10))
    mine.of(memories(1)[0])
    assert asked[-1] == 1


@pytest.mark.parametrize(("said", "counts"), [(0, 1), (-4, 1), (11, 10), (7, 7), (True, 1)])
def test_a_judgement_is_from_one_to_ten(said, counts):
    assert ImportanceCache(lambda _: said).of(memories(1)[0]) == counts


def test_rules_that_fail_are_told_once_and_everything_is_routine():
    told: list[str] = []
    mine = ImportanceCache(lambda memory: 1 // 0, told.append)
    assert [mine.of(m) for m in memories(5)] == [1] * 5
    assert len(told) == 1
    assert "counts as routine" in told[0]


# -- in summaries


def test_the_summarizer_is_told_what_each_line_matters(life, memory, scores):
    scores.update({3: 9, 4: 6})
    fill(memory, 0.9)
    memory.compact(HIGH)
    source = life.summarizer.sources[0]
    assert [source.importance(each) for each in source.memories[:5]] == [2, 2, 9, 6, 2]


def plain_and_weighty(life, memory, scores, strategy, cycles):
    """Plain words that matter among lines that tell more, and so many compactions."""
    life.summarizer = ExtractiveSummarizer()
    life.strategy = strategy
    talk(memory, 4)
    memory.append(CUP, source="Tom")
    cup = memory.status().total
    for _ in range(cycles):
        fill(memory, 0.88)
        assert memory.compact(HIGH).number
    return cup


def told(memory):
    context = memory.context()
    return " ".join(each.text for each in (context.longterm, context.recent) if each)


@pytest.mark.parametrize("strategy", [NARRATIVE, STRUCTURED, REPLACE])
def test_plain_words_that_matter_outlive_many_compactions(life, memory, scores, strategy):
    scores[5] = 8
    cup = plain_and_weighty(life, memory, scores, strategy, 3)
    assert cup == 5
    assert "The cup is yours" in told(memory)


def test_after_a_restart_it_is_known_as_before(life, scores, tmp_path):
    scores[5] = 8
    memory = life.open()
    plain_and_weighty(life, memory, scores, life.strategy, 2)
    before = memory.context()
    memory.close()
    memory = life.open()
    assert memory.context() == before
    for _ in range(3):
        fill(memory, 0.88)
        memory.compact(HIGH)
    assert "The cup is yours" in told(memory)
    memory.close()


def test_summaries_made_shorter_again_keep_what_matters(life, memory, scores):
    life.config = replace(CONFIG, longterm_tokens=50)
    scores[5] = 9
    life.summarizer = ExtractiveSummarizer()
    plain_and_weighty(life, memory, scores, life.strategy, 1)
    seen = []
    for _ in range(3):
        fill(memory, 0.88)
        seen += [step.rung for step in memory.compact(HIGH).steps]
    assert Rung.RESUMMARISE in seen
    assert "The cup is yours" in told(memory)


def test_a_sliding_window_shows_what_matters_whole(life, scores):
    life.strategy = SLIDING
    scores[2] = 8
    memory = life.open()
    for place in ("The Mill", "The Ferry"):
        memory.append(f"look {place}", MemoryKind.ACT)
        chairs = " ".join(f"chair{number}" for number in range(40))
        memory.append(f"{place}. There is {chairs}. Exits: north.", MemoryKind.RESULT)
    talk(memory, 60, 6)
    shown = memory.context().shown
    assert "chair39" in shown[1].text
    assert "chair39" not in shown[3].text
    memory.close()
