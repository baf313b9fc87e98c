"""The people whom one agent knows: a folder with a page for each, and their lines in a prompt.

Memories are added by number. Every page records the last memory that was added to it, and the book
records the last memory that it has processed. Pages are written to the disk first. So after a crash
some memories are processed again, which changes nothing. A page that cannot be read is reported and
left alone until somebody repairs it.
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
from typing import NamedTuple

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.files import (
    NO_OWNER,
    Owner,
    RecordStore,
    free_name,
    pages,
    read,
    stamps,
    unusable,
)
from keepsake.books.person_line import PersonLine
from keepsake.books.person_page import PageLine, PersonPage, format_page, parse_page, with_memories
from keepsake.events.values import Author, MemoryOp
from keepsake.files import Stamp, replace_file
from keepsake.json_lines import in_json, parsed
from keepsake.language.perception import MONTHS, fit_name, for_prompt, quoted, telling
from keepsake.names import folder_name
from keepsake.ports import Tokens

FOLDER = "people"
"""The folder of an agent's pages about people, in its own folder."""
BUDGET = 300  # most tokens of lines about people in a small prompt
MOST_SHOWN = 6
"""The most people of a room in a prompt."""
MOST_QUOTES = 4
"""The most quotes of each kind for each of them."""
_LONGEST_BESIDE = 300
"""The most characters of a line about somebody who is not answered: two or three sentences."""
_LONGEST = 2_000
"""The most characters of a remark or a portrait; a person may have written it."""
_LONGEST_QUOTE = 300
"""The most characters of a quote: as much as of a recalled memory."""
_PROGRESS = ".worked_in.json"
"""The file with the number of the last memory that the pages contain."""

type May = Callable[[Iterable[int]], bool]
"""Returns whether the audience may hear a text that rests on the memories of those numbers."""


class PeopleBook:
    """All the people whom one agent knows; safe to use from several threads.

    All methods read or write files, so call them in a worker thread.

    Attributes:
        known: The pages as last read, by key; empty until the book was opened. A change replaces
            the mapping and never modifies it, so readers need no lock.
        store: The files as last read.
    """

    def __init__(self, folder: Path, owner: Owner = NO_OWNER) -> None:
        self.folder = folder / FOLDER
        self.store = RecordStore(
            lambda _, source, at: parse_page(source, at.replace(microsecond=0)), owner
        )
        self._through: int | None = None
        self._paths: dict[str, Path] = {}
        self._seen: Mapping[str, Stamp] | None = None
        self.known: Mapping[str, PersonPage] = {}

    # -- reading

    def refresh(self) -> None:
        """Read the files that people have changed; every other blocking method does this too."""
        with self.store.lock:
            now = stamps(self.folder)
            # A file that could not be read is tried again: permissions do not change its stamp.
            if now is None or now != self._seen or self.store.problems():
                self.store.refresh(pages(self.folder))
                self._index()
                self._seen = now

    @property
    def through(self) -> int:
        """Number of the last processed memory; give :meth:`take` all later ones."""
        with self.store.lock:
            if self._through is None:
                self.refresh()
                # If the file is unreadable, all memories are processed again, which does no harm.
                self._through = 0
                with suppress(OSError, ValueError, TypeError):
                    text = read(self.folder / _PROGRESS) or ""
                    self._through = max(int(parsed(text).get("through", 0)), 0)
            return self._through

    @property
    def problems(self) -> list[str]:
        """The problems of files that cannot be read, one sentence each."""
        self.refresh()
        return list(self.store.problems().values())

    def page(self, key: str) -> PersonPage | None:
        """Return the page as its file is now; None for an unknown person."""
        self.refresh()
        return self.known.get(key)

    def all(self) -> list[PersonPage]:
        """Return all pages, the most recently met person first."""
        self.refresh()
        return sorted(self.known.values(), key=lambda each: each.last_met, reverse=True)

    def file_of(self, key: str) -> str:
        """Return the name of the file of a page, as last read; empty for an unknown person."""
        path = self._paths.get(key)
        return path.name if path is not None else ""

    # -- writing

    def take(self, memories: Iterable[Memory]) -> None:
        """Add memories to the pages; memories that were added before change nothing.

        ``memories``: All of the agent's memories after :attr:`through`, in one call or in several.
        A memory that is left out is never added.

        Raises:
            NoteRefused: A file could not be written. Nothing is lost: pass the same memories again.
        """
        with self.store.lock:
            self.refresh()
            work = dict[str, list[Memory]]()
            new = sorted(
                (each for each in memories if each.number > self.through), key=lambda it: it.number
            )
            for memory in new:
                if memory.kind is MemoryKind.PERCEPTION and (key := memory.key):
                    work.setdefault(key, []).append(memory)
            for key, found in work.items():
                self._update_page(key, found)
            if new:  # after the pages are on the disk, so that nothing is skipped
                path = self.folder / _PROGRESS
                text = in_json({"through": new[-1].number})
                try:
                    replace_file(path, f"{text}\n")
                except OSError as error:
                    raise unusable(path, error) from error
                self._through = new[-1].number

    def conclude(self, key: str, edit: Callable[[PersonPage], PersonPage]) -> None:
        """Change the agent's opinion of somebody, in its nightly reflection.

        Raises:
            NoteRefused: The page cannot be read or written.
        """
        with self.store.lock:
            if (known := self.page(key)) is not None:
                old, new = self._write(self._paths[key], lambda page: edit(page or known))
                if old != new:
                    self._emit(MemoryOp.CONCLUDED, Author.NIGHT, new, size=len(new.portrait))

    def _update_page(self, key: str, memories: Sequence[Memory]) -> None:
        """Update one page; an unreadable page is left as it is."""
        known = self.known.get(key)
        end = f"-{page_suffix(key)}.md"
        fresh = [each for each in memories if known is None or each.number > known.through]
        broken = self.store.problems()
        if not fresh or self._paths.get(key) in broken or any(p.name.endswith(end) for p in broken):
            return
        name = folder_name(with_memories(None, key, fresh).name)
        path = self._paths.get(key) or free_name(self.folder / f"{name}{end}")
        old, new = self._write(path, lambda page: with_memories(page, key, fresh))
        if old is None or old.name != new.name:
            op = MemoryOp.RENAMED if old else MemoryOp.MET
            self._emit(op, Author.RULES, new, n=fresh[0].number)
        self._emit(MemoryOp.PROFILE, Author.RULES, new, n=fresh[-1].number, times=len(fresh))

    def _write(
        self, path: Path, edit: Callable[[PersonPage | None], PersonPage]
    ) -> tuple[PersonPage | None, PersonPage]:
        old, new = self.store.change(path, lambda _, page: format_page(edit(page)))
        self._index()
        return old, new

    def _index(self) -> None:
        """Update the mappings by key."""
        records = self.store.records()
        self._paths = {page.key: path for path, page in records.items()}
        self.known = {page.key: page for page in records.values()}

    def _emit(self, op: MemoryOp, by: Author, page: PersonPage, **facts: int) -> None:
        self.store.emit(op, by, of="person", about=page.name, **facts)


