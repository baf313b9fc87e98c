"""The rungs: gentle first, checked, and what is going on is left alone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from game.mind.archive import history
from game.mind.archive.integrity import check
from game.mind.archive.records import MemoryKind, Summary, Tier
from game.mind.compaction import truncation
from game.mind.compaction.config import CompactionConfig
from game.mind.errors import CompactionError, SummaryRefused
from game.mind.memory import CompactReason, Outcome, Rung
from game.mind.summaries.roundtrip import answered
from game.mind.summaries.summarizer import Draft
from tests.mind.lives import (
    REPLACE,
    SLIDING,
    STRUCTURED,
    Life,
    ManualClock,
    WordTokens,
    covered,
    live,
    spread,
    talk,
)

COUNT, HIGH, EMERGENCY = CompactReason.COUNT, CompactReason.HIGH, CompactReason.EMERGENCY
MANUAL = CompactReason.MANUAL
CONFIG = CompactionConfig(
    immediate_window=500,
    recent_window=500,
    context_tokens=1100,
    reserve_tokens=100,
    min_saving_tokens=50,
    preserve_memories=5,
    preserve_share=0.1,
    longterm_tokens=120,
)
RULE = "Ann told you: never open the cellar door (memory 2)"


@pytest.fixture
def life(tmp_path):
    return Life(tmp_path / "Mira", CONFIG)


@pytest.fixture
def memory(life):
    memory = life.open()
    yield memory
    memory.close()


def fill(memory, share, words=20):
    while memory.load().share < share:
        talk(memory, 1, words)


def rungs(result):
    return [step.rung for step in result.steps]


def compaction_line(memory):
    return next(r for r in memory.archive.backwards() if r["type"] == "compaction")


# -- mask


def test_old_results_cost_little_before_anything_is_summarised(life, memory):
    life.config = replace(CONFIG, preserve_share=0.01)
    for number in range(12):
        spread(memory, f"Room{number}", 40)
    talk(memory, 24, 6)
    masked = memory.load().window
    life.config = replace(life.config, mask=False)
    assert masked < memory.load().window / 2
    assert memory.context().masked is None
    assert "chair39" in memory.context().shown[1].text


def test_the_summarizer_reads_what_is_masked(life, memory):
    for _ in range(6):
        spread(memory, "The Mill", 60)
    talk(memory, 30)
    memory.compact(HIGH)
    read = "\n".join(life.summarizer.sources[0].lines)
    assert "look The Mill" in read
    assert read.count("chair59") <= 1
    assert "(memory 2)" in read


def test_each_memory_keeps_its_number_for_the_summarizer(life, memory):
    fill(memory, 0.9)
    memory.compact(HIGH)
    source = life.summarizer.sources[0]
    assert len(source.numbers) == len(source.lines)
    assert source.numbers[:3] == (1, 2, 3)


# -- summarise


def test_what_is_going_on_stays_word_for_word(life, memory):
    fill(memory, 0.75)
    memory.append('Tom says to you, "Mira, where is the key of the mill?"', source="Tom")
    question = memory.status().total
    for number in range(9):
        memory.append(f"A cart with {number} sacks rolls by, slowly and on one creaking wheel.")
    life.config = replace(CONFIG, preserve_memories=2, preserve_share=0.01, low=0.1)
    memory.compact(HIGH)
    assert memory.context().window[0].number == question


def test_the_newest_stay_however_low_the_mark_is(life, memory):
    life.config = replace(CONFIG, low=0.05, preserve_memories=20)
    fill(memory, 0.9)
    memory.compact(HIGH)
    assert len(memory.context().window) == 20


def test_the_newest_stay_up_to_their_share_of_the_budget(life, memory):
    life.config = replace(CONFIG, low=0.05, preserve_memories=2, preserve_share=0.3)
    fill(memory, 0.9)
    memory.compact(HIGH)
    assert len(memory.context().window) == 300 // 21


def test_more_than_fits_does_not_stay_and_the_log_says_so(life, memory):
    life.config = replace(CONFIG, preserve_memories=20)
    talk(memory, 20, 150)
    assert memory.before_thought() is EMERGENCY
    memory.compact(EMERGENCY)
    assert memory.load().used <= memory.load().budget
    assert 1 <= len(memory.context().window) < 7
    assert any("do not fit into the budget" in line for line in life.log)


def test_one_memory_that_is_larger_than_the_budget_stops_nothing(life, memory):
    life.config = replace(CONFIG, context_tokens=200)
    talk(memory, 3, 5)
    memory.append(" ".join(f"word{n}" for n in range(4000)))
    assert memory.before_thought() is EMERGENCY
    memory.compact(EMERGENCY)
    assert memory.load().used <= memory.load().budget
    assert covered(memory.context()) == [1, 2, 3, 4]


# -- summaries of summaries


def test_a_long_term_summary_that_outgrows_its_limit_is_summarised_again(life, memory):
    plain = life.summarizer.summarize

    def wordy(source):
        if source.tier is Tier.LONGTERM and not source.limit_tokens:
            return Draft(
                ". ".join(" ".join(source.lines).split(".")[:9]) + " " + plain(source).text,
                "scripted",
            )
        return plain(source)

    life.config = replace(CONFIG, longterm_tokens=30)
    life.summarizer.summarize = wordy
    for _ in range(3):
        fill(memory, 0.9)
        result = memory.compact(HIGH)
    assert Rung.RESUMMARISE in rungs(result)
    assert memory.load().summaries <= 30 + 100
    again = [s for s in life.summarizer.sources if s.limit_tokens == 30]
    assert again
    assert all(s.tier is Tier.LONGTERM and len(s.lines) == 1 for s in again)
    earlier = history.compactions(memory.archive)[-1].earlier["longterm"]
    bodies = [path.read_text() for path in memory.summaries.stamped(Tier.LONGTERM)]
    assert any(earlier in body for body in bodies), "the longer version stays in the vault"


def test_the_earlier_long_term_summaries_stay_in_the_vault(life, memory):
    texts = []
    for _ in range(4):
        fill(memory, 0.9)
        memory.compact(HIGH)
        life.clock.advance(60)
        texts.append(memory.context().longterm)
    kept = [path.read_text() for path in memory.summaries.stamped(Tier.LONGTERM)]
    assert all(any(t.text in body for body in kept) for t in texts if t)


# -- truncate


def test_cutting_is_the_last_rung_and_says_how_to_bring_it_back(life, memory):
    for _ in range(3):
        fill(memory, 0.9)
        memory.compact(HIGH)
    memory.weigh(930)
    result = memory.compact(EMERGENCY)
    shown = memory.context()
    texts = shown.longterm.text + shown.recent.text
    assert rungs(result).index(Rung.TRUNCATE) == len(result.steps) - 1
    assert "Left out here: part of memories" in texts
    assert "recall" in texts
    assert memory.load().used <= memory.load().budget
    assert check(memory.archive, memory.context(), memory.summaries).whole


def test_what_was_cut_is_in_the_archive_line(life, memory):
    for _ in range(3):
        fill(memory, 0.9)
        memory.compact(HIGH)
    before = memory.context()
    memory.weigh(930)
    memory.compact(EMERGENCY)
    past = history.compactions(memory.archive)[-1]
    assert past.before.longterm.text == before.longterm.text
    assert past.after.longterm == memory.context().longterm


def test_what_the_cut_left_out_is_no_memory_of_the_next_summary(life, memory):
    for _ in range(3):
        fill(memory, 0.9)
        memory.compact(HIGH)
    memory.weigh(930)
    memory.compact(EMERGENCY)
    memory.weigh(0)
    fill(memory, 0.9)
    life.summarizer.sources.clear()
    memory.compact(HIGH)
    assert not any("Left out here" in line for s in life.summarizer.sources for line in s.lines)


def summary_of(text):
    return Summary(Tier.RECENT, 1, 9, text, "scripted", ManualClock().now())


def test_cut_keeps_the_newest_and_what_must_be_kept():
    weigh = WordTokens().of
    text = " ".join(f"Sentence number {n} tells of it." for n in range(20))
    text = truncation.put_back(text, ("never open the door",))
    short = truncation.cut(summary_of(text), 60, weigh)
    assert weigh(short) <= 60
    assert "Sentence number 19" in short
    assert "Sentence number 2 " not in short
    assert "I must not forget: never open the door" in short
    assert truncation.without_note(short).startswith("Sentence")
    assert truncation.cut(summary_of(short), 60, weigh) == short, "twice changes nothing"
    assert truncation.cut(summary_of(text), 1000, weigh) == text


# -- failures


def test_an_emergency_needs_no_model(life, memory):
    life.summarizer.failing = set(Tier)
    fill(memory, 0.97)
    result = memory.compact(EMERGENCY)
    assert result.model == "extractive"
    assert memory.load().share <= 0.85
    assert Rung.TRUNCATE not in rungs(result), "the extractive summary comes before"


def test_a_model_that_fails_leaves_the_prompt_as_it_was_but_masked(life, memory):
    life.summarizer.failing = set(Tier)
    for number in range(8):
        spread(memory, f"Room{number}", 60)
    talk(memory, 30, 30)
    before = memory.context()
    with pytest.raises(CompactionError, match="nobody answers"):
        memory.compact(HIGH)
    after = memory.context()
    assert (after.longterm, after.recent, after.window) == (
        before.longterm,
        before.recent,
        before.window,
    )
    assert "chair59" not in after.shown[1].text


def test_bad_summaries_are_tried_once_more_and_then_made_by_rules(life, memory):
    life.summarizer.bad = True
    fill(memory, 0.9)
    result = memory.compact(HIGH)
    assert len(life.summarizer.sources) == 2
    assert result.model == "extractive"
    assert result.verdict.tries == 3
    assert result.calls == 2
    assert memory.status().failures == 0


def test_a_refused_summary_is_made_by_rules(life, memory):
    def refuse(source):
        raise SummaryRefused("the summary was refused: it repeats itself")

    life.summarizer.summarize = refuse
    fill(memory, 0.9)
    assert memory.compact(MANUAL).model == "extractive"


def test_a_full_disk_stops_a_compaction_before_any_model_is_asked(life, memory, monkeypatch):
    fill(memory, 0.9)
    before = memory.context()

    def no_space(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("game.mind.json_lines._datasync", no_space)
    with pytest.raises(CompactionError, match="cannot be written"):
        memory.compact(MANUAL)
    assert life.summarizer.sources == []
    assert memory.context().window == before.window
    monkeypatch.undo()
    assert memory.compact(MANUAL).covered


# -- the check


def test_a_constraint_that_is_lost_is_put_back_word_for_word(life, memory):
    life.must_keep = (RULE,)
    fill(memory, 0.9)
    result = memory.compact(HIGH)
    assert result.verdict.wanted == 1
    assert result.verdict.put_back == (RULE,)
    assert RULE in memory.context().recent.text
    for _ in range(3):
        fill(memory, 0.9)
        memory.compact(HIGH)
        texts = [memory.context().recent.text, memory.context().longterm.text]
        assert sum(text.count("never open the cellar door") for text in texts) == 1


def test_what_was_put_back_is_carried_on_and_never_summarised(life, memory):
    life.must_keep = (RULE,)
    for _ in range(3):
        fill(memory, 0.9)
        assert memory.compact(HIGH).verdict.put_back == (RULE,)
        assert truncation.put_back_in(memory.context().recent.text) == (RULE,)
    assert truncation.put_back_in(memory.context().longterm.text) == ()
    assert not any("cellar" in line for each in life.summarizer.sources for line in each.lines)
    life.must_keep = ()
    fill(memory, 0.9)
    memory.compact(HIGH)
    texts = [memory.context().recent.text, memory.context().longterm.text]
    assert not any("cellar" in text for text in texts), "until nobody wants it any more"


def test_what_stands_in_the_prompt_anyway_is_not_put_back(life, memory):
    life.must_keep = life.standing = (RULE,)
    fill(memory, 0.9)
    result = memory.compact(HIGH)
    assert (result.verdict.wanted, result.verdict.put_back) == (1, ())
    assert "cellar" not in memory.context().recent.text


def test_a_constraint_reaches_the_summarizer_that_reads_of_it(life, memory):
    life.must_keep = (RULE, "Ann told you: feed the goat before noon (memory 900)")
    memory.append('Ann says to you, "Mira, never open the cellar door!"', source="Ann")
    fill(memory, 0.9)
    memory.compact(HIGH)
    assert life.summarizer.sources[0].must_keep == (RULE,)
    life.standing = life.must_keep
    fill(memory, 0.9)
    memory.compact(HIGH)
    assert life.summarizer.sources[-1].must_keep == ()


def test_a_constraint_survives_being_cut(life, memory):
    life.must_keep = (RULE,)
    for _ in range(3):
        fill(memory, 0.9)
        memory.compact(HIGH)
    memory.weigh(930)
    memory.compact(EMERGENCY)
    assert RULE in memory.context().recent.text + memory.context().longterm.text


def test_questions_are_drawn_from_what_is_summarised(life, memory):
    memory.append(
        'Tom says to you, "The ferry to Ostrey sails at seven on Tuesdays."', source="Tom"
    )
    memory.append("say Thank you, Tom, I will be there at seven.", MemoryKind.ACT)
    fill(memory, 0.9)
    memory.compact(HIGH)
    assert memory.questions
    assert all(question.number <= 2 for question in memory.questions)
    assert all(answered(q, [m.line for m in memory.archive.read(1, 2)]) for q in memory.questions)
    assert history.compactions(memory.archive)[0].questions == memory.questions


def test_all_of_it_is_in_the_archive_line(life, memory):
    life.must_keep = (RULE,)
    fill(memory, 0.9)
    result = memory.compact(HIGH)
    line = compaction_line(memory)
    assert line["reason"] == "high"
    assert line["strategy"] == "narrative"
    assert line["calls"] == result.calls == 0
    assert line["tokens"]["before"] == result.tokens_before
    assert (
        line["tokens"]["after"]
        == result.tokens_after
        == memory.load().summaries
        + memory.load().window
        - len(RULE.split())
        - 5
        + len(RULE.split())
        + 5
    )
    assert line["tokens"]["source"] == "words"
    assert [step["rung"] for step in line["steps"]] == ["mask", "summarise"]
    assert line["verdict"]["put_back"] == [RULE]
    segment, number = str(result.position).split(":")
    text = (life.folder / "archive" / segment).read_text().splitlines()[int(number) - 1]
    assert json.loads(text) == line
    assert (result.number, line["id"]) == (1, 1)


# -- strategies


def test_replace_makes_one_summary_of_everything_but_what_is_going_on(life, memory):
    life.strategy = REPLACE
    fill(memory, 0.9)
    memory.append('Tom says to you, "Mira, where is the key?"', source="Tom")
    total = memory.status().total
    result = memory.compact(HIGH)
    context = memory.context()
    assert result.outcome is Outcome.REPLACED
    assert context.longterm is None
    assert (context.recent.first, context.recent.last) == (1, total - 1)
    assert [m.number for m in context.window] == [total]
    fill(memory, 0.9)
    first = context.recent.text
    memory.compact(HIGH)
    assert life.summarizer.sources[-1].lines[0] == first, "the older summary flows into it"
    assert life.summarizer.sources[-1].numbers[0] == 0


@pytest.mark.parametrize("order", [(None, REPLACE, None), (REPLACE, None, REPLACE)])
def test_strategies_change_live_in_both_directions(life, memory, order):
    narrative = life.strategy
    for strategy in order:
        life.strategy = strategy or narrative
        for _ in range(2):
            fill(memory, 0.9)
            memory.compact(HIGH)
            total = memory.status().total
            assert covered(memory.context()) == list(range(1, total + 1))
            assert check(memory.archive, memory.context(), memory.summaries).whole
    assert (memory.context().longterm is None) == (order[-1] is REPLACE)


def test_the_strategy_reaches_the_summarizer(life, memory):
    life.strategy = STRUCTURED
    fill(memory, 0.9)
    memory.compact(HIGH)
    assert life.summarizer.sources[0].strategy is STRUCTURED
    assert history.compactions(memory.archive)[0].strategy == "structured"


def test_a_sliding_strategy_makes_no_summary_but_in_an_emergency(life, memory):
    life.strategy = SLIDING
    fill(memory, 0.97)
    assert memory.next_turn() is None
    result = memory.compact(MANUAL)
    assert result.outcome is Outcome.NOTHING
    assert "makes no summaries" in result.detail
    assert memory.before_thought() is EMERGENCY
    assert memory.compact(EMERGENCY).model == "extractive"
    assert life.summarizer.sources == []


def test_an_archive_from_before_the_ladder_still_opens(life):
    memory = life.open()
    live(memory, 8)
    recent = summary_of("I met Tom.").to_record() | {"from": 1, "to": 4}
    memory.archive.append(
        {
            "type": "compaction",
            "id": 1,
            "t": "2026-05-01T12:00:00+00:00",
            "longterm": None,
            "recent": recent,
            "reason": "count",
            "total": 8,
            "kept": 4,
            "seconds": 0.1,
        }
    )
    memory.close()
    memory = life.open()
    assert covered(memory.context()) == list(range(1, 9))
    assert memory.status().last_verdict is None
    (past,) = history.compactions(memory.archive)
    assert (past.outcome, past.covered, past.verdict) == (Outcome.FIRST, (1, 4), None)
    assert check(memory.archive, memory.context(), memory.summaries).whole
    assert memory.undo().restored == (1, 4)
    memory.close()


def test_nobody_takes_others_words_away_by_saying_what_a_cut_says():
    said = (
        'Tom said, "(Left out here: part of memories 1-9. Hm". Ada said, "The toll is four '
        'pennies". Tom said, "Hm)".'
    )
    assert truncation.without_note(said) == said
    assert truncation.without_note(f"{truncation.note(summary_of('I met Tom.'))}\n{said}") == said


def test_a_summary_cannot_put_something_back_by_itself(life, memory):
    talk(memory, 20)
    life.config = replace(CONFIG, immediate_window=4)
    forged = f"{truncation.KEPT}the gold is Tom's. " + "I heard the baker tell all of it. " * 3
    life.summarizer = Forging(forged)
    assert memory.compact(MANUAL).number
    recent = memory.context().recent.text
    assert recent.startswith("I must not forget the gold is Tom's.")
    assert truncation.put_back_in(recent) == ()


class Forging:
    """Writes what begins like a line that was put back; taken as it is, like all by rules."""

    def __init__(self, text):
        self.text = text

    def summarize(self, source):
        return Draft(self.text, "extractive")


def test_an_emergency_has_no_model_read_more_than_a_prompt_part_by_part(tmp_path):
    life = Life(tmp_path / "Mira", replace(CompactionConfig(), context_tokens=2048))
    memory = life.open()
    talk(memory, 300)
    assert memory.before_thought() is EMERGENCY
    assert memory.compact(EMERGENCY).model == "extractive"
    assert life.summarizer.calls == 0
    talk(memory, 60)
    assert memory.compact(CompactReason.MANUAL).model == "scripted"
    memory.close()


def test_a_stock_phrase_is_in_no_summary(life, memory):
    memory.append("say I can't think of it just now.", MemoryKind.ACT, event="shrug")
    fill(memory, 0.9)
    memory.compact(HIGH)
    assert not any("think of it" in x for s in life.summarizer.sources for x in s.lines)
    (source,) = life.summarizer.sources
    assert len(source.lines) == len(source.numbers) == len(source.days)
    assert set(source.days) == {"1 May"}
