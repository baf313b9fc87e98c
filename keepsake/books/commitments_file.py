"""The file of promises and rules: a line for each, other text left as it is.

::

    - promise to Jonas: a bowl of soup (memory 241, 2026-11-12T18:02:09+00:00, by 12-20261101090000)
    - rule from Ada: never open the cellar door (memory 17) [done]

Only a line that begins with ``- promise to`` or ``- rule from`` counts, and a person needs to
write no more than a name, a colon and the words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from keepsake.language.perception import for_prompt, shorten

LONGEST = 160
"""Characters of one promise or rule."""
_MOST_LINES = 200
"""Lines of the file that count."""
_SOMEBODY = "somebody"
_DONE = " [done]"

NEW_FILE = """\
# Promises and rules

What this agent has promised, and what it keeps to. It writes its promises here itself; people may
add, change and take out lines. What is open stands in every prompt, and no compaction touches it.
`[done]` at the end of a line: it is over. Text that is no such line is for its reader alone.

"""
_LINE = re.compile(
    r"^- (?P<kind>rule|promise) (?:from|to|of) (?P<who>[^:]{1,48}): (?P<text>\S.*?)"
    r"(?: \(memory (?P<number>\d{1,9})(?:, (?P<time>[\dT:.+-]{10,40}))?"
    r"(?:, by (?P<key>[\w:.-]{1,60}))?\))?(?P<done> \[done\])?[ \t]*$"
)


class CommitmentKind(StrEnum):
    """What an agent is bound by."""

    RULE = "rule"
    PROMISE = "promise"


@dataclass(frozen=True, slots=True)
class Commitment:
    """A promise of the agent, or a rule that it keeps to."""

    kind: CommitmentKind
    who: str  # whom it promised it, or who gave the rule; empty if that is not known
    text: str
    number: int = 0  # the memory that it rests on; 0 where a person wrote it into the file
    time: datetime | None = None
    key: str = ""  # who that is, as in :attr:`keepsake.archive.records.Memory.source_id`
    done: bool = False

    @property
    def line(self) -> str:
        """As a prompt shows it: ``You promised Jonas: a bowl of soup (memory 241)``."""
        if self.kind is CommitmentKind.PROMISE:
            head = f"You promised {self.who}" if self.who else "You promised"
        else:
            head = f"{self.who or 'Somebody'} told you"
        end = f" (memory {self.number})" if self.number else ""
        return f"{head}: {self.text}{end}"

    @property
    def meaning(self) -> tuple[str, str, str]:
        """What is the same of two that say the same."""
        return self.kind.value, self.who.casefold(), self.text.casefold()


def commitments_in(source: str) -> tuple[Commitment, ...]:
    """The promises and rules of a file, in its order."""
    found = [item for line in source.splitlines() if (item := _item(line)) is not None]
    return tuple(found[:_MOST_LINES])


def with_commitment(source: str | None, item: Commitment) -> str:
    """The file with one more line; of one that is done, a new line opens it again."""
    before = source if source and source.strip() else NEW_FILE
    body = _mapped(before, lambda each: None if each.meaning == item.meaning else each)
    return f"{body.rstrip()}\n{'' if commitments_in(body) else '\n'}{_written(item)}\n"


def with_done(source: str, item: Commitment) -> str:
    """The file with ``item`` marked as done."""
    return _mapped(source, lambda each: replace(each, done=True) if each == item else each)


def without(source: str, gone: Callable[[Commitment], bool]) -> str:
    """The file without the lines of which ``gone`` is true."""
    return _mapped(source, lambda each: None if gone(each) else each)


def _mapped(source: str, change: Callable[[Commitment], Commitment | None]) -> str:
    lines: list[str] = []
    for line in source.splitlines(keepends=True):
        if (item := _item(line)) is None or (new := change(item)) == item:
            lines.append(line)
        elif new is not None:
            lines.append(f"{_written(new)}\n")
    return "".join(lines)


def _item(line: str) -> Commitment | None:
    match = _LINE.match(line.rstrip())
    if match is None:
        return None
    who = "" if match["who"].casefold() == _SOMEBODY else match["who"].strip()
    return Commitment(
        CommitmentKind(match["kind"]),
        for_prompt(who),
        shorten(for_prompt(match["text"]), 2 * LONGEST),
        int(match["number"] or 0),
        _time(match["time"]),
        match["key"] or "",
        match["done"] is not None,
    )


def _time(written: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(written) if written else None
    except ValueError:
        return None  # a person's own way of writing it


def _written(item: Commitment) -> str:
    preposition = "to" if item.kind is CommitmentKind.PROMISE else "from"
    time = f", {item.time.isoformat(timespec='seconds')}" if item.time else ""
    by = f", by {item.key}" if item.key else ""
    end = f" (memory {item.number}{time}{by})" if item.number else ""
    done = _DONE if item.done else ""
    return f"- {item.kind.value} {preposition} {item.who or _SOMEBODY}: {item.text}{end}{done}"
