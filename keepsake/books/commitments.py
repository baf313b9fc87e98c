"""What an agent has promised and which rules it keeps to, out of reach of every compaction.

``vault/agents/<name>/noticed.md`` is the list. The agent adds a promise with its verb ``promise``
and closes it with ``kept``; builders and other people edit the file. Reading is quick and never
raises; writing blocks, and belongs in a worker thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from keepsake.books.commitments_file import (
    LONGEST,
    Commitment,
    CommitmentKind,
    commitments_in,
    with_commitment,
    with_done,
    without,
)
from keepsake.errors import NoteRefused
from keepsake.events.types import MemoryChange
from keepsake.language.perception import for_prompt
from keepsake.prompt.tokens import most_tokens
from keepsake.records.store import RecordStore, Report, Tell

LIMIT = 400
"""Estimated tokens of all open promises and rules in a prompt."""

type _Held = tuple[Commitment, ...]


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
        self._store = RecordStore[_Held](
            lambda _, source, __: commitments_in(source),
            lambda _, before, after: self._tell_changes(before or (), after or (), "hand"),
            log,
        )

    # -- reading

    @property
    def items(self) -> tuple[Commitment, ...]:
        """All that is open, in the order of the file; its last good state if it cannot be read."""
        self._store.look([self.path])
        return tuple(item for item in self._store.known(self.path) or () if not item.done)

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

    def made_in(self, number: int) -> bool:
        """Whether something open rests on the memory of that number."""
        return any(item.number == number for item in self.items)

    # -- writing

    def add(self, new: Commitment, by: str = "agent") -> Commitment:
        """Add a promise or a rule.

        Returns:
            It as it is kept.

        Raises:
            NoteRefused: It has no words, is too long or there already, or the list is full.
        """
        item = _checked(new)

        def make(source: str | None, known: _Held | None) -> str:
            items = [each for each in known or () if not each.done]
            if any(each.meaning == item.meaning for each in items):
                raise NoteRefused("That stands in the list already")
            if _cost(*items, item) > LIMIT:
                raise NoteRefused(
                    f"The list of promises is full ({len(items)})",
                    "Keep one first: kept <number>",
                )
            return with_commitment(source, item)

        self._write(make, by)
        return item

    def close(self, which: Commitment, by: str = "agent") -> None:
        """Mark one as done.

        Raises:
            NoteRefused: The file cannot be written.
        """
        self._write(lambda source, _: with_done(source or "", which), by)

    def meant(self, which: str) -> Commitment:
        """The one that the number of its memory means, or words that only it has.

        Raises:
            NoteRefused: None is meant, or several may be.
        """
        wanted, items = which.strip().strip("#()").casefold(), self.items
        found = [each for each in items if wanted == str(each.number)]
        found = found or [each for each in items if wanted and wanted in each.line.casefold()]
        if len(found) == 1:
            return found[0]
        why = "may be several" if found else "is none"
        listed = "; ".join(each.line for each in items) or "There are none"
        raise NoteRefused(f"{which[:60]!r} {why} of the open promises", listed)

    def drop(self, theirs: Callable[[Commitment], bool], by: str = "builder") -> int:
        """Take out all open ones of which ``theirs`` is true; how many there were.

        Raises:
            NoteRefused: The file cannot be written; nothing is gone.
        """
        count = sum(map(theirs, self.items))
        if count:
            gone = _open_and(theirs)
            self._write(lambda source, _: without(source or "", gone), by)
        return count

    # -- inside

    def _write(self, make: Callable[[str | None, _Held | None], str], by: str) -> None:
        before, after = self._store.change(self.path, make)
        self._tell_changes(before or (), after, by)

    def _tell_changes(self, before: _Held, after: _Held, by: str) -> None:
        was, now = ([each for each in items if not each.done] for items in (before, after))
        for op, items, others in (("noticed", now, was), ("closed", was, now)):
            for item in (each for each in items if each not in others):
                of, n, size = item.kind.value, item.number, len(item.text)
                self._tell(MemoryChange(agent=self._agent, op=op, n=n, of=of, size=size, by=by))


def _open_and(theirs: Callable[[Commitment], bool]) -> Callable[[Commitment], bool]:
    return lambda each: not each.done and theirs(each)


def _checked(new: Commitment) -> Commitment:
    # Double quotes and dashes at the start mean something in a script and in a list.
    text = for_prompt(new.text.replace('"', "'").lstrip("-*#> "))
    if not any(char.isalnum() for char in text):
        raise NoteRefused("The promise has no words", "Write: promise <to whom>: <what>")
    if len(text) > LONGEST:
        raise NoteRefused(f"That is {len(text)} characters", f"Promise in at most {LONGEST}")
    who = " ".join(for_prompt(new.who).replace(":", " ").split())[:48].strip()
    return replace(new, who=who, text=text, done=False)


def _shown(items: tuple[Commitment, ...]) -> Iterator[Commitment]:
    """Rules, then promises, as many as fit: people may write more into the file."""
    room, order = LIMIT, list(CommitmentKind)
    for item in sorted(items, key=lambda each: order.index(each.kind)):
        if (cost := _cost(item)) <= room:
            room -= cost
            yield item


def _cost(*items: Commitment) -> int:
    return sum(most_tokens(f"- {item.line}\n") for item in items)
