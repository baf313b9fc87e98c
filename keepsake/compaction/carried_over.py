"""What compactions carry on word for word, since no block of the prompt has room for it.

A rule for which there was no room among the noticed ones is seen only as long as it stands
in the window. The compaction after which nobody would see it any more puts it back into its
summary (:func:`keepsake.compaction.truncation.put_back`), and so does each one after that: it
is carried from one to the next, never summarised, until whoever it comes from takes it back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from keepsake.archive.records import Memory
from keepsake.books.commitments import Commitments
from keepsake.books.noticing import Noticed, NoticedKind
from keepsake.books.resolution import settled
from keepsake.compaction import truncation
from keepsake.memory import MemoryContext
from keepsake.prompt.tokens import most_tokens

LIMIT = 300
"""Estimated tokens of all that is carried: it is never cut, so nobody may fill a prompt with it."""

_LINE = re.compile(
    r"^(?:You promised(?: (?P<to>[^:]{1,48}))?|(?P<who>[^:]{1,48}?) told you): (?P<text>\S.*?)"
    r"(?: \(memory (?P<number>\d{1,9})\))?$"
)
"""A rule or a promise as :attr:`keepsake.books.noticing.Noticed.line` has it."""


def carried_over(
    context: MemoryContext,
    refused: Iterable[str],
    own_name: str,
    may: Callable[[int], bool] = lambda _: True,
) -> tuple[str, ...]:
    """What the next compaction must not lose beside what stands in every prompt.

    ``refused``: Rules and promises that found no room in the noticed block, as lines.
    ``may``: Whether anybody may hear what rests on the memory of that number.

    Returns:
        Lines, those put back before first, then ``refused``, as many as :data:`LIMIT` allows.
    """
    before = [
        line
        for line in _put_back(context)
        if may(_number(line)) and not _over(line, context.window, own_name)
    ]
    room, found = LIMIT, []
    for line in dict.fromkeys((*before, *refused)):
        if (cost := most_tokens(line)) <= room:
            room -= cost
            found.append(line)
    return tuple(found)


def must_keep(context: MemoryContext, noticed: Commitments, own_name: str) -> tuple[str, ...]:
    """What no compaction may lose, where nobody has pins and nobody whispers."""
    carried = carried_over(context, [item.line for item in noticed.refused], own_name)
    return tuple(dict.fromkeys((*noticed.lines, *carried)))


def _put_back(context: MemoryContext) -> Iterator[str]:
    """What compactions from before have put back, the oldest first."""
    for summary in (context.longterm, context.recent):
        if summary is not None:
            yield from truncation.put_back_in(summary.text)


def _over(line: str, window: Sequence[Memory], own_name: str) -> bool:
    """Whether somebody has taken ``line`` back since, or the agent has done it."""
    item = _noticed(line)
    return item is not None and any(settled((item,), memory, own_name) for memory in window)


def _number(line: str) -> int:
    item = _noticed(line)
    return item.number if item is not None else 0


def _noticed(line: str) -> Noticed | None:
    found = _LINE.match(line)
    if found is None:
        return None
    told, number = found["who"], int(found["number"] or 0)
    if told is None:
        return Noticed(NoticedKind.PROMISE, found["to"] or "", found["text"], number)
    return Noticed(NoticedKind.RULE, told, found["text"], number)
