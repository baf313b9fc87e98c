"""A budget that is too small, for a moment or by mistake, never empties an agent's mind."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from keepsake.errors import CompactionError
from keepsake.events.values import CompactionOutcome, CompactReason
from keepsake.language.tokens import Heuristic
from keepsake.memory.config import CompactionConfig
from keepsake.memory.integrity import check
from keepsake.memory.plan import LEAST_SUMMARY
from keepsake.memory.summary_text import Draft, has_words
from keepsake.memory.types import CompactionRequest
from tests.memories import did, seen
from tests.unit.mind.fake_agent import FakeAgent, add, add_talk, compact, covered, due

COUNT = CompactReason.COUNT
HIGH = CompactReason.HIGH
EMERGENCY = CompactReason.EMERGENCY
MANUAL = CompactReason.MANUAL

SHIPPED = CompactionConfig()
REST = 1100
"""Tokens of a persona, the commands and the scene, as in the village."""
KEPT = 20


@pytest.fixture
def agent(tmp_path):
    return FakeAgent(tmp_path / "Mira", SHIPPED, tokens=Heuristic())


@pytest.fixture
def memory(agent):
    memory = agent.open()
    yield memory
    memory.close()


def prompt_of(agent, tokens):
    """Have the model's server report a prompt limit; the game fits the settings to it."""
    agent.config = replace(SHIPPED, context_tokens=tokens + SHIPPED.reserve_tokens)


def live(agent, memory, turns=12):
    """Let two people talk near the agent, and housekeeping and thoughts run as in the game.

    Each thought reports the prompt that it builds, :data:`REST` tokens beside the memories.
    """
    for _ in range(turns):
        add_talk(memory, 1)
        memory.compact(CompactionRequest(limits=agent.config))
        for _ in range(2):
            reason = memory.before_thought()
            if reason is not None:
                with suppress(CompactionError):
                    compact(memory, reason)
            shown = memory.context()
            summaries = (each.text for each in shown.summaries)
            memory.report_prompt(REST + memory.window.count(*summaries, *shown.shown))


def state(memory):
    context = memory.context()
    return context.longterm, context.recent, context.window


def is_of_sound_mind(memory):
    """Check what no budget may do: take the newest memories, or leave a summary without words."""
    context = memory.context()
    total = memory.tiers.last_number
    assert len(context.window) >= min(KEPT, total)
    assert all(has_words(each.text) for each in context.summaries)
    assert covered(context) == list(range(1, total + 1))
    assert check(memory.archive, context, memory.summaries).whole


LIMITS = (1, 200, 600, REST - 1, REST, REST + 1, REST + 60, 1300, 2000, 5000, 3_000_000)


@pytest.mark.parametrize("limit", LIMITS)
def test_no_limit_that_a_server_reports_empties_the_mind(agent, limit):
    prompt_of(agent, 8000)
    memory = agent.open()
    add_talk(memory, 100)
    live(agent, memory)
    prompt_of(agent, limit)
    live(agent, memory)
    is_of_sound_mind(memory)
    memory.close()  # a reload: what the rest of the prompt needs is no longer known
    memory = agent.open()
    memory.window.overhead = None
    live(agent, memory)
    is_of_sound_mind(memory)
    prompt_of(agent, 8000)
    live(agent, memory)
    is_of_sound_mind(memory)
    memory.close()


@pytest.fixture(params=[False, True], ids=["at once", "after a reload"])
def too_small(request, agent):
    """A memory whose limit is below the rest of the prompt, and its state before."""
    prompt_of(agent, 8000)
    memory = agent.open()
    add_talk(memory, 100)
    live(agent, memory)
    before = state(memory)
    prompt_of(agent, 600)
    if request.param:
        memory.close()
        memory = agent.open()
        memory.window.overhead = None
    live(agent, memory)
    yield memory, before
    memory.close()


def test_a_limit_below_the_rest_of_the_prompt_changes_nothing(too_small):
    memory, (longterm, recent, window) = too_small
    assert state(memory)[:2] == (longterm, recent)
    assert state(memory)[2][: len(window)] == window


def test_a_limit_below_the_rest_of_the_prompt_is_a_problem_with_a_cure(too_small):
    memory, _ = too_small
    problem = memory.no_room()
    assert problem is not None
    assert "1,100 tokens" in problem.what
    assert "may have 600" in problem.what
    assert "prompt_tokens" in problem.cure


def test_no_compaction_is_made_below_the_rest_of_the_prompt(too_small):
    memory, _ = too_small
    for reason in CompactReason:
        with pytest.raises(CompactionError, match="no room for memories"):
            compact(memory, reason)
    assert memory.compactor.failures == 0, "no model has failed"


def test_all_goes_on_when_the_limit_is_raised_again(agent, too_small):
    memory, (_, _, window) = too_small
    prompt_of(agent, 8000)
    assert memory.no_room() is None
    assert state(memory)[2][: len(window)] == window, "nothing was lost"
    live(agent, memory)
    is_of_sound_mind(memory)


