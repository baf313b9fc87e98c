"""Pins, promises and rules: lines in every prompt that no compaction touches.

``vault/agents/<name>/pinned.md`` has one line with a dash for each pin. A pin by the agent itself
ends with a mark, which prompts do not show. All other pins are the builders': the agent can neither
unpin them nor crowd them out. ``noticed.md`` lists promises and rules::

    - promise to Jonas: a bowl of soup (memory 241, for 2026-12-01, by 12-20261101090000)
    - rule from Ada: never open the cellar door

The agent adds a promise with the verb ``promise`` and removes it with ``kept``. People edit the
file. Other text in these files is for people and stays as it is. Reading is fast and never raises.
Writing blocks, so do it in a worker thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count
from pathlib import Path

from keepsake.books.aloud import ALOUD, Aloud, aloud_in
from keepsake.books.files import NO_OWNER, Owner, RecordStore
from keepsake.errors import NoteRefused
from keepsake.events.values import Author, MemoryOp
from keepsake.language.due import DUE, DueDay, read_due
from keepsake.language.perception import for_prompt, one_line, shorten
from keepsake.language.tokens import CHARACTERS_PER_TOKEN

PINNED_LIMIT = 1200
"""Most characters of all pinned lines together, about 300 tokens of every prompt."""
LONGEST_PIN = 300
"""Most characters of one pinned line: four such lines fill the block."""
PINNED = "pinned.md"
NOTICED = "noticed.md"
"""The files of an agent's folder with its pins, and with its promises and rules."""
OWN = "<!-- by the agent itself -->"
"""Mark after a line that the agent pinned. A person who deletes it makes the line a builder's."""
PROMISED_LIMIT = 400  # most estimated tokens of all open promises and rules in a prompt
LONGEST_PROMISE = 160  # characters of one promise or rule
MOST_LIST_BYTES = 250_000
"""The most bytes of a list. It is read on the reactor as soon as a person has saved it, where a
thousand lines take a quarter of a second. A list of the game's own has less than a hundred."""
_PIN = re.compile(rf"^[ \t]*-[ \t]+(?P<text>\S.*?)[ \t]*(?P<own>{re.escape(OWN)}[ \t]*)?$")
_SOMEBODY = "somebody"

_PROMISE = re.compile(
    r"^- (?P<kind>rule|promise) (?:from|to|of) (?P<who>[^:]{1,48}): (?P<text>\S.*?)"
    r"(?: \((?=memory |for )(?:memory (?P<number>\d{1,9}))?(?:, [\dT:.+-]{10,40})?"
    rf"(?:(?:, )?for (?P<due>{DUE}))?"
    rf"(?:, by (?P<key>[\w:.-]{{1,60}}))?{ALOUD}\))?(?<! \[done\])[ \t]*$"
)
"""Earlier versions also record the time, and end finished promises with ``[done]``."""

_PROMISED = re.compile(
    rf"You promised(?: (?P<who>[^:,]+))?(?:, for {DUE})?: (?P<text>.*?)"
    r"(?: \(memory (?P<number>\d+)\))?"
)
"""A promise as prompts show it."""


class ListBook[T]:
    """A markdown list, one item a line; other text stays.

    Args:
        read: Parses a line; returns None for a line without an item.
        write: Formats an item as a line.

    Attributes:
        store: The file as last read.
    """

    def __init__(
        self, path: Path, owner: Owner, read: Callable[[str], T | None], write: Callable[[T], str]
    ) -> None:
        self.path = path
        self._read = read
        self._written = write
        self.store = RecordStore[tuple[T, ...]](
            lambda _, source, __: self._items(source), owner, most=MOST_LIST_BYTES
        )

    @property
    def items(self) -> tuple[T, ...]:
        """All items, in the order of the file. An unreadable file gives its last good state.

        Fast: it does not wait for a thread that writes the file now.
        """
        return self.store.refresh([self.path], wait=False).get(self.path, ())

    @property
    def problems(self) -> list[str]:
        """The reason why the file cannot be read; empty if it is readable or missing."""
        self.store.refresh([self.path])
        return list(self.store.problems().values())

    def _change(self, plan: Callable[[tuple[T, ...]], T | Collection[int]]) -> None:
        """Append the item that ``plan`` returns, or remove the items at the indices it returns."""
        # ``plan`` may raise, which changes nothing. It is called again if somebody saves meanwhile.

        def make(source: str | None, items: tuple[T, ...] | None) -> str:
            planned = plan(items or ())
            text = source or ""
            if not isinstance(planned, Collection):
                body = text.rstrip()
                gap = "\n" if self._items(body) else "\n\n"  # a blank line below other text
                before = f"{body}{gap}" if body else ""
                return f"{before}{self._written(planned)}\n"
            lines = list[str]()
            place = count()
            for line in text.splitlines(keepends=True):
                if self._read(line.rstrip()) is None or next(place) not in planned:
                    lines.append(line)
            return "".join(lines)

        self.store.change(self.path, make)

    def _items(self, source: str) -> tuple[T, ...]:
        found = (self._read(line.rstrip()) for line in source.splitlines())
        return tuple(item for item in found if item is not None)


