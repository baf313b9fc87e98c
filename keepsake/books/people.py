"""The people whom one agent knows: a markdown file each, which people may read and edit.

::

    ---
    key: 12-20261101090000
    names: …
    ---

    # Tom

    ## What I make of them

    A miller who looks for his sister.

    ## Said and done

    - 2026-11-21T14:05:09+01:00, memory 120: "My sister Anneke went to sea."
    - 2026-11-21T14:07:30+01:00, memory 122: gives you a blue cup.

A line of the list begins with marks that only the game sets, so that nothing anybody said can pass
for a heading or another line. All else in the file is a person's, and stays as it is. Pages of
earlier versions are read too: their facts, observations and conclusions are lines of the list.

Memories are worked in by number: every page knows the last one that is in it, and the book the
last one that it has looked at. Both are on the disk, the pages first, so that a crash at any moment
costs doing the same again, which changes nothing. A page that cannot be read is named and left
alone until somebody mends it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import frontmatter
import yaml

from keepsake.archive.records import BY_RULE, Memory, MemoryKind
from keepsake.books.files import (
    NO_OWNER,
    Owner,
    RecordStore,
    free_name,
    pages,
    read,
    replace_file,
    time_of,
    unusable,
)
from keepsake.books.journal import JournalConfig
from keepsake.errors import NoteRefused
from keepsake.language.heard import GIVE, RULED, given_to_me, heard, key_of
from keepsake.language.perception import MONTHS, fit_name, for_prompt, quoted
from keepsake.markdown_config import between
from keepsake.names import folder_name
from keepsake.ports import Tokens

FOLDER = "people"
MOST_FOUND = 20
"""Pages that one search brings."""
MOST_SHOWN, MOST_QUOTES = 6, 4
"""People of a room in a prompt, and what each confided, said or did last."""
MOST_LINES, LONGEST_LINE = 40, 500
"""The newest sentences and deeds that a page keeps, and the characters of one."""
MEETING = timedelta(hours=1)
"""Two meetings lie at least so far apart."""
PORTRAIT, LINES = "What I make of them", "Said and done"
"""The headings of a page."""
_OLD = ("Facts", "Before", "What I think", "Last shared", "Observations")
"""Headings of pages of earlier versions, under which there are lines as well."""
_LONGEST, _LONGEST_QUOTE = 2_000, 300
_WORKED_IN = ".worked_in.json"
_CITED = r"memor(?:y|ies) (?P<numbers>\d[\d, ]*)"
_TIME = r"(?P<time>\d{4}-[\dT:.+-]{5,36})"
_LINE = re.compile(rf"[-*] {_TIME}, {_CITED}(?:, importance \d{{1,2}})?: (?P<text>\S.*)$")
_OLD_LINE = re.compile(rf"[-*] (?P<text>.*?) \((?=[^()]*?{_TIME})(?=[^()]*?{_CITED})[^()]*\)$")

type May = Callable[[Iterable[int]], bool]
"""Whether the audience may hear what rests on the memories of those numbers."""


@dataclass(frozen=True, slots=True)
class PageLine:
    """A sentence that somebody said, or something that they did."""

    text: str  # one line; of a deed without the name before it
    numbers: tuple[int, ...]  # the memories that it rests on, mostly one
    time: datetime
    said: bool = False  # whether it is their own words

    @property
    def shown(self) -> str:
        """As the page has it: their words in double quotes."""
        return f'"{self.text}"' if self.said else self.text


@dataclass(frozen=True, slots=True)
class PersonPage:
    """All that an agent keeps of one person."""

    key: str  # who it is, whatever they are called: see ``keepsake.agent.surroundings``
    names: tuple[str, ...]  # what they were called, the present name last; never empty
    first_met: datetime
    last_met: datetime
    meetings: int = 1  # how many times; two with an hour or more between them are two
    portrait: str = ""  # what the agent makes of them
    lines: tuple[PageLine, ...] = ()  # the oldest first
    through: int = 0  # number of the last memory that was worked into it
    studied: int = 0  # number of the last line that the portrait was written from
    by_hand: tuple[str, ...] = ()  # the lines that a person wrote, with their own headings

    @property
    def name(self) -> str:
        """What they are called now."""
        return self.names[-1]

    @property
    def remarks(self) -> tuple[str, ...]:
        """The lines that a person wrote into the page, without their list marks."""
        lines = (for_prompt(each).lstrip("-*# ") for each in self.by_hand if each[:2] != "##")
        return tuple(filter(None, lines))

    def with_lines(self, new: Iterable[PageLine]) -> PersonPage:
        """The page with more lines; what is said again counts once, and the oldest go."""
        by_text = {each.shown: each for each in self.lines}
        for each in new:
            by_text.pop(each.shown, None)  # so that it is the newest
            by_text[each.shown] = each
        return replace(self, lines=tuple(by_text.values())[-MOST_LINES:])


def worked_in(page: PersonPage | None, key: str, memories: Sequence[Memory]) -> PersonPage:
    """The page with what somebody said and did; a new one for nobody known."""
    if page is None:
        first, said = memories[0], heard(memories[0])
        name = fit_name(first.source or (said.who if said else ""))
        page = PersonPage(key, (name,), first.time, first.time)
    for memory in memories:
        time, names = memory.time, page.names
        if memory.source and (name := fit_name(memory.source)) != page.name:
            names = (*names, name)
        page = replace(
            page,
            names=names,
            first_met=min(page.first_met, time),
            last_met=max(page.last_met, time),
            meetings=page.meetings + (time - page.last_met >= MEETING),
            through=max(page.through, memory.number),
        )
    return page.with_lines(filter(None, map(line_of, memories)))


def line_of(memory: Memory) -> PageLine | None:
    """What somebody said to the agent or to all, gave, or did as a deed of the world."""
    if memory.event in BY_RULE:
        return None
    said = heard(memory)
    if said is not None:
        words = for_prompt(said.words, limit=LONGEST_LINE)
        is_mine = said.to in ("", "you") and any(char.isalnum() for char in words)
        return PageLine(words, (memory.number,), memory.time, True) if is_mine else None
    if memory.event not in (GIVE, *RULED) and not given_to_me(memory):
        return None
    text = for_prompt(memory.text.removeprefix(memory.source), limit=LONGEST_LINE)
    return PageLine(text, (memory.number,), memory.time)


# -- a page as a file


def parse_page(path: Path, source: str, changed: datetime) -> PersonPage:
    """The page that ``source`` holds.

    Raises:
        NoteRefused: Its front matter cannot be read, or does not say whose it is.
    """
    try:
        meta, body = frontmatter.parse(source)
        if not meta:
            raise ValueError("it does not begin with front matter")
        return _page(meta, body, changed)
    except (yaml.YAMLError, KeyError, ValueError, TypeError, RecursionError) as error:
        raise NoteRefused(
            f"The page {path} cannot be read ({' '.join(str(error).split())[:200]})",
            "Mend the lines between its `---`, or move the file away and a new one is begun",
        ) from error


def written(page: PersonPage) -> str:
    """The page as a file."""
    parts = (
        f"# {page.name}",
        "\n".join(page.by_hand),
        f"## {PORTRAIT}\n\n{page.portrait}" if page.portrait else "",
        "\n".join([f"## {LINES}\n", *map(_line, page.lines)]) if page.lines else "",
    )
    post = frontmatter.Post(
        "\n\n".join(part.strip("\n") for part in parts if part),
        key=page.key,
        names=list(page.names),
        first_met=page.first_met.isoformat(),
        last_met=page.last_met.isoformat(),
        meetings=page.meetings,
        through=page.through,
        studied=page.studied,
    )
    return f"{frontmatter.dumps(post, sort_keys=False)}\n"


def _line(each: PageLine) -> str:
    numbers = f"memor{'y' if len(each.numbers) == 1 else 'ies'} {', '.join(map(str, each.numbers))}"
    return f"- {each.time.isoformat()}, {numbers}: {each.shown}"


def _page(meta: Mapping[str, Any], body: str, changed: datetime) -> PersonPage:
    key, given = str(meta.get("key") or "").strip(), meta.get("names")
    # Earlier versions add a date to each; a person may write one name.
    many = given if isinstance(given, list) else [given]
    plain = [each.get("name") if isinstance(each, dict) else each for each in many]
    names = tuple(fit_name(str(name)) for name in plain if name not in (None, ""))
    if not key or not names:
        raise ValueError("it needs a key and names")
    section, portrait, own, lines = "", list[str](), list[str](), list[PageLine]()
    for each in map(str.rstrip, body.splitlines()):
        if each.startswith("## "):
            section = each.strip("#").strip()
            own += [] if section in (PORTRAIT, LINES, *_OLD) else [each]
        elif section == PORTRAIT:
            portrait.append(each)
        elif (line := _read(section, each.strip())) is not None:
            lines.append(line)
        elif section or not each.startswith("# "):
            own.append(each)
    return PersonPage(
        key=key,
        names=names,
        first_met=time_of(meta.get("first_met"), changed),
        last_met=time_of(meta.get("last_met"), changed),
        meetings=max(int(meta.get("meetings", 1)), 1),
        portrait="\n".join(portrait).strip("\n"),
        lines=tuple(sorted(lines, key=lambda each: (each.time, each.numbers))),
        through=max(int(meta.get("through", 0)), 0),
        studied=max(int(meta.get("studied", 0)), 0),
        by_hand=tuple(re.sub(r"\n{3,}", "\n\n", "\n".join(own)).strip("\n").splitlines()),
    )


def _read(section: str, line: str) -> PageLine | None:
    """A line of the list, or what an earlier version kept; None for what a person wrote."""
    found = _LINE.match(line) if section in (LINES, *_OLD) else None
    found = found or (_OLD_LINE.match(line) if section in _OLD else None)
    if found is None:
        return None
    numbers = tuple(sorted({int(each) for each in re.findall(r"\d{1,9}", found["numbers"])}))
    try:
        time = datetime.fromisoformat(found["time"])
    except ValueError:
        return None
    text = found["text"]
    said = len(text) > 2 and text[0] == text[-1] == '"'
    text = for_prompt(text[1:-1] if said else text, limit=LONGEST_LINE)
    return PageLine(text, numbers, time if time.tzinfo else time.astimezone(), said)


# -- the book


@dataclass(frozen=True, slots=True)
class PeopleConfig(JournalConfig):
    """How much of a prompt people may fill: ``vault/config/people.md`` explains it."""

    budget: int = between(300, high=100_000)


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
            lambda path, source, at: parse_page(path, source, at.replace(microsecond=0)),
            "person",
            owner,
        )
        self._through: int | None = None
        self._version: int | None = None
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
                try:  # where that cannot be read, all is looked at again, which does no harm
                    text = read(self.folder / _WORKED_IN) or "{}"
                    self._through = max(int(json.loads(text).get("through", 0)), 0)
                except (OSError, ValueError, TypeError, AttributeError):
                    self._through = 0
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

    def find(self, words: str) -> list[PersonPage]:
        """Pages by key or by a part of a name, present or past: whole present names first."""
        wanted, found = " ".join(words.split()).casefold(), []
        for page in self.all():
            if page.key == wanted or any(wanted in each.casefold() for each in page.names):
                found.append(page)
        found.sort(key=lambda page: wanted not in (page.key, page.name.casefold()))
        return found[:MOST_FOUND] if wanted else []

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
                path, text = self.folder / _WORKED_IN, json.dumps({"through": new[-1].number})
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
        if self._version != self._store.version:
            self._version = self._store.version
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


def hearable(page: PersonPage, may: May) -> PersonPage:
    """The page without what rests on memories that may not be heard."""
    return replace(page, lines=tuple(each for each in page.lines if may(each.numbers)))


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
        yield f"{name}, whom you have never met"
        return
    former = [each for each in page.names if each != name]
    known_as = f" (you knew them as {former[-1]})" if former else ""
    head = f"{name}{known_as}, met {_day(page.first_met, how.now)}"
    opinions = (for_prompt(e, limit=_LONGEST).rstrip(".") for e in (*page.remarks, page.portrait))
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
    here = time.astimezone(now.tzinfo)
    year = f" {here.year}" if here.year != now.year else ""
    return f"{here.day} {MONTHS[here.month - 1]}{year}"
