"""The thoughts of the event log that led to acts; every function here blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import takewhile
from pathlib import Path

from keepsake.archive.records import Memory
from keepsake.events.files import newest_first
from keepsake.events.prompts import prompt_text
from keepsake.events.types import Agreement, Consent, Guard, Recalled, Thought, from_record
from keepsake.json_lines import Record
from keepsake.prompt.sections import titled

MOST_BYTES = 64_000_000
"""The most bytes of the log to read, from its end: four whole files, about a second."""
MOST_GUARDED = 50
"""The number of events before a thought among which its guards' events are searched."""


def thought_of(act: Memory, log: Path, agent_id: int) -> Record | None:
    """Return the event of the thought that led to an act; None if the log does not have it."""
    for record in newest_first(log, kind=Thought.kind, agent_id=agent_id, most=MOST_BYTES):
        numbers = record.get("memories") or [record.get("memory") or 0]
        if act.number in numbers:
            return record
        if 0 < max(numbers) < act.number:
            break
    return None


def causes_of(log: Path, agent_id: int, acts: Collection[int], most: int) -> dict[int, int]:
    """Return the numbers of the memories that set acts off, by the acts' numbers; blocks.

    Those are left out that nothing set off, or that the newest part of the log does not have.

    Args:
        agent_id: The agent's id in the log.
        acts: The numbers of its acts.
        most: The most bytes of the log to read, from its end.
    """
    found: dict[int, int] = {}
    for numbers, record in _thoughts_of(log, agent_id, acts, most):
        cause: int = record.get("cause") or 0
        if cause:
            found |= dict.fromkeys(numbers, cause)
    return found


def prompts_of(
    log: Path, agent_id: int, acts: Collection[int], most: int
) -> Iterator[tuple[int, str]]:
    """Yield acts and their prompts, the newest first, as :func:`causes_of`; blocks."""
    for numbers, record in _thoughts_of(log, agent_id, acts, most):
        prompt = record.get("prompt")
        text = prompt_text(log, str(prompt), int(record["seq"])) if prompt else None
        if text:
            yield from ((number, text) for number in numbers)


def _thoughts_of(
    log: Path, agent_id: int, acts: Collection[int], most: int
) -> Iterator[tuple[frozenset[int], Record]]:
    """Yield the log's lines of the thoughts that led to acts, with the acts, the newest first."""
    wanted = frozenset(acts)
    if not wanted:
        return
    for record in newest_first(log, kind=Thought.kind, agent_id=agent_id, most=most):
        numbers = record.get("memories") or [record.get("memory") or 0]
        if found := wanted.intersection(numbers):
            yield found, record
        if 0 < max(numbers) <= min(wanted):
            break


def thought_in(record: Record) -> Thought | None:
    """Return the thought of a log's line; None if this version cannot read it."""
    found = record.get("recalled") or ()
    read = (from_record(Recalled, each) for each in found if isinstance(each, dict))
    sections = titled(record.get("sections") or {})
    whole = record | {"recalled": tuple(filter(None, read)), "sections": sections}
    return from_record(Thought, whole)


def events_before[T: (Guard, Agreement, Consent)](
    log: Path, thought: Thought, seq: int, kind: type[T]
) -> tuple[T, ...]:
    """Return the events of one kind that the tries at a thought left before its own event."""
    events = newest_first(log, kind=kind.kind, agent_id=thought.agent_id, most=MOST_BYTES)
    near = takewhile(lambda each: each["seq"] > seq - MOST_GUARDED, events)
    mine = [each for each in near if each["seq"] < seq and each.get("cause") == thought.cause]
    return tuple(filter(None, (from_record(kind, each) for each in reversed(mine))))
