"""What a prompt says of somebody: when they met, what the agent makes of them, what they last said.

Quick, from what is in RAM: the cost depends on who is there, never on how many people the agent
has met.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from keepsake.books.people import PeopleBook
from keepsake.books.person_page import PageLine, PersonPage
from keepsake.language.perception import fit_name, for_prompt, quoted
from keepsake.language.words import MONTHS
from keepsake.ports import Tokens

MOST_SHOWN = 6
"""People of a room in a prompt."""
MOST_QUOTES = 4
"""Of what somebody confided, said or did last, before the window, of each."""
_LONGEST, _LONGEST_QUOTE = 2_000, 300
_VERB = 6
"""Tokens that ``last said`` takes."""

type May = Callable[[Iterable[int]], bool]
"""Whether the audience may hear what rests on the memories of those numbers."""


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

    ``present``: The key and the name of everybody who is there.
    """
    pages = [(name, book.loaded(key)) for key, name in present]
    pages.sort(key=lambda each: each[1].meetings if each[1] else 0, reverse=True)
    told = list[str]()
    for others, (name, page) in reversed(list(enumerate(reversed(pages[:MOST_SHOWN])))):
        line = known_of(name, page, budget - min(20 * others, budget // 2), how)
        if not line:
            break
        told.append(line)
        budget -= how.tokens.of(line)
    return tuple(told)


def known_of(name: str, page: PersonPage | None, budget: int, how: Telling) -> str:
    """What is known of somebody as one line of at most ``budget`` tokens; empty if none fits.

    For instance ``Tom, met 9 November: a miller who looks for his sister; last said: 'I have found
    her.'``.
    """
    head = fit_name(name)
    if page is None:
        head = f"{head}, whom you have never met"
    else:
        former = [each for each in page.names if each != head]
        known_as = f" (you knew them as {former[-1]})" if former else ""
        head = f"{head}{known_as}, met {_day(page.first_met, how.now)}"
    if (room := budget - how.tokens.of(head)) < 0 or page is None:
        return head if room >= 0 else ""
    opinions = list[str]()
    for each in (*page.remarks, page.portrait):
        text = for_prompt(each, limit=_LONGEST).rstrip(".")
        if text and (cost := how.tokens.of(f"{text}; ")) <= room:
            room -= cost
            opinions.append(text)
    head = f"{head}: {'; '.join(opinions)}" if opinions else head
    return for_prompt("; ".join([head, *_quotes(page, room, how)]), limit=_LONGEST)


def _quotes(page: PersonPage, room: int, how: Telling) -> Iterator[str]:
    """What they said in confidence, ``last said: '…', '…'`` and ``last did: …``.

    Of each the newest that fit, the oldest first.
    """
    before = how.before or math.inf
    lines = [each for each in page.lines if each.numbers[-1] < before and how.may(each.numbers)]
    secret = [how.confided(each.numbers) for each in lines]
    kinds = {
        "told you in confidence": [each for each, s in zip(lines, secret, strict=True) if s],
        "last said": [e for e, s in zip(lines, secret, strict=True) if e.said and not s],
        "last did": [e for e, s in zip(lines, secret, strict=True) if not e.said and not s],
    }
    for verb, found in kinds.items():
        texts = list[str]()
        for line in found[: -MOST_QUOTES - 1 : -1]:
            text = _quote(line, how.now)
            if (cost := how.tokens.of(f"{text}, ")) > room - _VERB:
                break
            room -= cost
            texts.insert(0, text)
        if texts:
            room -= _VERB
            yield f"{verb}: {', '.join(texts)}"


def _quote(line: PageLine, now: datetime) -> str:
    text = quoted(line.text, _LONGEST_QUOTE) if line.said else line.text.rstrip(".")
    return f"{text} ({_day(line.time, now)})"


def _day(time: datetime, now: datetime) -> str:
    """``9 November``, with the year if it is another."""
    here = time.astimezone(now.tzinfo)
    year = f" {here.year}" if here.year != now.year else ""
    return f"{here.day} {MONTHS[here.month - 1]}{year}"
