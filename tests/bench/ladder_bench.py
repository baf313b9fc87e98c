"""What each rung of the ladder saves and costs, over a grid of marks.

Lives with small, many and huge tool outputs, short, middling and long, are lived through
the real cascade; every few memories there is a thought. Summaries are extractive, but
each is charged what a model would have read and written for it, so that the marks are
compared at a price. Everything is counted in tokens of the heuristic, so the figures are
the same on every machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from keepsake.archive.log import Archive
from keepsake.compaction import masking
from keepsake.compaction.cascade import CascadeMemory
from keepsake.compaction.config import CompactionConfig
from keepsake.compaction.dependencies import Dependencies
from keepsake.ports import SystemClock
from keepsake.summaries.files import SummaryFolder
from tests.bench.figures import Figure
from tests.bench.ladder_accounting import Charged, compacted, thought
from tests.bench.ladder_chart import SHIPPED_NAME, chart
from tests.bench.ladder_ledger import HORIZON, LadderLedger, together
from tests.bench.ladder_lives import OUTPUTS, Outputs, life
from tests.bench.talk import NAME

LENGTHS = {"short": 200, "middling": 800, "long": 3000}
MARKS = ((0.70, 0.40), (0.70, 0.55), (0.85, 0.40), (0.85, 0.60), (0.85, 0.75), (0.95, 0.80))
"""High and low, as shares of the budget."""
SAVINGS = (0, 300, 600, 1000)
"""Tokens that a compaction must save at least."""
STEPS = (16, 32, 64)
"""Memories by which the boundary of the mask moves."""
WINDOWS = (5, 10, 20, 64)
"""Both windows, for the first compaction by count."""
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
        step: How far the boundary of the mask moves at a time.
    """

    name: str
    config: CompactionConfig
    step: int = masking.STEP


def settings() -> Iterator[Setting]:
    """The grid: marks, the least saving, the mask's step, and each trigger alone.

    But for the last two no count starts a compaction, so that the marks alone are seen.
    """
    marks = replace(SHIPPED, on_count=False)
    for high, low in MARKS:
        config = replace(marks, high=high, low=low, sleep=(high + low) / 2, emergency=0.97)
        yield Setting(f"marks {high:.2f} to {low:.2f}", config)
    for least in SAVINGS:
        yield Setting(f"saving ≥ {least:,}", replace(marks, min_saving_tokens=least))
    for step in STEPS:
        yield Setting(f"mask, step {step}", marks, step)
    yield Setting("no mask", replace(marks, mask=False))
    yield Setting("by count alone", replace(SHIPPED, on_high=False))
    yield Setting(SHIPPED_NAME, SHIPPED)


def measure() -> Iterator[Figure]:
    """Tokens saved and spent, by life and setting; draws the chart."""
    results: dict[tuple[str, str, str], LadderLedger] = {}
    same: dict[tuple[CompactionConfig, int], str] = {}
    for setting in settings():
        # Several rows of the grid cross at the shipped marks: lived through once.
        name = same.setdefault((setting.config, setting.step), setting.name)
        for outputs in OUTPUTS:
            for span, length in LENGTHS.items():
                known = results.get((name, outputs.name, span))
                ledger = known or lived(setting, outputs, length)
                results[setting.name, outputs.name, span] = ledger
        yield _summed(setting.name, results)
    for (name, outputs_name, span), ledger in results.items():
        if name == SHIPPED_NAME:
            yield _figure(f"{outputs_name} outputs, {span} life", ledger)
    for size in WINDOWS:
        yield _first_by_count(size)
    chart(results)


def _summed(name: str, results: dict[tuple[str, str, str], LadderLedger]) -> Figure:
    total = together(ledger for key, ledger in results.items() if key[0] == name)
    return Figure(
        f"tokens a thought, {name}",
        total.thoughts,
        total.cost,
        "tokens evaluated or spent",
        f"sent {total.a_thought(total.sent):.0f}, evaluated {total.a_thought(total.evaluated):.0f},"
        f" spent {total.a_thought(total.spent):.0f}; {total.compactions:.1f} compactions in 1,000 "
        f"memories, net {total.net_each:+,.0f} each over {HORIZON} thoughts; "
        f"{total.window / max(total.thoughts, 1):.0f} memories in the window; largest prompt "
        f"{total.largest:.0%}, {total.over} over the budget",
    )


def _figure(name: str, ledger: LadderLedger) -> Figure:
    rungs = ", ".join(
        f"{rung} {ledger.a_thought(kept):.0f}" for rung, kept in ledger.kept.items() if kept
    )
    return Figure(
        f"tokens not sent a thought, {name}",
        ledger.memories,
        ledger.a_thought(sum(ledger.kept.values())),
        "tokens",
        f"{rungs}; spent {ledger.a_thought(ledger.spent):.0f}; {len(ledger.made)} compactions, "
        f"net {ledger.net_each:+,.0f} each over {HORIZON} thoughts",
    )


def _first_by_count(size: int) -> Figure:
    """When a small window is compacted first: its count is reached, but does it pay?"""
    config = replace(
        SHIPPED, immediate_window=size, recent_window=size, preserve_memories=min(size, 20)
    )
    ledger = LadderLedger()
    with tempfile.TemporaryDirectory() as scratch:
        memory = _open(Path(scratch), config)
        try:
            number = _until_first(memory, ledger)
        finally:
            memory.close()
    return Figure(
        f"first compaction with windows of {size} + {size}",
        2 * size + 1,
        number,
        "memories lived",
        f"saved {ledger.made[0].saving} tokens" if ledger.made else "none came",
    )


def _until_first(memory: CascadeMemory, ledger: LadderLedger) -> int:
    """Live until something is compacted; returns how many memories that took."""
    lines = life(OUTPUTS[0], 400)
    for number, line in enumerate(lines, start=1):
        memory.append(line.text, line.kind)
        if reason := memory.next_turn():
            compacted(memory, reason, ledger)
            return number
    return len(lines)


def lived(setting: Setting, outputs: Outputs, length: int) -> LadderLedger:
    """Live one life at one setting."""
    with tempfile.TemporaryDirectory() as scratch, _mask_moves_by(setting.step):
        memory = _open(Path(scratch), setting.config)
        try:
            return _lived(memory, outputs, length)
        finally:
            memory.close()


@contextmanager
def _mask_moves_by(step: int) -> Iterator[None]:
    shipped, masking.STEP = masking.STEP, step
    try:
        yield
    finally:
        masking.STEP = shipped


def _lived(memory: CascadeMemory, outputs: Outputs, length: int) -> LadderLedger:
    ledger, before = LadderLedger(memories=length), [""]
    for number, line in enumerate(life(outputs, length), start=1):
        memory.append(line.text, line.kind)
        if reason := memory.next_turn():
            compacted(memory, reason, ledger)
        if number % EVERY == 0:
            if reason := memory.before_thought():
                compacted(memory, reason, ledger)
            before = thought(memory, OVERHEAD, ledger, before)
    ledger.close()
    return ledger


def _open(folder: Path, config: CompactionConfig) -> CascadeMemory:
    charged = Charged()
    return CascadeMemory(
        NAME,
        Archive(folder / "archive"),
        SummaryFolder(folder / "summaries", NAME),
        Dependencies(
            config=lambda: config,
            summarizer=lambda: charged,
            clock=SystemClock(),
            log=lambda _: None,
        ),
    )