def test_a_prompt_that_is_almost_full_without_memories_keeps_the_newest(agent, memory):
    """The rest of the prompt takes 94 % of the budget."""
    add_talk(memory, 90)
    memory.window.overhead = int(0.94 * SHIPPED.budget)
    assert due(memory) is HIGH
    compact(memory, HIGH)
    context = memory.context()
    assert [each.number for each in context.window] == list(range(71, 91))
    assert has_words(context.recent.text)
    load = memory.load()
    assert load.used > load.budget
    assert memory.before_thought() in (None, EMERGENCY)
    assert compact(memory, EMERGENCY).outcome is CompactionOutcome.NOTHING
    assert len(memory.context().window) == KEPT


def test_a_prompt_shows_the_newest_lines_that_fit_and_all_of_them_later(agent, memory):
    add_talk(memory, KEPT)
    whole = memory.context().shown
    memory.window.overhead = SHIPPED.budget - 100
    shown = memory.context().shown
    assert 0 < len(shown) < KEPT
    assert shown == whole[-len(shown) :]
    assert memory.window.count(*shown) <= 100
    memory.report_prompt(memory.window.overhead + memory.window.count(*shown))
    assert memory.window.overhead == SHIPPED.budget - 100, "the lines left out are no overhead"
    memory.window.overhead = 0
    assert memory.context().shown == whole


def test_one_line_that_exceeds_the_budget_is_shown_in_part(agent, memory):
    memory.append(seen("The gulls " + "sat on the sea wall " * 30 + "before the rain."))
    memory.window.overhead = SHIPPED.budget - 60
    (shown,) = memory.context().shown
    assert shown.text.startswith("The gulls sat on")
    assert memory.window.count(shown) <= 60
    assert memory.context().window[0].text.endswith("before the rain.")


def test_the_open_talk_stays_word_for_word_in_any_budget(agent, memory):
    add_talk(memory, 60)
    question = seen('Tom says to you, "Mira, where is the key of the mill?"', "Tom")
    asked = memory.append(question).number
    add_talk(memory, 22)
    memory.window.overhead = int(0.94 * SHIPPED.budget)
    for reason in (HIGH, EMERGENCY, MANUAL):
        compact(memory, reason)
        assert memory.context().window[0].number <= asked
    memory.append(did("say to Tom It hangs on the nail."))
    add_talk(memory, KEPT)
    compact(memory, HIGH)
    assert memory.context().window[0].number > asked


@pytest.mark.parametrize("text", ["", "…", " \n", "- … \n- …", "17 — 42"])
@pytest.mark.parametrize("reason", [HIGH, MANUAL, EMERGENCY])
def test_a_summary_without_words_is_never_committed(agent, memory, text, reason):
    agent.summarizer = lambda _: Draft(text, "scripted")
    for _ in range(2):
        add_talk(memory, 80)
        memory.window.overhead = SHIPPED.budget - 900
        assert compact(memory, reason).number
    context = memory.context()
    for summary in context.summaries:
        assert "baker told" in summary.text
        assert summary.model == "extractive"


def test_memories_without_words_get_a_summary_that_says_so(agent, memory):
    for number in range(1, 90):
        memory.append(seen("!" * number))
    memory.window.overhead = 0
    assert compact(memory, MANUAL).number == 1
    assert memory.context().recent.text == "Memories 1 to 25 hold no words."


@pytest.mark.parametrize("reason", [COUNT, MANUAL])
@pytest.mark.parametrize(("preserve", "kept"), [(20, 20), (0, 4)])
def test_the_newest_memories_stay_however_small_the_immediate_window_is(
    agent, memory, reason, preserve, kept
):
    agent.config = replace(
        SHIPPED,
        immediate_window=1,
        recent_window=1,
        preserve_memories=preserve,
        min_saving_tokens=0,
    )
    add(memory, 30)
    assert compact(memory, reason).kept == kept
    assert memory.next_due() == 30 + 1


@pytest.mark.parametrize(
    ("reason", "outcome"), [(COUNT, None), (MANUAL, CompactionOutcome.NOTHING)]
)
def test_a_single_memory_is_not_summarised(agent, memory, reason, outcome):
    agent.config = replace(
        SHIPPED, immediate_window=4, recent_window=1, preserve_memories=4, min_saving_tokens=0
    )
    add(memory, 5)
    result = compact(memory, reason)
    assert result.outcome is CompactionOutcome.NOTHING
    assert "a summary of a single memory" in result.detail
    assert memory.context().recent is None
    add(memory, 1)
    assert compact(memory, reason).covered == (1, 2)


def test_a_model_reports_no_prompt_before_the_first_thought(agent, memory):
    """After a start, the window alone may exceed a limit that is wrong: only the count matters."""
    memory.window.overhead = None
    prompt_of(agent, 300)
    add_talk(memory, 100)
    assert due(memory) is None
    assert due(memory, asleep=True) is None
    assert memory.before_thought() is None
    add_talk(memory, 29)
    assert due(memory) is COUNT
    assert compact(memory, COUNT).kept == SHIPPED.immediate_window
    assert memory.context().recent.tokens_after > LEAST_SUMMARY, "it is not squeezed"
