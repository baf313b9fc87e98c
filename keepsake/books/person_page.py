"""The page of a person whom an agent knows: a markdown file that people may read and edit.

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

Each line of the list begins with marks that only the game writes, so nothing that anybody said can
pass for a heading or another line. All other text was written by people and stays as it is. Pages
of earlier versions can be read too: their facts, observations and conclusions become lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from heapq import nsmallest
from typing import Any

import frontmatter

from keepsake.archive.message_types import BY_RULE, RULED, MessageType
from keepsake.archive.records import Memory
from keepsake.books.files import time_of
from keepsake.errors import NoteRefused
from keepsake.happening import Deed, KnownVerb
from keepsake.language.perception import fit_name, for_prompt, telling

MOST_LINES = 80
"""Most lines (sentences and deeds) of a page. Somebody who talks an hour a day for nine days says
about seventy."""
_NEWEST = 8
"""The newest lines are kept, whatever they tell; of the others those that tell least go first."""
LONGEST_LINE = 500
"""Most characters of a line."""
MEETING = timedelta(hours=1)  # shortest time between two separate meetings
PORTRAIT = "What I make of them"
LINES = "Said and done"  # the headings of a page
_OLD = ("Facts", "Before", "What I think", "Last shared", "Observations")
"""Headings in pages of earlier versions that have lines below them too."""
_CITED = r"memor(?:y|ies) (?P<numbers>\d[\d, ]*)"
_TIME = r"(?P<time>\d{4}-[\dT:.+-]{5,36})"
_LINE = re.compile(rf"[-*] {_TIME}, {_CITED}(?:, importance \d{{1,2}})?: (?P<text>\S.*)$")
_OLD_LINE = re.compile(rf"[-*] (?P<text>.*?) \((?=[^()]*?{_TIME})(?=[^()]*?{_CITED})[^()]*\)$")


@dataclass(frozen=True, slots=True)
class PageLine:
    """A sentence that somebody said, or something that they did."""

    text: str  # one line; a deed lacks the leading name
    numbers: tuple[int, ...]  # the memories it rests on, mostly one
    time: datetime
    said: bool = False  # whether it is their own words

    @property
    def shown(self) -> str:
        """The text as on the page: their words in double quotes."""
        return f'"{self.text}"' if self.said else self.text


@dataclass(frozen=True, slots=True)
class PersonPage:
    """Everything that an agent stores about one person."""

    # the person's id, which a new name does not change: see ``keepsake.agent.surroundings``
    key: str
    names: tuple[str, ...]  # all their names, the current one last; never empty
    first_met: datetime
    last_met: datetime
    meetings: int = 1  # number of meetings; an hour without contact begins a new one
    portrait: str = ""  # the agent's opinion of them
    lines: tuple[PageLine, ...] = ()  # the oldest first
    through: int = 0  # number of the last memory that was added
    studied: int = 0  # memory number of the last line that the portrait is based on
    by_hand: tuple[str, ...] = ()  # lines that a person wrote, with their headings

    @property
    def name(self) -> str:
        """The current name."""
        return self.names[-1]

    def with_lines(self, new: Iterable[PageLine]) -> PersonPage:
        """Return the page with more lines; repeated lines count once.

        A full page drops the lines with the fewest telling words, of equals the oldest. So chatter
        does not push out what somebody told at first.
        """
        by_text = {each.shown: each for each in self.lines}
        for each in new:
            by_text.pop(each.shown, None)  # it becomes the newest
            by_text[each.shown] = each
        lines = list(by_text.values())
        excess = max(len(lines) - MOST_LINES, 0)
        older = range(len(lines) - _NEWEST) if excess else ()
        said_least = nsmallest(excess, older, key=lambda place: len(telling(lines[place].text)))
        dropped = frozenset(said_least)
        kept = (each for place, each in enumerate(lines) if place not in dropped)
        return replace(self, lines=tuple(kept))


def with_memories(page: PersonPage | None, key: str, memories: Sequence[Memory]) -> PersonPage:
    """Return the page with these memories added; a new page if ``page`` is None."""
    if page is None:
        first = memories[0]
        said = memories[0].heard
        name = fit_name(first.source or (said.speaker.name if said else ""))
        page = PersonPage(key, (name,), first.time, first.time)
    for memory in memories:
        time = memory.time
        names = page.names
        if memory.source and (name := fit_name(memory.source)) != page.name:
            names = (*names, name)
        page = replace(
            page,
            names=names,
            last_met=time,  # not the maximum: a clock may have been put back
            meetings=page.meetings + (abs(time - page.last_met) >= MEETING),
            through=max(page.through, memory.number),
        )
    return page.with_lines(filter(None, map(line_of, memories)))


def line_of(memory: Memory) -> PageLine | None:
    """Return a line for words to the agent or to all, a gift, or a deed of the world; else None."""
    if memory.event in BY_RULE:
        return None
    said = memory.heard
    if said is not None:
        words = for_prompt(said.words, limit=LONGEST_LINE)
        is_mine = said.is_to_me_or_all and any(char.isalnum() for char in words)
        return PageLine(words, (memory.number,), memory.time, True) if is_mine else None
    if memory.event not in (MessageType.GIVE, *RULED) and not memory.gift_to_me:
        return None
    if isinstance(memory.what, Deed) and memory.what.verb == KnownVerb.GO:
        return None  # they only came; what the agent did then is its own deed
    text = for_prompt(memory.text.removeprefix(memory.source), limit=LONGEST_LINE)
    return PageLine(text, (memory.number,), memory.time)


# -- a page as a file


def parse_page(source: str, changed: datetime) -> PersonPage:
    """Parse a page.

    Raises:
        ValueError, TypeError, yaml.YAMLError: Its front matter is broken, or lacks key or names.
    """
    post = frontmatter.loads(source)
    meta: Mapping[str, Any] = post.metadata
    key = str(meta.get("key") or "").strip()
    given = meta.get("names")
    # Earlier versions add a date to each name. A person may write a single name.
    many = given if isinstance(given, list) else [given]
    plain = [each.get("name") if isinstance(each, dict) else each for each in many]
    names = tuple(fit_name(str(name)) for name in plain if name not in (None, ""))
    if not key or not names:
        raise ValueError("its front matter needs a key and names")
    section = ""
    portrait = list[str]()
    own = list[str]()
    lines = list[PageLine]()
    for each in map(str.rstrip, post.content.splitlines()):
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
        lines=tuple(sorted(lines, key=lambda each: (each.numbers, each.time))),
        through=max(int(meta.get("through", 0)), 0),
        studied=max(int(meta.get("studied", 0)), 0),
        by_hand=tuple(re.sub(r"\n{3,}", "\n\n", "\n".join(own)).strip("\n").splitlines()),
    )


def same_person(before: PersonPage, after: PersonPage) -> None:
    """Check that an edited page is still about the same person.

    Raises:
        NoteRefused: It has another key, by which the game knows whose page it is.
    """
    if before.key != after.key:
        told = f"This page is about the person {before.key}"
        raise NoteRefused(told, "Leave its key as it was")


def format_page(page: PersonPage) -> str:
    """Return the text of the page's file."""
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


def _read(section: str, line: str) -> PageLine | None:
    """Parse a line of the list or of an earlier version; None for text that a person wrote."""
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
