"""What each rung of the ladder saves and costs, over a grid of marks.

Lives with small, many and huge tool outputs, short, middling and long, are lived through
the real cascade; every few memories there is a thought. Summaries are extractive, but
each is charged what a model would have read and written for it, so that the marks are
compared at a price. Everything is counted in tokens of the heuristic, so the figures are
the same on every machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from game.mind.archive import Archive
from game.mind.cascade import CascadeMemory
from game.mind.compaction_config import CompactionConfig
from game.mind.memory import CompactionResult, CompactReason, MemoryContext, Rung
from game.mind.ports import SystemClock
from game.mind.records import Memory
from game.mind.summaries import SummaryFolder
from game.mind.summarize import Draft, ExtractiveSummarizer, Source
from game.mind.tokens import estimate_tokens
from tests.bench.figures import Figure
from tests.bench.ladder_chart import chart
from tests.bench.ladder_lives import OUTPUTS, Outputs, life
from tests.bench.talk import NAME

LENGTHS = {"short": 200, "middling": 800, "long": 3000}
MARKS = ((0.70, 0.40), (0.70, 0.55), (0.85, 0.40), (0.85, 0.60), (0.85, 0.75), (0.95, 0.80))
"""High and low, as shares of the budget."""
SAVINGS = (0, 300, 1000)
"""Tokens that a compaction must save at least."""
OVERHEAD = 900
"""Tokens of a real prompt that are neither summaries nor window."""
EVERY = 4
"""Memories between two thoughts."""
SHIPPED = CompactionConfig()


@dataclass(frozen=True, slots=True)
class Setting:
    """One configuration of the grid.

    Attributes:
        name: What the tables call it.
        config: What it changes.
    """

    name: str
    config: CompactionConfig


@dataclass
class Ledger:
    """What one life cost and saved, in tokens.

    Attributes:
        thoughts: How many there were.
        sent: Tokens of all prompts.
        evaluated: Those behind the head that the prompt before had too.
        verbatim: What the windows would have cost as they were lived.
        masked: What the first rung took from that, summed over the thoughts.
        spent: What summaries cost to write.
        net: For each compaction what it saved over the next 50 thoughts, less its cost.
        saved: Tokens that each rung took out of the prompt.
        over: Thoughts whose prompt was over the budget.
        largest: The largest prompt, as a share of the budget.
    """

    thoughts: int = 0
    sent: int = 0
    evaluated: int = 0
    verbatim: int = 0
    masked: int = 0
    spent: int = 0
    net: list[int] = field(default_factory=list)
    saved: dict[Rung, int] = field(default_factory=dict)
    over: int = 0
    largest: float = 0.0

    def cost(self) -> float:
        """Tokens evaluated or spent for one thought."""
        return (self.evaluated + self.spent) / max(self.thoughts, 1)


class Charged:
    """An extractive summarizer that is charged as a model would be."""

    def summarize(self, source: Source) -> Draft:
        """The extractive summary, with the tokens that a model would have taken."""
        draft = ExtractiveSummarizer().summarize(source)
        read = sum(estimate_tokens(line) + 1 for line in source.lines) + 40
        return replace(
            draft, calls=1, prompt_tokens=read, completion_tokens=estimate_tokens(draft.text)
        )


def settings() -> Iterator[Setting]:
    """The grid: marks, the least saving, and each rung left out."""
    by_tokens = replace(SHIPPED, on_count=False)
    for high, low in MARKS:
        config = replace(by_tokens, high=high, low=low, sleep=(high + low) / 2, emergency=0.97)
        yield Setting(f"{high:.2f} to {low:.2f}", config)
    for least in SAVINGS:
        config = replace(by_tokens, min_saving_tokens=least)
        yield Setting(f"saving at least {least}", config)
    yield Setting("without the mask", replace(by_tokens, mask=False))
    yield Setting("by count alone", replace(SHIPPED, on_high=False))
    yield Setting("as shipped", SHIPPED)


def measure() -> Iterator[Figure]:
    """Tokens saved and spent, by life and setting; writes the charts."""
    results: dict[tuple[str, str, str], Ledger] = {}
    for setting in settings():
        for outputs in OUTPUTS:
            for span, length in LENGTHS.items():
                results[setting.name, outputs.name, span] = lived(setting.config, outputs, length)
        yield _summed(setting.name, results)
    shipped = {key[1:]: value for key, value in results.items() if key[0] == "as shipped"}
    for (outputs_name, span), ledger in shipped.items():
        yield from _figures(f"{outputs_name} outputs, {span} life", LENGTHS[span], ledger)
    chart(results)


def _summed(name: str, results: dict[tuple[str, str, str], Ledger]) -> Figure:
    mine = [ledger for key, ledger in results.items() if key[0] == name]
    thoughts = sum(each.thoughts for each in mine)
    cost = sum(each.evaluated + each.spent for each in mine) / thoughts
    net = [value for each in mine for value in each.net]
    return Figure(
        f"tokens a thought, {name}",
        thoughts,
        cost,
        "tokens evaluated or spent",
        f"sent {sum(each.sent for each in mine) / thoughts:.0f}; {len(net)} compactions, net "
        f"{sum(net) / max(len(net), 1):+.0f} each over 50 thoughts; largest prompt "
        f"{max(each.largest for each in mine):.0%}, {sum(each.over for each in mine)} over",
    )


def _figures(name: str, length: int, ledger: Ledger) -> Iterator[Figure]:
    total = ledger.masked + sum(v for k, v in ledger.saved.items() if k is not Rung.MASK)
    rungs = ", ".join(f"{rung} {saved:,}" for rung, saved in ledger.saved.items())
    yield Figure(
        f"tokens out of the prompt, {name}",
        length,
        total,
        "tokens",
        f"mask {ledger.masked:,} over {ledger.thoughts} prompts; {rungs or 'no compaction'}; "
        f"spent {ledger.spent:,}",
    )


def lived(config: CompactionConfig, outputs: Outputs, length: int) -> Ledger:
    """Live one life at one setting."""
    with tempfile.TemporaryDirectory() as scratch:
        memory = _open(Path(scratch), config)
        try:
            return _lived(memory, config, outputs, length)
        finally:
            memory.close()


def _lived(
    memory: CascadeMemory, config: CompactionConfig, outputs: Outputs, length: int
) -> Ledger:
    ledger, before = Ledger(), [""]
    after: list[tuple[int, int, int]] = []
    for number, line in enumerate(life(outputs, length), start=1):
        memory.append(line.text, line.kind)
        if reason := memory.next_turn():
            after.append(_compacted(memory, reason, ledger))
        if number % EVERY == 0:
            if reason := memory.before_thought():
                after.append(_compacted(memory, reason, ledger))
            before = _thought(memory, config, ledger, before)
    ledger.net = _net(after, ledger.thoughts)
    return ledger


def _compacted(
    memory: CascadeMemory, reason: CompactReason, ledger: Ledger
) -> tuple[int, int, int]:
    """Compact; returns the thought it came at, what it saves a thought, and its cost."""
    result: CompactionResult = memory.compact(reason)
    spent = result.prompt_tokens + result.completion_tokens
    ledger.spent += spent
    for step in result.steps:
        gone = step.tokens_before - step.tokens_after
        ledger.saved[step.rung] = ledger.saved.get(step.rung, 0) + gone
    return ledger.thoughts, result.tokens_before - result.tokens_after, spent


def _net(after: Sequence[tuple[int, int, int]], thoughts: int) -> list[int]:
    """What each compaction saved over its next 50 thoughts, or as many as there were."""
    return [saving * min(50, thoughts - at) - spent for at, saving, spent in after]


def _thought(
    memory: CascadeMemory, config: CompactionConfig, ledger: Ledger, before: list[str]
) -> list[str]:
    memory.weigh(OVERHEAD)
    context, load = memory.context(), memory.load()
    lines = _prompt(context)
    ledger.thoughts += 1
    ledger.sent += load.used
    ledger.evaluated += _behind(before, lines)
    verbatim, shown = _cost(context.window), _cost(context.shown)
    ledger.verbatim += verbatim
    ledger.masked += verbatim - shown
    ledger.over += load.used > config.budget
    ledger.largest = max(ledger.largest, load.share)
    return lines


def _prompt(context: MemoryContext) -> list[str]:
    summaries = [each.text for each in (context.longterm, context.recent) if each]
    return [*summaries, *(memory.line for memory in context.shown)]


def _cost(memories: Sequence[Memory]) -> int:
    return sum(estimate_tokens(memory.line) for memory in memories)


def _behind(before: list[str], lines: list[str]) -> int:
    """Tokens of the lines that do not stand at the same place in the prompt before."""
    same = next(
        (i for i, (a, b) in enumerate(zip(before, lines, strict=False)) if a != b),
        min(len(before), len(lines)),
    )
    return sum(estimate_tokens(line) for line in lines[same:])


def _open(folder: Path, config: CompactionConfig) -> CascadeMemory:
    charged = Charged()
    return CascadeMemory(
        NAME,
        Archive(folder / "archive"),
        SummaryFolder(folder / "summaries", NAME),
        config=lambda: config,
        summarizer=lambda: charged,
        clock=SystemClock(),
        log=lambda _: None,
        priced=lambda: True,
    )
