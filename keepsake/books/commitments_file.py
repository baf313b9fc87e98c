"""The file of the noticed block: a line for each thing, other text left as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from keepsake.books.commitments_room import admit, same
from keepsake.books.noticing import LONGEST, Noticed, NoticedKind
from keepsake.language.perception import for_prompt, shorten

_MOST_LINES = 200
"""Lines of the file that count; what a prompt shows is far less."""

_NEW_FILE = """\
# What was noticed

What others told this agent to keep to, what it has promised, and what it was asked and has
not answered. Noticed in what was said, kept through every compaction, shown with whoever it
comes from. Lines may be changed, added and taken out; what does not begin with "- rule",
"- promise" or "- question" is for its reader alone.
"""
_LINE = re.compile(
    r"^- (?P<kind>rule|promise|question) (?:from|to|of) (?P<who>[^:]{1,48}): (?P<text>\S.*?)"
    r"(?: \(memory (?P<number>\d{1,9})(?:, (?P<time>[\dT:.+-]{10,40}))?"
    r"(?:, by (?P<key>[\w:.-]{1,60}))?\))?[ \t]*$"
)
_READ_TO = re.compile(r"^<!-- noticed up to memory (\d{1,9}) -->$", re.M)
_SOMEBODY = "somebody"


def parsed(source: str) -> tuple[Noticed, ...]:
    """What is noted in the file, in its order."""
    found = (item for line in source.splitlines() if (item := _item(line)) is not None)
    return tuple(item for item, _ in zip(found, range(_MOST_LINES), strict=False))


def _item(line: str) -> Noticed | None:
    match = _LINE.match(line.rstrip())
    if match is None:
        return None
    who = "" if match["who"].casefold() == _SOMEBODY else match["who"].strip()
    text = shorten(for_prompt(match["text"]), 2 * LONGEST)
    return Noticed(
        NoticedKind(match["kind"]),
        for_prompt(who),
        text,
        int(match["number"] or 0),
        _time(match),
        match["key"] or "",
    )


def _time(match: re.Match[str]) -> datetime | None:
    try:
        return datetime.fromisoformat(match["time"]) if match["time"] else None
    except ValueError:
        return None  # a person's own way of writing it


def _written(item: Noticed) -> str:
    preposition = "to" if item.kind is NoticedKind.PROMISE else "from"
    time = f", {item.time.isoformat(timespec='seconds')}" if item.time else ""
    by = f", by {item.key}" if item.key else ""
    end = f" (memory {item.number}{time}{by})" if item.number else ""
    return f"- {item.kind.value} {preposition} {item.who or _SOMEBODY}: {item.text}{end}"


def changed(
    before: str | None, found: Sequence[Noticed], closed: Sequence[Noticed], through: int
) -> str:
    """The file with ``found`` in it, as far as there is room, and without ``closed``."""
    source = before if before and before.strip() else _NEW_FILE
    kept = parsed(source)
    items = planned(kept, found, closed)
    source = without(source, [item for item in kept if item not in items])
    fresh = [_written(item) for item in items if item not in kept]
    marks = [*map(int, _READ_TO.findall(source)), through]
    body = _READ_TO.sub("", source).rstrip("\n")
    gap = "\n" if not parsed(source) else ""
    return "\n".join([f"{body}{gap}", *fresh, f"<!-- noticed up to memory {max(marks)} -->", ""])


def planned(
    items: Sequence[Noticed], found: Iterable[Noticed], closed: Iterable[Noticed]
) -> tuple[Noticed, ...]:
    """The items once ``closed`` are gone and ``found`` are in, as far as there is room."""
    gone = tuple(closed)
    kept = tuple(item for item in items if not any(same(item, each) for each in gone))
    for new in found:
        kept = admit(kept, new) or kept
    return kept


def without(source: str, gone: Sequence[Noticed]) -> str:
    """The file without the lines of ``gone``."""
    lines = source.splitlines(keepends=True)
    return "".join(line for line in lines if (item := _item(line)) is None or item not in gone)


def read_to(source: str) -> int:
    """The number of the last memory that was looked at; 0 if the file does not say."""
    marks = _READ_TO.findall(source)
    return int(marks[-1]) if marks else 0