def page_suffix(key: str) -> str:
    """Return the end of a page's file name, which keeps people of the same name apart."""
    if re.fullmatch(r"[0-9][0-9-]{0,40}", key):
        return key
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]


# -- in a prompt; quick, from what is in RAM


@dataclass(frozen=True, slots=True)
class PromptContext:
    """How and what a prompt says about people."""

    now: datetime
    tokens: Tokens
    may: May = lambda _: True
    confided: May = lambda _: False  # returns whether nobody else may hear the text
    # the first memory of the window; later lines are in the window already
    # (its newer words make the last ones before it old)
    before: int | None = None
    # the sentences of words that state something, and whether a text in the prompt, or the texts
    # that are given besides, say it already
    told: Callable[[str, str], str] = lambda words, _speaker: words
    is_said: Callable[[str, Sequence[str]], bool] = lambda _words, _texts: False
    of_old: frozenset[str] = frozenset()  # the keys of those whom the agent's profile names
    # the numbers of memories that are near to what is answered, the nearest first
    nearest: Sequence[int] = ()
    shown: frozenset[int] = frozenset()  # the numbers of memories that the prompt shows elsewhere


def lines(
    present: Sequence[tuple[str, str]],
    book: PeopleBook,
    budget: int,
    how: PromptContext,
    partner: str = "",
) -> tuple[PersonLine, ...]:
    """Return a line for each of ``present``, within ``budget`` tokens: ``partner``, a key, first.

    For instance ``Tom, met 9 November: a miller; told you: 'I look for my sister.'; last said: 'I
    have found her.'``. What is known of somebody comes before their last words. Beside a partner,
    the line about another one is short, and quotes only what is near to what is answered.

    ``present``: The key and the name of everybody who is there.
    """
    pages = [(key == partner, book.known.get(key), name) for key, name in present]
    pages.sort(key=lambda each: (each[0], each[1].meetings if each[1] else 0), reverse=True)
    told = list[PersonLine]()
    for place, (is_partner, page, name) in enumerate(pages[:MOST_SHOWN], start=1):
        others = min(len(pages), MOST_SHOWN) - place
        room = budget - min(20 * others, budget // 2)
        beside = bool(partner) and not is_partner
        lines = list(_shown(fit_name(name), page, how, brief=beside))
        if not lines:
            continue
        costs = zip(lines, how.tokens.each([each.text for each in lines]), strict=True)
        line, cost = next((each for each in costs if each[1] <= room), (None, 0))
        if line is None:
            break
        told.append(line)
        budget -= cost
    return tuple(told)


def _shown(
    name: str, page: PersonPage | None, how: PromptContext, *, brief: bool = False
) -> Iterator[PersonLine]:
    """Yield versions of the line about a person, the longest first; none if it tells nothing.

    ``brief``: Whether it quotes only what is near to what is answered.
    """
    limit = _LONGEST_BESIDE if brief else _LONGEST
    if page is None:
        yield PersonLine(f"{name}, whom you meet for the first time", limit=limit)
        return
    former = [each for each in page.names if each != name]
    known_as = f" (you knew them as {former[-1]})" if former else ""
    first_day = _day(page.first_met, how.now)
    is_new = first_day == _day(how.now, how.now)
    since = "whom you have long known" if page.key in how.of_old else f"met {first_day}"
    head = f"{name}{known_as}, {since}"
    remarks = (for_prompt(each).lstrip("-*# ") for each in page.by_hand if each[:2] != "##")
    opinions = (for_prompt(e, limit=_LONGEST).rstrip(".") for e in (*remarks, page.portrait))
    about = ": ".join(filter(None, [head, "; ".join(filter(None, opinions))]))
    quotes = _quotes(page, how)
    if brief:
        quotes = {
            verb: [each for each in some if each.line.numbers[-1] in how.nearest]
            for verb, some in quotes.items()
        }
    if about == head and is_new and not any(quotes.values()):
        return  # nothing else is known
    for most in range(MOST_QUOTES, 0, -1):
        told = (
            (verb, tuple(each.shown(how.now) for each in _best(some, most, how)))
            for verb, some in quotes.items()
            if some
        )
        yield PersonLine(about, tuple(told), limit)
    yield PersonLine(about, limit=limit)
    yield PersonLine(head, limit=limit)


_CONFIDED = "told you in confidence"
_TOLD = "told you"
_SEEN = "you saw"
_LAST = "last said"


class _Quote(NamedTuple):
    """A line of a page for a prompt.

    Attributes:
        tells: The number of its telling words, if somebody told it.
    """

    line: PageLine
    words: str
    tells: int = 0

    def shown(self, now: datetime) -> str:
        """Return it as the prompt shows it, with its day if that is not today."""
        day = _day(self.line.time, now)
        when = "" if day == _day(now, now) else f" ({day})"
        return quoted(self.words, _LONGEST_QUOTE) + when


def _quotes(page: PersonPage, how: PromptContext) -> dict[str, list[_Quote]]:
    """Return quotes from a page by kind, in the order of a prompt."""
    quotes: dict[str, list[_Quote]] = {_CONFIDED: [], _TOLD: [], _SEEN: [], _LAST: []}
    before = how.before or math.inf
    known = [
        each
        for each in page.lines
        if each.numbers[-1] < before
        and not how.shown.issuperset(each.numbers)
        and how.may(each.numbers)
    ]
    spoken = [each for each in page.lines if each.said and not how.confided(each.numbers)]
    # What somebody said before the window is not their last word if the window has newer ones.
    last = [each for each in spoken[-1:] if each in known]
    for each in known:
        words = each.text if each.said else f"{page.name} {each.text}"
        if how.confided(each.numbers):
            kind = _CONFIDED
        elif not _is_needed(each, page, how):
            continue
        elif not each.said:
            kind = _SEEN
        elif (told := how.told(each.text, page.name)) and not how.is_said(told, _written(page)):
            kind = _TOLD
            words = told
        elif each in last:
            kind = _LAST
        else:
            continue
        tells = len(telling(words)) if kind is _TOLD else 0
        quotes[kind].append(_Quote(each, words, tells))
    return quotes


def _written(page: PersonPage) -> Sequence[str]:
    """Return what is written on a page beside its list: the paragraph, and what people wrote."""
    return [page.portrait, *page.by_hand]


def _is_needed(line: PageLine, page: PersonPage, how: PromptContext) -> bool:
    """Return whether a prompt needs a line beside what it says of the person anyway.

    The page's paragraph was written from the lines before it, and the agent's profile says who its
    neighbours are. Besides, only what bears on the moment is shown.
    """
    number = line.numbers[-1]
    is_in_paragraph = bool(page.portrait) and number <= page.studied
    is_known = is_in_paragraph or (page.key in how.of_old and line.said)
    return number in how.nearest or not is_known


def _best(quotes: Sequence[_Quote], most: int, how: PromptContext) -> list[_Quote]:
    """Return the quotes that are nearest to what is answered, else those that tell most.

    Of equals the newest are best. They are returned in their order.
    """
    places = {number: place for place, number in enumerate(how.nearest)}
    far = len(places)

    def rank(quote: _Quote) -> tuple[int, int, int]:
        """Return the place of a quote, the best first."""
        number = quote.line.numbers[-1]
        return places.get(number, far), -quote.tells, -number

    best = set(sorted(quotes, key=rank)[:most])
    return [each for each in quotes if each in best]


def _day(time: datetime, now: datetime) -> str:
    """Return ``9 November``, with the year if it is not the current one."""
    here = time.astimezone()
    year = f" {here.year}" if here.year != now.astimezone().year else ""
    return f"{here.day} {MONTHS[here.month - 1]}{year}"
