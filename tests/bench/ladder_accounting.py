"""Writes down what a memory's thoughts and compactions cost, as a life is lived through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from keepsake.agent_memory import AgentMemory
from keepsake.archive.records import Memory
from keepsake.memory import CompactionResult, CompactReason, Rung
from keepsake.ports import Tokens
from keepsake.prompt.script import script
from keepsake.prompt.tokens import estimate_tokens
from keepsake.summaries.source import Draft, SummarySource
from keepsake.summaries.summarizer import ExtractiveSummarizer


@dataclass(frozen=True, slots=True)
class CompactionCost:
    """One compaction."""

    at: int  # thoughts before it
    saving: int  # tokens that the prompt became shorter by
    rungs: Mapping[Rung, int]  # the same by rung; what was put back afterwards is not in it
    spent: int  # tokens that a model would have read and written for it
    reason: CompactReason  # why it was made
    last: int  # the last memory that it summarised; 0 for none


@dataclass
class CostLedger:
    """What a life costs, in tokens."""

    memories: int = 0  # how many were lived through
    thoughts: int = 0  # how many there were
    sent: int = 0  # tokens of all prompts
    evaluated: int = 0  # those behind the lines that the prompt before began with too
    masked: int = 0  # what the mask took from all prompts together
    window: int = 0  # memories that stood in the window, summed over the thoughts
    made: list[CompactionCost] = field(default_factory=list)  # the compactions
    over: int = 0  # thoughts whose prompt was over the budget
    largest: float = 0.0  # the largest prompt, as a share of the budget

    @property
    def spent(self) -> int:
        """Tokens that all compactions took."""
        return sum(each.spent for each in self.made)

    def a_thought(self, tokens: int) -> float:
        """So many tokens, shared out among the thoughts."""
        return tokens / max(self.thoughts, 1)

    @property
    def cost(self) -> float:
        """Tokens evaluated or spent for one thought."""
        return self.a_thought(self.evaluated + self.spent)


_AROUND_A_LINE, _AROUND_A_PROMPT = 1, 40
"""Tokens of a line's end, and of what stands around the lines in a summary's prompt."""


class Charged:
    """An extractive summarizer that is charged as a model would be."""

    def summarize(self, source: SummarySource) -> Draft:
        """The extractive summary, with the tokens that a model would have taken."""
        draft = ExtractiveSummarizer().summarize(source)
        lines = sum(estimate_tokens(line) + _AROUND_A_LINE for line in source.lines)
        read, written = lines + _AROUND_A_PROMPT, estimate_tokens(draft.text)
        return replace(draft, calls=1, prompt_tokens=read, completion_tokens=written)


def compacted(memory: AgentMemory, reason: CompactReason, ledger: CostLedger) -> CompactionResult:
    """Compact, and write down what it saved and cost.

    Raises:
        CompactionError: Nothing was changed, and nothing is written down.
    """
    result = memory.compact(reason)
    rungs: dict[Rung, int] = {
        step.rung: step.tokens_before - step.tokens_after
        for step in result.steps
        if step.rung is not Rung.MASK  # which works in every prompt, and is counted there
    }
    if result.number:
        ledger.made.append(
            CompactionCost(
                at=ledger.thoughts,
                saving=result.tokens_before - result.tokens_after,
                rungs=rungs,
                spent=result.prompt_tokens + result.completion_tokens,
                reason=reason,
                last=result.covered[1] if result.covered else 0,
            )
        )
    return result


def thought(
    memory: AgentMemory, overhead: int, ledger: CostLedger, before: Sequence[str]
) -> Sequence[str]:
    """Write down what one thought costs now, ``overhead`` beside summaries and window.

    Gives the lines of these, which are ``before`` for the next one.
    """
    memory.weigh(overhead)
    context, load = memory.context(), memory.load()
    lines = context.lines
    ledger.thoughts += 1
    ledger.sent += load.used
    ledger.evaluated += _behind(before, lines)
    ledger.masked += _cost(context.window) - _cost(context.shown)
    ledger.window += len(context.window)
    ledger.over += load.used > load.budget
    ledger.largest = max(ledger.largest, load.share)
    return lines


class WindowMarks:
    """What a prompt says between the memories of its window: when each was, how often."""

    def __init__(self, agent: str, tokens: Tokens) -> None:
        self._agent, self._tokens = agent, tokens

    def of(self, memory: AgentMemory) -> int:
        """Tokens of the window's lines beyond what the memory itself weighs them with.

        Below 0 where the prompt folds more than it says.
        """
        lines = script(memory.context().shown, self._agent)
        return sum(self._tokens.each(lines)) - memory.load().window


def _cost(memories: Sequence[Memory]) -> int:
    return sum(estimate_tokens(memory.line) for memory in memories)


def _behind(before: Sequence[str], lines: Sequence[str]) -> int:
    """Tokens of the lines behind the last that stands at the same place in the prompt before."""
    same = next(
        (i for i, (a, b) in enumerate(zip(before, lines, strict=False)) if a != b),
        min(len(before), len(lines)),
    )
    return sum(estimate_tokens(line) for line in lines[same:])
