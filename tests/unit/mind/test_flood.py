"""After any amount of lines, at any time, an agent's prompt still fits its budget."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from keepsake.events.values import CompactReason
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.config import CompactionConfig
from keepsake.memory.summary_text import Draft, SummarySource
from tests.memories import seen
from tests.unit.mind.fake_agent import (
    FakeAgent,
    ScriptedSummarizer,
    WordTokens,
    compact,
    covered,
    due,
)

SHIPPED = CompactionConfig()
SPEECH = 1000
"""Characters of the longest speech that the commands accept."""
ALPHABETS = ("The gulls sat on the sea wall before the rain came. ", "The boats. ", "船", "🐟")


class ByteTokens(WordTokens):
    """Counts like a tokenizer made for English: one token for each byte of other characters."""

    def of(self, text: str) -> int:
        foreign = len(text.encode()) - len(text)
        return len(text) // 4 + foreign + 1


@dataclass
class SlowSummarizer(ScriptedSummarizer):
    """A summarizer during whose calls more lines arrive."""

    between: Callable[[], object] = lambda: None

    def __call__(self, source: SummarySource) -> Draft:
        self.between()
        return super().__call__(source)


lines = st.builds(
    lambda alphabet, size: (alphabet * size)[:size],
    st.sampled_from(ALPHABETS),
    st.integers(1, SPEECH),
)
bursts = st.lists(lines, max_size=12)


def add_burst(memory: AgentMemory, burst: Sequence[str], numbers: itertools.count[int]) -> None:
    for line in burst:
        words = seen(f'Otto says to you, "{next(numbers)} {line}"', "Otto", event="talk")
        memory.append(words, event="talk")


def total(memory: AgentMemory) -> int:
    return memory.tiers.last_number


def shown_fits(memory: AgentMemory) -> bool:
    """Return whether the prompt that a thought would build fits its budget."""
    context = memory.context()
    summaries = (each.text for each in context.summaries)
    load = memory.load()
    return load.overhead + memory.window.count(*summaries, *context.shown) <= load.budget


def compact_while_due(memory: AgentMemory) -> None:
    """Compact until nothing is due, as the game does between thoughts."""
    for _ in range(100):
        if (reason := due(memory)) is None:
            return
        compact(memory, reason)
    raise AssertionError("compaction is always due")


@settings(max_examples=20)  # each example is slow
@given(
    st.lists(bursts, min_size=1, max_size=8),
    st.lists(bursts, max_size=8),
    st.lists(st.integers(0, 2600), min_size=1, max_size=8),
    st.tuples(st.booleans(), st.booleans()),
)
def test_after_any_flood_of_lines_the_prompt_fits_its_budget(before, between, overheads, how):
    bad, thinking = how
    with tempfile.TemporaryDirectory() as folder:
        numbers = itertools.count(1)
        later = iter(between)
        agent = FakeAgent(Path(folder) / "Mira", SHIPPED, tokens=ByteTokens())
        agent.summarizer = SlowSummarizer(
            bad=bad, between=lambda: add_burst(memory, next(later, ()), numbers)
        )
        agent.constraints = tuple(f"Otto told you: rule {n} 🐟🐟🐟🐟🐟🐟🐟🐟" for n in range(8))
        memory = agent.open()
        for burst, overhead in zip(before, itertools.cycle(overheads), strict=False):
            memory.window.overhead = overhead
            add_burst(memory, burst, numbers)
            if thinking and memory.before_thought():
                compact(memory, CompactReason.EMERGENCY)
            compact_while_due(memory)
            assert shown_fits(memory)
            assert len(memory.context().window) >= min(SHIPPED.preserve_memories, total(memory))
        assert covered(memory.context()) == list(range(1, next(numbers)))
        memory.close()
