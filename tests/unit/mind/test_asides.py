"""A full prompt leaves out what others say to each other, before a summary is made."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from keepsake.events.values import CompactReason
from keepsake.happening import ME, Person, Pose, Speech
from keepsake.memory.asides import ALWAYS_SHOWN
from keepsake.memory.types import CompactionRequest
from tests.unit.mind.fake_agent import WIDE, FakeAgent, compact, covered, fill

TOM = Person("Tom", "7-1")
ANN = Person("Ann", "8-1")

ROOMY = replace(WIDE, context_tokens=2100, longterm_tokens=300)
"""A budget of 2,000 tokens: a line below has 11, so it holds some 180."""


@pytest.fixture
def agent(tmp_path):
    return FakeAgent(tmp_path / "Mira", ROOMY)


@pytest.fixture
def memory(agent):
    memory = agent.open()
    yield memory
    memory.close()


def aside(number: int, words: str = "is it low water yet?") -> Speech:
    """Return words of Tom to Ann that Mira overhears; 11 tokens with four more words."""
    told = f"{words} {number}"
    return Speech(speaker=TOM, words=told, to=(ANN,), shown=f'Tom says to Ann, "{told}"')


def to_mira(number: int) -> Speech:
    words = f"have you heard of boat {number}?"
    return Speech(speaker=TOM, words=words, to=(ME,), shown=f'Tom says to you, "{words}"')


def own(number: int) -> Speech:
    words = f"I have heard of boat {number}."
    return Speech(speaker=ME, words=words, to=(TOM,), shown=words)


def overhear(memory, share: float) -> None:
    """Let Tom and Ann talk until the prompt would take this share of its budget."""
    while memory.load().share < share:
        memory.append(aside(memory.tiers.last_number + 1))


def shown(memory) -> list[int]:
    return [each.number for each in memory.context().shown]


def test_an_almost_full_prompt_leaves_out_old_asides_and_keeps_the_own_talk(memory):
    for number in range(5):
        memory.append(to_mira(number))
        memory.append(own(number))
    memory.append(aside(11, "Mira knows the tide,"))
    memory.append(Pose(actor=ANN, gesture="yawns", shown="Ann yawns."))
    overhear(memory, 0.95)
    context = memory.context()
    last = memory.tiers.last_number
    assert shown(memory) == [*range(1, 12), *range(last - ALWAYS_SHOWN + 1, last + 1)]
    assert covered(context) == list(range(1, last + 1)), "nothing has left the window"
    assert memory.window.lean_load().share < memory.host.config().low


def test_prompts_begin_alike_until_the_next_large_step(memory):
    overhear(memory, 0.95)
    before = shown(memory)
    steps = 0
    for _ in range(200):
        memory.append(aside(memory.tiers.last_number + 1))
        now = shown(memory)
        steps += now[: len(before)] != before
        before = now
    assert 1 <= steps <= 3
    assert memory.window.lean_load().used <= memory.load().budget


def test_no_summary_is_due_while_asides_can_be_left_out(memory):
    overhear(memory, 1.2)
    assert memory.may_be_due(in_talk=True) is None
    assert memory.may_be_due() is None
    assert memory.may_be_due(asleep=True) is CompactReason.SLEEP, "a night summarises them"


def test_much_that_is_left_out_is_summarised_in_a_talk_too(memory):
    overhear(memory, 1.45)
    shown(memory)
    assert memory.may_be_due(in_talk=True) is CompactReason.HIGH
    limits = memory.host.config()
    memory.compact(CompactionRequest(limits=limits, in_talk=True))
    context = memory.context()
    assert context.recent is not None
    assert context.recent.first == 1
    assert context.shown == context.window, "the asides that stay are shown again"
    assert memory.load().share <= limits.high


def test_the_own_talk_alone_fills_a_prompt_as_before(memory):
    while memory.load().share < 0.91:
        memory.append(to_mira(memory.tiers.last_number))
        memory.append(own(memory.tiers.last_number))
    assert memory.context().shown == memory.context().window
    assert memory.may_be_due(in_talk=True) is CompactReason.HIGH


def test_an_answer_does_not_wait_for_a_summary_if_lines_can_be_left_out(memory):
    fill(memory, 1.3)
    assert memory.before_thought() is None
    kept = memory.window.count(*memory.context().shown)
    assert kept <= memory.load().budget


def test_an_answer_does_not_wait_for_a_summary_that_is_being_written(agent, memory):
    fill(memory, 1.3)
    agent.summarizer.gate = threading.Event()
    running = threading.Thread(target=compact, args=(memory, CompactReason.HIGH))
    running.start()
    try:
        assert agent.summarizer.entered.wait(60)
        assert memory.before_thought() is None
    finally:
        agent.summarizer.gate.set()
        running.join(60)
    assert memory.context().recent is not None


def test_the_oldest_lines_are_left_out_in_large_steps(memory):
    fill(memory, 1.05)
    before = shown(memory)
    steps = 0
    for _ in range(60):
        fill(memory, memory.load().share + 0.001)
        now = shown(memory)
        steps += now[: len(before)] != before
        before = now
    assert 1 <= steps <= 60 * 21 // 500 + 1


def test_the_oldest_lines_do_not_come_and_go_with_the_length_of_the_rest(memory):
    fill(memory, 0.97)
    shown_at_first = len(shown(memory))
    seen = set()
    for rest in (200, 20, 200, 20):
        memory.report_prompt(memory.window.count(*memory.context().shown) + rest)
        seen.add(shown(memory)[0])
    assert len(shown(memory)) < shown_at_first
    assert len(seen) == 1, "a server reads a prompt anew that begins with another line"


def test_what_is_left_out_is_searched_and_what_is_shown_is_not(memory):
    memory.append(to_mira(1))
    memory.append(own(1))
    overhear(memory, 0.95)
    context = memory.context()
    before = context.searched_before()
    assert before == context.asides_through + 1
    assert before == memory.tiers.last_number - ALWAYS_SHOWN + 1
    assert context.shown_before(before) == {1, 2}


def test_a_prompt_with_room_shows_all(memory):
    overhear(memory, 0.8)
    context = memory.context()
    assert context.shown == context.window
    assert context.searched_before() == 1
    assert not context.shown_before(1)


def test_the_first_prompt_after_a_start_leaves_out_what_the_last_one_did(agent, memory):
    """Else it would differ from both the prompt before it and the one after it."""
    overhear(memory, 0.95)
    before = memory.context()
    assert before.asides_through
    memory.close()
    again = agent.open()
    again.window.overhead = None
    assert len(again.context().shown) > len(before.shown)
    again.window.leave_out_asides(before.asides_through, before.compaction + 1)
    assert again.context().asides_through == 0, "a compaction since then shows them again"
    again.window.leave_out_asides(before.asides_through, before.compaction)
    assert again.context().shown == before.shown
    again.close()