def find_item(which: str, numbers: Sequence[int], texts: Sequence[str], of: str) -> int:
    """Return the index of the one item that a number, or words that only it contains, refer to.

    Raises:
        NoteRefused: No item matches, or several do; ``of`` names the kind of item.
    """
    wanted = " ".join(which.split()).strip(". ").casefold()
    number = wanted.removeprefix("number").removeprefix("no.").strip(" #()")
    plain = [text.casefold().strip(". ") for text in texts]
    found = [place for place, each in enumerate(numbers) if number == str(each)]
    found = found or [place for place, text in enumerate(plain) if text == wanted]
    part = "" if number.isdecimal() else wanted  # "2" is not meant to find "memory 24"
    found = found or [place for place, text in enumerate(plain) if part and part in text]
    if len(found) == 1:
        return found[0]
    why = "matches several" if found else "matches none"
    listed = "; ".join(f"{n}. {shorten(text, 60)}" for n, text in zip(numbers, texts, strict=True))
    cure = f"Give its number: {listed}" if listed else "There are none"
    raise NoteRefused(f"{which[:60]!r} {why} of the {of}", cure)


# -- pins


@dataclass(frozen=True, slots=True)
class Pin:
    """One pinned line, and whether the agent pinned it."""

    text: str
    own: bool = field(compare=False)


def _pin_of(line: str) -> Pin | None:
    match = _PIN.match(line)
    return Pin(match["text"], match["own"] is not None) if match else None


def _line_of_pin(pin: Pin) -> str:
    return f"- {pin.text} {OWN}" if pin.own else f"- {pin.text}"


class Pinned(ListBook[Pin]):
    """The pinned block of one agent; safe to use from several threads."""

    def __init__(self, path: Path, owner: Owner = NO_OWNER) -> None:
        super().__init__(path, owner, _pin_of, _line_of_pin)

    @property
    def shown(self) -> tuple[str, ...]:
        """The lines that a prompt shows: the first ones that fit into :data:`PINNED_LIMIT`.

        The builders' lines have priority, whatever their position.
        """
        pins = self.items
        room = PINNED_LIMIT
        kept = set[int]()
        for place in sorted(range(len(pins)), key=lambda place: pins[place].own):
            if (size := len(pins[place].text)) <= room:  # a longer line does not hide others
                room -= size
                kept.add(place)
        return tuple(pins[place].text for place in sorted(kept))

    def add(self, text: str, *, own: bool = False) -> str:
        """Pin one line, and return it as stored.

        Raises:
            NoteRefused: The line is empty, too long or pinned already, or the block is full.
        """
        line = re.sub(r"^-\s+", "", " ".join(one_line(text).replace(OWN, " ").split()))
        if not any(char.isalnum() for char in line):
            raise NoteRefused("There is nothing to pin", "Write: pin <text>")
        if len(line) > LONGEST_PIN:
            cure = f"Pin at most {LONGEST_PIN} a line"
            raise NoteRefused(f"That is {len(line):,} characters", cure)

        def plan(pins: tuple[Pin, ...]) -> Pin:
            if line.casefold() in (pin.text.casefold() for pin in pins):
                raise NoteRefused("That is pinned already")
            used = sum(len(pin.text) for pin in pins)
            if used + len(line) > PINNED_LIMIT:
                raise NoteRefused(
                    f"The pinned block is full ({used:,} of {PINNED_LIMIT:,} characters)",
                    "Unpin something first: unpin <number>",
                )
            return Pin(line, own)

        self._change(plan)
        self.store.emit(MemoryOp.PIN, Author.AGENT if own else Author.BUILDER, size=len(line))
        return line

    def remove(self, which: str, *, only_own: bool = False) -> str:
        """Remove one line, by its number, its words, or words that only it has, and return it.

        Raises:
            NoteRefused: No line matches, several do, or the line is not the agent's own.
        """
        removed = ""

        def plan(pins: tuple[Pin, ...]) -> Collection[int]:
            nonlocal removed
            if not pins:
                raise NoteRefused("Nothing is pinned")
            texts = [pin.text for pin in pins]
            place = find_item(which, range(1, len(pins) + 1), texts, "pinned lines")
            removed = texts[place]
            if only_own and not pins[place].own:
                raise NoteRefused(
                    f"{removed[:60]!r} was not pinned by you", "You can unpin what you pinned"
                )
            return (place,)

        self._change(plan)
        by = Author.AGENT if only_own else Author.BUILDER
        self.store.emit(MemoryOp.UNPIN, by, size=len(removed))
        return removed


