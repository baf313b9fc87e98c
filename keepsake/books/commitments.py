"""Promises and rules, kept out of reach of every compaction.

``vault/agents/<name>/noticed.md`` is the list. The agent adds a promise with its verb ``promise``
and closes it with ``kept``; builders and other people edit the file. Reading is quick and never
raises; writing blocks, and belongs in a worker thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from keepsake.books.commitments_file import (
    NEW_FILE,
    Commitment,
    CommitmentKind,
    read_line,
    written,
)
from keepsake.books.list_file import ListFile, meant
from keepsake.errors import NoteRefused
from keepsake.events.types import MemoryChange
from keepsake.prompt.tokens import most_tokens
from keepsake.records.store import Report, Tell

LIMIT = 400
"""Estimated tokens of all open promises and rules in a prompt."""


class Commitments:
    """The promises and rules of one agent; safe to use from several threads."""

    def __init__(
        self,
        path: Path,
        log: Report = lambda _: None,
        agent: str = "",
        tell: Tell = lambda _: None,
    ) -> None:
        self.path = path
        self._agent, self._tell = agent, tell
        self._file = ListFile(path, read_line, written, self._changed, report=log, head=NEW_FILE)

    @property
    def items(self) -> tuple[Commitment, ...]:
        """All that is open, in the order of the file; its last good state if it cannot be read."""
        return tuple(item for item in self._file.known() if not item.done)

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
        return tuple(
            item.line
            for item in _shown(self.items)
            if (number is None or item.number < number) and may(item.number)
        )

    def add(self, new: Commitment, by: str = "agent") -> Commitment:
        """Add a promise or a rule; one that is done and says the same is opened again.

        Returns:
            It as it is kept.

        Raises:
            NoteRefused: It has no words, is too long or there already, or the list is full.
        """
        item = new.checked()

        def plan(items: tuple[Commitment, ...]) -> list[Commitment | None]:
            current = [each for each in items if not each.done]
            if any(map(item.same, current)):
                raise NoteRefused("That stands in the list already")
            if _cost(*current, item) > LIMIT:
                raise NoteRefused(
                    f"The list of promises is full ({len(current)})",
                    "Keep one first: kept <number>",
                )
            return [*(None if item.same(each) else each for each in items), item]

        self._file.change(plan, by)
        return item

    def close(self, which: Commitment, by: str = "agent") -> None:
        """Mark one as done.

        Raises:
            NoteRefused: The file cannot be written.
        """
        done = replace(which, done=True)
        self._file.change(lambda items: [done if each == which else each for each in items], by)

    def meant(self, which: str) -> Commitment:
        """The one that the number of its memory means, or words that only it has.

        Raises:
            NoteRefused: None is meant, or several may be.
        """
        items = self.items
        numbers, lines = [each.number for each in items], [each.line for each in items]
        return items[meant(which, numbers, lines, "open promises")]

    def drop(self, theirs: Callable[[Commitment], bool], by: str = "builder") -> int:
        """Take out all of which ``theirs`` is true; how many open ones there were.

        Raises:
            NoteRefused: The file cannot be written; nothing is gone.
        """
        known = self._file.known()
        if any(map(theirs, known)):
            self._file.change(lambda items: [None if theirs(e) else e for e in items], by)
        return sum(theirs(each) and not each.done for each in known)

    def _changed(self, item: Commitment, came: bool, by: str) -> None:
        if not item.done:
            op, of, size = "noticed" if came else "closed", item.kind.value, len(item.text)
            self._tell(
                MemoryChange(agent=self._agent, op=op, n=item.number, of=of, size=size, by=by)
            )


def _shown(items: tuple[Commitment, ...]) -> Iterator[Commitment]:
    """Rules, then promises, as many as fit: people may write more into the file."""
    room, order = LIMIT, list(CommitmentKind)
    for item in sorted(items, key=lambda each: order.index(each.kind)):
        if (cost := _cost(item)) <= room:
            room -= cost
            yield item


def _cost(*items: Commitment) -> int:
    return sum(most_tokens(f"- {item.line}\n") for item in items)
