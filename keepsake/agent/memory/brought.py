"""What another memory than ours brings for a prompt, as the parts of a thought take it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from keepsake.archive.records import Memory
from keepsake.memory.protocol import RecalledLine, dated, line_of
from keepsake.recall.documents import Document, DocumentKind, Hit
from keepsake.recall.related import SearchResult
from keepsake.recall.sources import memory_document

"""What :func:`dated` puts before a line; a prompt has its own form for it."""

type Lived = Callable[[int], Memory | None]
"""Gives the memory of that number, as anybody may know of it."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What it had for a prompt."""

    context: tuple[str, ...] = ()  # the lines that stand in every prompt, but for the window's
    found: SearchResult = field(default_factory=SearchResult)  # for the question
    # of both, for who picks single sentences: memories that are told word for word …
    memories: tuple[Hit, ...] = ()
    lines: tuple[str, ...] = ()  # … and whatever else was said


def brought(
    context: Sequence[str],
    recalled: Sequence[RecalledLine],
    agent: str,
    *,
    window: Sequence[Memory],
    lately: Sequence[Memory],
    lived: Lived,
    now: datetime,
) -> Brought:
    """Take apart what it gave.

    Args:
        context: What it gave for every prompt.
        recalled: What it gave for the question.
        agent: Whose memory it is.
        window: What the prompt shows anyway.
        lately: The newest memories, among which lines of the context are looked up.
        lived: Finds the others.
        now: The time of what rests on no memory.
    """
    seen, visible = {dated(each) for each in window}, {each.number for each in window}
    known = {dated(each): each for each in lately}
    shown = [line for line in context if line not in seen]
    told = [memory_document(known[line], agent) for line in shown if line in known]
    found = [_hit(place, line, agent, lived, now) for place, line in enumerate(recalled)]
    found = [hit for hit in found if not (_is_memory(hit) and hit.document.first in visible)]
    verbatim = [hit for hit in found if _is_memory(hit)]
    return Brought(
        context=tuple(shown),
        found=SearchResult(memories=tuple(found)),
        memories=(*verbatim, *(Hit(document, 0.0) for document in told)),
        lines=(
            *(part for line in shown if line not in known for part in line.splitlines()),
            *(hit.document.text for hit in found if not _is_memory(hit)),
        ),
    )


def _is_memory(hit: Hit) -> bool:
    return hit.document.key.startswith(f"{DocumentKind.MEMORY}:")


def _hit(place: int, line: RecalledLine, agent: str, lived: Lived, now: datetime) -> Hit:
    """A memory where the line tells one word for word, else the line itself."""
    resting = [memory for n in line.numbers[-1:] if (memory := lived(n)) is not None]
    if len(line.numbers) == 1 and resting and line_of(resting[0]) in line.text:
        return Hit(memory_document(resting[0], agent), line.score)
    document = Document(
        key=f"line:{place}",
        kind=DocumentKind.MEMORY,
        text=_without_day(line.text),
        time=resting[0].time if resting else now,
        first=min(line.numbers, default=0),
        last=max(line.numbers, default=0),
    )
    return Hit(document, line.score)


def _without_day(text: str) -> str:
    """A line without the day that it may begin with: ``4 May 2026, ``."""
    day, sign, rest = text.partition(", ")
    number, *month = day.split(" ")
    dated = number.isdecimal() and len(month) == 2 and month[0].istitle() and month[1].isdecimal()
    return rest if sign and dated else text


def by_number(lately: Mapping[int, Memory], read: Lived) -> Lived:
    """Looks a memory up among the newest, else where it is kept."""
    return lambda number: lately.get(number) or read(number)
