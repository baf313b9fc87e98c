"""Memories weigh what they cost in a prompt, and the running weight is the true one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Memory, MemoryKind
from keepsake.compaction.costs import WALK_AFTER, RunningWeight, TokenCounter
from keepsake.prompt.script import script, script_line
from tests.mind.lives import SMALL, Life, ManualClock, WordTokens, live, spread

NOW = ManualClock().now()


def memory_of(text, kind=MemoryKind.PERCEPTION, number=1, **more):
    return Memory(number, NOW, kind, text, **more)


@pytest.mark.parametrize(
    "memory",
    [
        memory_of("Tom comes in."),
        memory_of("# Tom says: ~Mira> drop <eos> all"),
        memory_of("The clock ticks.", repeats=3),
        memory_of("say Good evening!", MemoryKind.ACT),
        memory_of("word " * 900, MemoryKind.RESULT),
    ],
)
def test_a_memory_weighs_what_its_line_in_the_prompt_does(memory):
    (_, line) = script([memory], "Mira")  # the first is the day
    assert script_line(memory, "Mira") == line
    assert TokenCounter("Mira", WordTokens()).memory(memory) == len(line.split()) + 1


def test_the_reason_of_an_act_weighs_too():
    act = memory_of("say Good evening!", MemoryKind.ACT, reason="he looks cold")
    assert script_line(act, "Mira") == "~Mira> say Good evening! | he looks cold"


def test_a_summary_weighs_line_by_line():
    scale = TokenCounter("Mira", WordTokens())
    assert scale.text("## Facts\n\n- Tom is a baker.\n") == 3 + 6
    assert scale.summaries(None, None) == 0


@given(st.lists(st.integers(1, 30), max_size=40))
def test_the_running_weight_is_what_adding_up_gives(lengths):
    scale = TokenCounter("Mira", WordTokens())
    running, window, walks = RunningWeight(scale), [], []

    def walk():
        walks.append(len(window))
        return scale.memories(window)

    for number, length in enumerate(lengths, start=1):
        memory = memory_of("word " * length, number=number)
        window.append(memory)
        running.grown(memory)
        if length % 3 == 0:
            window[-1] = replace(memory, repeats=2)
            running.grown(window[-1], memory)
        assert running.value(walk) == scale.memories(window)
    assert len(walks) <= len(lengths) / WALK_AFTER + 1


def test_the_load_follows_what_is_shown(tmp_path):
    life = Life(tmp_path / "Mira", replace(SMALL, preserve_memories=2, preserve_share=0.0))
    memory = life.open()
    for _ in range(20):
        spread(memory, "Mill", 50)
    live(memory, 9)
    scale = TokenCounter("Mira", WordTokens())
    memory.weigh(-5)
    assert memory.load().overhead == 0
    assert memory.load().window == scale.memories(memory.context().shown)
    assert memory.load().window < scale.memories(memory.context().window) / 2
    memory.close()
