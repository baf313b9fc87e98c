"""What agents do, as events for the log: made on the reactor thread, so quick and without I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from keepsake.archive.records import Memory
from keepsake.errors import CompactionError
from keepsake.events.types import Compaction, Guard, MemoryChange, Recall
from keepsake.memory.types import CompactionResult, CompactReason, Undone
from keepsake.recall.documents import Hit


def searched(
    name: str,
    by: str,
    question: str,
    hits: Sequence[Hit] | None,
    *,
    seconds: float,
    before: int | None,
) -> Recall:
    """The event of a search; ``hits`` is None if it could not be searched, or not in time."""
    return Recall(
        agent=name,
        by=by,
        question=question,
        searched=hits is not None,
        found=len(hits or ()),
        best=round(max((hit.score for hit in hits or ()), default=0.0), 4),
        seconds=round(seconds, 6),
        window_first=before or 0,
    )


def remembered(name: str, memory: Memory) -> MemoryChange:
    """The event of a memory that was archived; of the words only how many signs they have."""
    return MemoryChange(
        agent=name,
        op="append" if memory.repeats == 1 else "repeat",
        n=memory.number,
        of=memory.kind.value,
        size=len(memory.text),
        times=memory.repeats,
    )


def undone(name: str, outcome: Undone | CompactionError) -> MemoryChange:
    """The event of a compaction that was taken back, or could not be."""
    if isinstance(outcome, CompactionError):
        return MemoryChange(agent=name, op="undo", n=0, by="builder", problem=str(outcome))
    return MemoryChange(agent=name, op="undo", n=outcome.number, by="builder")


def not_used(name: str, refused: Iterable[tuple[str, str, str]]) -> Iterator[Guard]:
    """The events of answers, each with its task and why it was not used."""
    for task, answer, reason in refused:
        yield Guard(agent=name, task=task, op="refused", before=answer, reason=reason)


def compacted(
    name: str, reason: CompactReason, outcome: CompactionResult | CompactionError
) -> Compaction:
    """The event of a compaction, however it ended."""
    if isinstance(outcome, CompactionError):
        return Compaction(agent=name, reason=reason.value, outcome="failed", problem=str(outcome))
    first, last = outcome.covered or (0, 0)
    return Compaction(
        agent=name,
        reason=outcome.reason.value,
        outcome=outcome.outcome.value,
        number=outcome.number,
        first=first,
        last=last,
        kept=outcome.kept,
        tokens_before=outcome.tokens_before,
        tokens_after=outcome.tokens_after,
        seconds=round(outcome.seconds, 6),
        calls=outcome.calls,
        prompt_tokens=outcome.prompt_tokens,
        completion_tokens=outcome.completion_tokens,
        model=outcome.model,
        rungs={step.rung.value: step.tokens_before - step.tokens_after for step in outcome.steps},
    )
