"""A line of the file of promises and rules.

::

    - promise to Jonas: a bowl of soup (memory 241, 2026-11-12T18:02:09+00:00, by 12-20261101090000)
    - rule from Ada: never open the cellar door (memory 17) [done]

Only a line that begins with ``- promise to`` or ``- rule from`` counts, and a person needs to
write no more than a name, a colon and the words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from keepsake.errors import NoteRefused
from keepsake.language.perception import for_prompt, shorten

LONGEST = 160
"""Characters of one promise or rule."""
_SOMEBODY = "somebody"

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

    def same(self, other: Commitment) -> bool:
        """Whether two say the same."""
        mine, theirs = f"{self.who}: {self.text}", f"{other.who}: {other.text}"
        return self.kind is other.kind and mine.casefold() == theirs.casefold()

    def checked(self) -> Commitment:
        """It, open, with who and words as a line can hold them.

        Raises:
            NoteRefused: It has no words, or is too long.
        """
        # Double quotes and dashes at the start mean something in a script and in a list.
        text = for_prompt(self.text.replace('"', "'").lstrip("-*#> "))
        if not any(char.isalnum() for char in text):
            raise NoteRefused("The promise has no words", "Write: promise <to whom>: <what>")
        if len(text) > LONGEST:
            raise NoteRefused(f"That is {len(text)} characters", f"Promise in at most {LONGEST}")
        who = " ".join(for_prompt(self.who).replace(":", " ").split())[:48].strip()
        return replace(self, who=who, text=text, done=False)


def read_line(line: str) -> Commitment | None:
    """The promise or rule in a line; None for any other line."""
    match = _LINE.match(line)
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


def written(item: Commitment) -> str:
    """Its line."""
    preposition = "to" if item.kind is CommitmentKind.PROMISE else "from"
    time = f", {item.time.isoformat(timespec='seconds')}" if item.time else ""
    by = f", by {item.key}" if item.key else ""
    end = f" (memory {item.number}{time}{by})" if item.number else ""
    done = " [done]" if item.done else ""
    return f"- {item.kind.value} {preposition} {item.who or _SOMEBODY}: {item.text}{end}{done}"
