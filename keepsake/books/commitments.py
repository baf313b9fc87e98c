"""Promises and rules, kept out of reach of every compaction.

``vault/agents/<name>/noticed.md`` is the list::

    - promise to Jonas: a bowl of soup (memory 241, by 12-20261101090000)
    - rule from Ada: never open the cellar door

The agent adds a promise with its verb ``promise`` and takes it out with ``kept``; people edit the
file. Reading is quick and never raises; writing blocks, and belongs in a worker thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from keepsake.books.files import ListBook, meant
from keepsake.errors import NoteRefused
from keepsake.language.perception import for_prompt, shorten
from keepsake.prompt.tokens import most_tokens

LIMIT = 400
"""Estimated tokens of all open promises and rules in a prompt."""
LONGEST = 160
"""Characters of one promise or rule."""
_SOMEBODY = "somebody"

_NEW_FILE = """\
# Promises and rules

What this agent has promised, and what it keeps to. It adds its promises itself, and takes out those
that it has kept; people may add, change and take out lines. They stand in every prompt.
"""
_LINE = re.compile(
    r"^- (?P<kind>rule|promise) (?:from|to|of) (?P<who>[^:]{1,48}): (?P<text>\S.*?)"
    r"(?: \(memory (?P<number>\d{1,9})(?:, [\dT:.+-]{10,40})?"
    r"(?:, by (?P<key>[\w:.-]{1,60}))?\))?(?<! \[done\])[ \t]*$"
)
"""Earlier versions also say when it was, and end with ``[done]`` what is over."""


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
    key: str = ""  # who that is, as in :attr:`keepsake.archive.records.Memory.source_id`

    @property
    def line(self) -> str:
        """As a prompt shows it: ``You promised Jonas: a bowl of soup (memory 241)``."""
        promised = f"You promised {self.who}".rstrip()
        is_promise = self.kind is CommitmentKind.PROMISE
        head = promised if is_promise else f"{self.who or 'Somebody'} told you"
        end = f" (memory {self.number})" if self.number else ""
        return f"{head}: {self.text}{end}"

    @property
    def cost(self) -> int:
        """Tokens of its line."""
        return most_tokens(f"- {self.line}\n")


class Commitments(ListBook[Commitment]):
    """The promises and rules of one agent; safe to use from several threads."""

    of, head = "promises", _NEW_FILE

    @staticmethod
    def read_line(line: str) -> Commitment | None:
        """The promise or rule in a line."""
        match = _LINE.match(line)
        if match is None:
            return None
        who = "" if match["who"].casefold() == _SOMEBODY else match["who"].strip()
        return Commitment(
            CommitmentKind(match["kind"]),
            for_prompt(who),
            shorten(for_prompt(match["text"]), 2 * LONGEST),
            int(match["number"] or 0),
            match["key"] or "",
        )

    @staticmethod
    def write_line(item: Commitment) -> str:
        """The line of a promise or rule."""
        preposition = "to" if item.kind is CommitmentKind.PROMISE else "from"
        by = f", by {item.key}" if item.key else ""
        end = f" (memory {item.number}{by})" if item.number else ""
        return f"- {item.kind.value} {preposition} {item.who or _SOMEBODY}: {item.text}{end}"

    @property
    def lines(self) -> tuple[str, ...]:
        """What a prompt shows, as :meth:`lines_before` without an end."""
        return self.lines_before(None)

    def lines_before(
        self, number: int | None, may: Callable[[int], bool] = lambda _: True
    ) -> tuple[str, ...]:
        """Rules, then promises, as lines of a prompt, as many as :data:`LIMIT` allows.

        Args:
            number: The first memory of the window, which says itself what comes after it; None
                for all.
            may: Whether what rests on the memory of that number may be shown.
        """
        room, shown = LIMIT, list[str]()
        for item in sorted(self.items, key=lambda each: each.kind, reverse=True):
            if item.cost <= room:  # people may write more into the file
                room -= item.cost
                if (number is None or item.number < number) and may(item.number):
                    shown.append(item.line)
        return tuple(shown)

    def add(self, new: Commitment, by: str = "agent") -> Commitment:
        """Add a promise or a rule.

        Returns:
            It as it is kept.

        Raises:
            NoteRefused: It has no words, is too long or there already, or the list is full.
        """
        # Double quotes and dashes at the start mean something in a script and in a list.
        text = for_prompt(new.text.replace('"', "'").lstrip("-*#> "))
        if not any(char.isalnum() for char in text):
            raise NoteRefused("The promise has no words", "Write: promise <to whom>: <what>")
        if len(text) > LONGEST:
            raise NoteRefused(f"That is {len(text)} characters", f"Promise in at most {LONGEST}")
        who = " ".join(for_prompt(new.who).replace(":", " ").split())[:48].strip()
        item = replace(new, who=who, text=text)

        def plan(items: tuple[Commitment, ...]) -> list[Commitment | None]:
            same = (each for each in items if (each.kind, each.who) == (item.kind, item.who))
            if any(each.text.casefold() == text.casefold() for each in same):
                raise NoteRefused("That stands in the list already")
            if sum(each.cost for each in (*items, item)) > LIMIT:
                told = f"The list of promises is full ({len(items)})"
                raise NoteRefused(told, "Keep one first: kept <number>")
            return [*items, item]

        self._change(plan)
        self._store.tell("noticed", by, n=item.number, of=item.kind.value, size=len(item.text))
        return item

    def meant(self, which: str) -> Commitment:
        """The one that the number of its memory means, or words that only it has.

        Raises:
            NoteRefused: None is meant, or several may be.
        """
        items = self.items
        numbers, lines = [each.number for each in items], [each.line for each in items]
        return items[meant(which, numbers, lines, "open promises")]

    def close(self, which: Callable[[Commitment], bool], by: str = "builder") -> int:
        """Take out those of which ``which`` is true; how many there were.

        Raises:
            NoteRefused: The file cannot be written; nothing is gone.
        """
        gone = [each for each in self.items if which(each)]
        if gone:
            self._change(lambda items: [None if which(each) else each for each in items])
        for each in gone:
            self._store.tell("closed", by, n=each.number, of=each.kind.value, size=len(each.text))
        return len(gone)
