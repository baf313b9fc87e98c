"""The rungs: gentle first, checked, and what is going on is left alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.archive import history
from keepsake.archive.integrity import check
from keepsake.archive.records import Summary, Tier
from keepsake.memory import ladder
from keepsake.memory.summarizer import Draft
from keepsake.memory.types import CompactReason, Outcome, Rung
from tests.unit.mind.lives import (
    REPLACE,
    WIDE,
    Life,
    ManualClock,
    covered,
    live,
    talk,
)

COUNT, HIGH, EMERGENCY = CompactReason.COUNT, CompactReason.HIGH, CompactReason.EMERGENCY
MANUAL = CompactReason.MANUAL
RULE = "Ann told you: never open the cellar door (memory 2)"


@pytest.fixture
def life(tmp_path):
    return Life(tmp_path / "Mira", WIDE)


def filled(memory, reason=HIGH, times=1):
    """Fill the prompt and compact, so many times; the last result."""
    for _ in range(times):
        while memory.load().share < 0.9:
            talk(memory, 1)
        result = memory.compact(reason)
    return result


def cut(memory):
    """Three compactions, and one for which the rest of the prompt leaves hardly any room."""
    filled(memory, times=3)
    before = memory.context()
    memory.weigh(930)
    return before, memory.compact(EMERGENCY)


def texts(memory):
    context = memory.context()
    return [each.text for each in (context.recent, context.longterm) if each]


def read_by(life):
    return [line for source in life.summarizer.sources for line in source.lines]


# -- mask


# -- summarise


# -- summaries of summaries


def test_a_long_term_summary_that_outgrows_its_limit_is_summarised_again(life, memory):
    plain = life.summarizer.summarize

    def wordy(source):
        draft = plain(source)
        if source.tier is Tier.LONGTERM and not source.limit_tokens:
            longer = ". ".join(" ".join(source.lines).split(".")[:9])
            draft = Draft(f"{longer} {draft.text}", "scripted")
        return draft

    life.config = replace(WIDE, longterm_tokens=30)
    life.summarizer.summarize = wordy
    kept = []
    for _ in range(3):
        result = filled(memory)
        life.clock.advance(60)
        kept.append(memory.context().longterm)
    assert Rung.RESUMMARISE in [step.rung for step in result.steps]
    assert memory.load().summaries <= 30 + 100
    again = [s for s in life.summarizer.sources if s.limit_tokens == 30]
    assert again
    assert all(s.tier is Tier.LONGTERM and len(s.lines) == 1 for s in again)
    bodies = [path.read_text() for path in memory.summaries.folder.glob("longterm-[0-9]*.md")]
    for text in (each.text for each in kept if each):
        assert any(text in body for body in bodies), "every version stays in the vault"


# -- truncate


def test_cutting_is_the_last_rung_and_says_how_to_bring_it_back(life, memory):
    before, result = cut(memory)
    text = " ".join(texts(memory))
    assert [step.rung for step in result.steps][-1] is Rung.TRUNCATE
    assert "Left out here: part of memories" in text
    assert "recall" in text
    assert memory.load().used <= memory.load().budget
    assert check(memory.archive, memory.context(), memory.summaries).whole
    past = history.compactions(memory.archive)[-1]
    assert past.before.longterm.text == before.longterm.text
    assert past.after.longterm == memory.context().longterm
    memory.weigh(0)
    life.summarizer.sources.clear()
    filled(memory)
    assert not any("Left out here" in line for line in read_by(life)), "it is no memory"


def summary_of(text):
    return Summary(Tier.RECENT, 1, 9, text, "scripted", ManualClock().now())


def test_nobody_takes_others_words_away_by_saying_what_a_cut_says():
    said = (
        'Tom said, "(Left out here: part of memories 1-9. Hm". Ada said, "The toll is four '
        'pennies". Tom said, "Hm)".'
    )
    assert ladder.without_note(said) == said
    cut_short = ladder.cut(summary_of(f"I met Tom. {said}"), 60, len)
    assert ladder.without_note(f"{cut_short}\n{said}") == said


# -- strategies


def test_replace_makes_one_summary_of_everything_but_what_is_going_on(life, memory):
    life.strategy = REPLACE
    while memory.load().share < 0.9:
        talk(memory, 1)
    memory.append('Tom says to you, "Mira, where is the key?"', source="Tom")
    total = memory.status().total
    result, context = memory.compact(HIGH), memory.context()
    assert result.outcome is Outcome.REPLACED
    assert context.longterm is None
    assert (context.recent.first, context.recent.last) == (1, total - 1)
    assert [m.number for m in context.window] == [total]
    filled(memory)
    source = life.summarizer.sources[-1]
    assert source.lines[0] == context.recent.text, "the older summary flows into it"


def test_an_archive_from_before_the_ladder_still_opens(life):
    memory = life.open()
    live(memory, 8)
    recent = summary_of("I met Tom.").to_record() | {"from": 1, "to": 4}
    older = {"type": "compaction", "id": 1, "t": "2026-05-01T12:00:00+00:00", "longterm": None}
    older |= {"recent": recent, "reason": "count", "total": 8, "kept": 4, "seconds": 0.1}
    memory.archive.append(older)
    memory.close()
    memory = life.open()
    assert covered(memory.context()) == list(range(1, 9))
    (past,) = history.compactions(memory.archive)
    assert (past.outcome, past.covered) == (Outcome.FIRST, (1, 4))
    assert check(memory.archive, memory.context(), memory.summaries).whole
    assert memory.undo().restored == (1, 4)
    memory.close()