# -- promises and rules


class CommitmentKind(StrEnum):
    """The kinds of commitment."""

    RULE = "rule"
    PROMISE = "promise"


@dataclass(frozen=True, slots=True)
class Commitment:
    """A promise of the agent, or a rule that it follows."""

    kind: CommitmentKind
    who: str  # the promisee, or the giver of the rule; empty if not known
    text: str
    number: int = 0  # the memory it rests on; 0 if a person wrote it into the file
    key: str = ""  # id of ``who``, as in :attr:`keepsake.archive.records.Memory.source_id`
    aloud: Aloud | None = None  # what was said aloud that asks for a private promise
    due: DueDay | None = None  # the day that it is for; None if it names none

    @property
    def line(self) -> str:
        """Its line in a prompt: ``You promised Jonas: a bowl of soup (memory 241)``.

        With its day: ``You promised Jonas, for 2026-12-01: …``. The words may say "tomorrow".
        """
        promised = f"You promised {self.who}".rstrip()
        promised += f", for {self.due.line}" if self.due is not None else ""
        is_promise = self.kind is CommitmentKind.PROMISE
        head = promised if is_promise else f"{self.who or 'Somebody'} told you"
        end = f" (memory {self.number})" if self.number else ""
        return f"{head}: {self.text}{end}"

    def as_known_to(self, may: Callable[[int], bool]) -> Commitment | None:
        """Return it as somebody may know it; None if they may not know of it.

        ``may``: Returns whether they may know a text that rests on the memory of that number.
        """
        if may(self.number):
            return self
        if self.aloud is None or not may(self.aloud.number):
            return None
        return replace(
            self, text=self.aloud.request, number=self.aloud.number, aloud=None, due=None
        )

    @property
    def cost(self) -> int:
        """The estimated tokens of its line, from its bytes. The line is never cut."""
        return -(-len(f"- {self.line}\n".encode(errors="replace")) // CHARACTERS_PER_TOKEN)


def promised_in(line: str) -> tuple[str, str]:
    """Return to whom and what was promised, of a promise's :attr:`Commitment.line`."""
    match = _PROMISED.fullmatch(line)
    return (match["who"] or "", match["text"]) if match else ("", line)


def promised_after(line: str) -> int:
    """Return the number of the memory on which a promise rests, of its line; 0 for none."""
    match = _PROMISED.fullmatch(line)
    return int(match["number"] or 0) if match else 0


def _commitment_of(line: str) -> Commitment | None:
    if (match := _PROMISE.match(line)) is None:
        return None
    who = "" if match["who"].casefold() == _SOMEBODY else match["who"].strip()
    return Commitment(
        CommitmentKind(match["kind"]),
        for_prompt(who),
        shorten(for_prompt(match["text"]), 2 * LONGEST_PROMISE),
        int(match["number"] or 0),
        match["key"] or "",
        aloud_in(match),
        read_due(match["due"] or ""),
    )


def _line_of_commitment(item: Commitment) -> str:
    preposition = "to" if item.kind is CommitmentKind.PROMISE else "from"
    facts = [f"memory {item.number}"] if item.number else []
    facts += [f"for {item.due.line}"] if item.due is not None else []
    if item.number:
        facts += [f"by {item.key}"] if item.key else []
        facts += [item.aloud.fact] if item.aloud is not None else []
    end = f" ({', '.join(facts)})" if facts else ""
    return f"- {item.kind.value} {preposition} {item.who or _SOMEBODY}: {item.text}{end}"


class Commitments(ListBook[Commitment]):
    """The promises and rules of one agent; safe to use from several threads."""

    def __init__(self, path: Path, owner: Owner = NO_OWNER) -> None:
        super().__init__(path, owner, _commitment_of, _line_of_commitment)

    def lines(
        self, number: int | None = None, may: Callable[[int], bool] = lambda _: True
    ) -> tuple[str, ...]:
        """Return rules, then promises, as prompt lines, as many as :data:`PROMISED_LIMIT` allows.

        Args:
            number: The first memory of the window; later commitments are left out, as the window
                shows them, unless it shows them without their words. None for all.
            may: Returns whether text that rests on the memory of that number may be shown.
        """
        room = PROMISED_LIMIT
        shown = list[str]()
        for item in sorted(self.items, key=lambda each: each.kind, reverse=True):
            if item.cost <= room:  # people may have written more than fits
                room -= item.cost
                known = item.as_known_to(may)
                in_window = known is item and number is not None and item.number >= number
                if known is not None and not in_window:
                    shown.append(known.line)
        return tuple(shown)

    def add(self, new: Commitment, by: Author = Author.AGENT) -> Commitment:
        """Add a promise or a rule, and return it as stored.

        Raises:
            NoteRefused: It has no words, is too long or there already, or the list is full.
        """
        # Double quotes, and dashes at the start, have a meaning in a script and in a list.
        text = for_prompt(new.text.replace('"', "'").lstrip("-*#> "))
        if not any(char.isalnum() for char in text):
            raise NoteRefused("The promise has no words", "Write: promise <to whom>: <what>")
        if len(text) > LONGEST_PROMISE:
            raise NoteRefused(
                f"That is {len(text)} characters", f"Promise in at most {LONGEST_PROMISE}"
            )
        who = " ".join(for_prompt(new.who).replace(":", " ").split())[:48].strip()
        item = replace(new, who=who, text=text)

        def plan(items: tuple[Commitment, ...]) -> Commitment:
            same = (each for each in items if (each.kind, each.who) == (item.kind, item.who))
            if any(each.text.casefold() == text.casefold() for each in same):
                raise NoteRefused("That is already in the list")
            if sum(each.cost for each in (*items, item)) > PROMISED_LIMIT:
                told = f"The list of promises is full ({len(items)})"
                raise NoteRefused(told, "Close one first: kept <number>")
            return item

        self._change(plan)
        self.store.emit(
            MemoryOp.NOTICED, by, n=item.number, of=item.kind.value, size=len(item.text)
        )
        return item

    def find(
        self, which: str, shown: Callable[[Commitment], Commitment | None] = lambda each: each
    ) -> Commitment:
        """Return the commitment that the number of its memory, or words that only it has, refer to.

        Args:
            shown: Returns a commitment as it is known; None if it may not be named. No refusal
                tells of any such.

        Raises:
            NoteRefused: No commitment matches, or several do.
        """
        known = [(each, shown(each)) for each in self.items]
        named = [(each, as_known) for each, as_known in known if as_known is not None]
        numbers = [as_known.number for _, as_known in named]
        lines = [as_known.line for _, as_known in named]
        return named[find_item(which, numbers, lines, "open promises")][0]

    def close(self, which: Callable[[Commitment], bool], by: Author = Author.BUILDER) -> int:
        """Remove the commitments for which ``which`` is true; return their number.

        Raises:
            NoteRefused: The file cannot be written; nothing was removed.
        """
        gone = [each for each in self.items if which(each)]
        if gone:
            self._change(lambda items: [n for n, each in enumerate(items) if which(each)])
        for each in gone:
            self.store.emit(
                MemoryOp.CLOSED, by, n=each.number, of=each.kind.value, size=len(each.text)
            )
        return len(gone)
