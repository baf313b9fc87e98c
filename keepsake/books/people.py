"""The people whom one agent knows: a page each, in a folder, and what of them a prompt shows.

Memories are worked in by number: every page knows the last one that is in it, and the book the
last one that it has looked at. Both are on the disk, the pages first, so that a crash at any moment
costs doing the same again, which changes nothing. A page that cannot be read is named and left
alone until somebody mends it.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.files import (
    NO_OWNER,
    Owner,
    RecordStore,
    free_name,
    pages,
    read,
    replace_file,
    unusable,
)
from keepsake.books.person_page import PersonPage, parse_page, worked_in, written
from keepsake.json_lines import in_json, parsed
from keepsake.language.heard import key_of
from keepsake.language.perception import MONTHS, fit_name, for_prompt, quoted
from keepsake.names import folder_name
from keepsake.ports import Tokens

FOLDER = "people"
BUDGET = 300
"""Tokens of a small prompt that lines about people may fill."""
MOST_SHOWN, MOST_QUOTES = 6, 4
"""People of a room in a prompt, and what each confided, said or did last."""
_LONGEST, _LONGEST_QUOTE = 2_000, 300
_WORKED_IN = ".worked_in.json"

type May = Callable[[Iterable[int]], bool]
"""Whether the audience may hear what rests on the memories of those numbers."""


class PeopleBook:
    """All the people whom one agent knows; safe to use from several threads.

    All methods read or write files and belong in a worker thread.

    Attributes:
        known: The pages as they were read last, by key; empty until the book was opened. Made
            anew when a file changed, never changed, so that a reader needs no lock.
    """

    def __init__(self, folder: Path, owner: Owner = NO_OWNER) -> None:
        self.folder = folder / FOLDER
        self._store = RecordStore(
            lambda _, source, at: parse_page(source, at.replace(microsecond=0)), owner
        )
        self._through: int | None = None
        self._paths: dict[str, Path] = {}
        self.known: Mapping[str, PersonPage] = {}

    # -- reading

    def look(self) -> None:
        """See which files people have changed; every other blocking method does it too."""
        with self._store.lock:
            self._store.look(pages(self.folder))
            self._index()

    @property
    def through(self) -> int:
        """Number of the last memory that was looked at; give :meth:`take` all after it."""
        with self._store.lock:
            if self._through is None:
                self.look()
                # Where that cannot be read, all is looked at again, which does no harm.
                self._through = 0
                with suppress(OSError, ValueError, TypeError):
                    text = read(self.folder / _WORKED_IN) or ""
                    self._through = max(int(parsed(text).get("through", 0)), 0)
            return self._through

    @property
    def problems(self) -> list[str]:
        """What is wrong with files that cannot be read, one sentence each."""
        self.look()
        return list(self._store.problems().values())

    def page(self, key: str) -> PersonPage | None:
        """The page as its file is now; None for nobody known."""
        self.look()
        return self.known.get(key)

    def all(self) -> list[PersonPage]:
        """Everybody, those met last first."""
        self.look()
        return sorted(self.known.values(), key=lambda each: each.last_met, reverse=True)

    # -- writing

    def take(self, memories: Iterable[Memory]) -> None:
        """Work memories in; those that are in already change nothing.

        ``memories``: All that the agent lived through after :attr:`through`, in one go or in
        several; what is left out is never worked in.

        Raises:
            NoteRefused: A file could not be written. Nothing is lost: give the same again.
        """
        with self._store.lock:
            self.look()
            work = dict[str, list[Memory]]()
            new = sorted(
                (each for each in memories if each.number > self.through), key=lambda it: it.number
            )
            for memory in new:
                if memory.kind is MemoryKind.PERCEPTION and (key := key_of(memory)):
                    work.setdefault(key, []).append(memory)
            for key, found in work.items():
                self._work_in(key, found)
            if new:  # once the pages are on the disk, so that nothing is skipped
                path, text = self.folder / _WORKED_IN, in_json({"through": new[-1].number})
                try:
                    replace_file(path, f"{text}\n")
                except OSError as error:
                    raise unusable(path, error) from error
                self._through = new[-1].number

    def conclude(self, key: str, edit: Callable[[PersonPage], PersonPage]) -> None:
        """Change what the agent makes of somebody, asleep.

        Raises:
            NoteRefused: Its file cannot be read or written.
        """
        with self._store.lock:
            if (known := self.page(key)) is not None:
                old, new = self._write(self._paths[key], lambda page: edit(page or known))
                if old != new:
                    self._tell("concluded", "night", new, size=len(new.portrait))

    def _work_in(self, key: str, memories: Sequence[Memory]) -> None:
        """Write one page; one that cannot be read is left as it is."""
        known, end = self.known.get(key), f"-{_suffix(key)}.md"
        fresh = [each for each in memories if known is None or each.number > known.through]
        broken = self._store.problems()
        if not fresh or self._paths.get(key) in broken or any(p.name.endswith(end) for p in broken):
            return
        name = folder_name(worked_in(None, key, fresh).name)
        path = self._paths.get(key) or free_name(self.folder / f"{name}{end}")
        old, new = self._write(path, lambda page: worked_in(page, key, fresh))
        if old is None or old.name != new.name:
            self._tell("renamed" if old else "met", "rules", new, n=fresh[0].number)
        self._tell("profile", "rules", new, n=fresh[-1].number, times=len(fresh))

    def _write(
        self, path: Path, edit: Callable[[PersonPage | None], PersonPage]
    ) -> tuple[PersonPage | None, PersonPage]:
        old, new = self._store.change(path, lambda _, page: written(edit(page)))
        self._index()
        return old, new

    def _index(self) -> None:
        """Know everybody by key."""
        records = self._store.records()
        self._paths = {page.key: path for path, page in records.items()}
        self.known = {page.key: page for page in records.values()}

    def _tell(self, op: str, by: str, page: PersonPage, **facts: int) -> None:
        self._store.tell(op, by, of="person", about=page.name, **facts)


def _suffix(key: str) -> str:
    """What ends a file's name after the person's, so that no two namesakes collide."""
    if re.fullmatch(r"[0-9][0-9-]{0,40}", key):
        return key
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]


# -- in a prompt; quick, from what is in RAM


@dataclass(frozen=True, slots=True)
class Telling:
    """How a prompt tells of people."""

    now: datetime
    tokens: Tokens
    may: May = lambda _: True
    confided: May = lambda _: False  # whether nobody else may hear it
    before: int | None = None  # the first memory of the window, which shows what comes after it


def lines(
    present: Sequence[tuple[str, str]], book: PeopleBook, budget: int, how: Telling
) -> tuple[str, ...]:
    """A line for each of ``present``, within ``budget`` tokens, those met most often first.

    For instance ``Tom, met 9 November: a miller; last said: 'I have found her.'``.

    ``present``: The key and the name of everybody who is there.
    """
    pages = [(name, book.known.get(key)) for key, name in present]
    pages.sort(key=lambda each: each[1].meetings if each[1] else 0, reverse=True)
    told = list[str]()
    for place, (name, page) in enumerate(pages[:MOST_SHOWN], start=1):
        others = min(len(pages), MOST_SHOWN) - place
        room = budget - min(20 * others, budget // 2)
        shown = _shown(fit_name(name), page, how)
        lines = [for_prompt(each, limit=_LONGEST) for each in shown]
        costs = zip(lines, how.tokens.each(lines), strict=True)
        line, cost = next((each for each in costs if each[1] <= room), ("", 0))
        if not line:
            break
        told.append(line)
        budget -= cost
    return tuple(told)


def _shown(name: str, page: PersonPage | None, how: Telling) -> Iterator[str]:
    """What may be said of somebody, the longest first."""
    if page is None:
        yield f"{name}, whom you meet for the first time"
        return
    former = [each for each in page.names if each != name]
    known_as = f" (you knew them as {former[-1]})" if former else ""
    head = f"{name}{known_as}, met {_day(page.first_met, how.now)}"
    remarks = (for_prompt(each).lstrip("-*# ") for each in page.by_hand if each[:2] != "##")
    opinions = (for_prompt(e, limit=_LONGEST).rstrip(".") for e in (*remarks, page.portrait))
    about = ": ".join(filter(None, [head, "; ".join(filter(None, opinions))]))
    quotes: dict[str, list[str]] = {"told you in confidence": [], "last said": [], "you saw": []}
    for each in page.lines:
        if each.numbers[-1] < (how.before or math.inf) and how.may(each.numbers):
            verb = "last said" if each.said else "you saw"
            verb = "told you in confidence" if how.confided(each.numbers) else verb
            words = each.text if each.said else f"{page.name} {each.text}"
            quotes[verb].append(f"{quoted(words, _LONGEST_QUOTE)} ({_day(each.time, how.now)})")
    for most in range(MOST_QUOTES, 0, -1):
        told = (f"{verb}: {', '.join(texts[-most:])}" for verb, texts in quotes.items() if texts)
        yield "; ".join([about, *told])
    yield about
    yield head


def _day(time: datetime, now: datetime) -> str:
    """``9 November``, with the year if it is another."""
    here = time.astimezone()
    year = f" {here.year}" if here.year != now.astimezone().year else ""
    return f"{here.day} {MONTHS[here.month - 1]}{year}"
