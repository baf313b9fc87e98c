"""A player asks an agent to meet at a place and a time: the question, read from a command.

The world reads place and time once, from the player's command, so no model has to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from keepsake.archive.transcript import day_and_time
from keepsake.books.plan import Plan
from keepsake.errors import KeepsakeError
from keepsake.happening import Person
from keepsake.language.perception import COMMON_WORDS
from keepsake.language.when import When, names_an_hour, read_time
from keepsake.prompt.verbs import find_named

FARTHEST = timedelta(days=60)
"""How far ahead an appointment may be. Later ones are mostly a misread date."""
_LONGEST_PLACE = 3
"""The most words of the short name of a place: ``old boathouse``."""
_LEADS = r"(?:(?:at|in|on|by)\s+)?(?:(?:the|a|an)\s+)?"
"""What may stand before the name of a place in the command `meet`."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """A player's question whether an agent will come.

    Attributes:
        by: The player, as the agent knows them.
        where: The name of the place.
        at: The time, with time zone.
        settled: Called with whether the agent agreed, when it has answered.
    """

    by: Person
    where: str
    at: datetime
    settled: Callable[[bool], None] = lambda _: None

    @property
    def line(self) -> str:
        """When and where, as a prompt shows it."""
        return f"{self.where}, {day_and_time(self.at)}, {self.at.astimezone():%H:%M}"

    def plan(self, act: int) -> Plan:
        """Return the plan to come; ``act``: The number of the memory of the answer, or 0."""
        when = When(at=self.at)
        what = f"meet {self.by.name}"
        return Plan(what=what, when=when, where=self.where, whom=self.by, since=act)


def read_invitation(
    text: str, by: Person, here: str, places: Collection[str], now: datetime
) -> Invitation:
    """Return what a player asks for: ``at the quay tomorrow 12:00``. It blocks for milliseconds.

    Args:
        text: Place and time, in any order. Without a place, it is ``here``.
        places: The names of the places that the agent can walk to.
        now: The present time, with time zone.

    Raises:
        KeepsakeError: The time cannot be read, has passed, or is too far away.
    """
    cure = "Write a place and a time: meet mira at the quay tomorrow 12:00, or in 20 minutes"
    where, rest = _place_in(" ".join(text.split()), here, places)
    when = rest.strip(" ,.")
    at = read_time(when, now) if when else None
    if at is None:
        said = f"{when!r} is no time, and no place that can be walked to" if when else "No time"
        raise KeepsakeError(said, cure)
    if not names_an_hour(when):
        raise KeepsakeError(f"{when!r} names no hour", cure)
    if at <= now:
        raise KeepsakeError("That time has passed", cure)
    if at - now > FARTHEST:
        raise KeepsakeError(f"That is more than {FARTHEST.days} days away", cure)
    return Invitation(by, where, at)


def _place_in(text: str, here: str, places: Collection[str]) -> tuple[str, str]:
    """Return the place that a text names, and the rest of the text; ``here`` if it names none."""
    for place in sorted(places, key=len, reverse=True):
        bare = re.sub(r"^(?:the|a|an)\s+", "", place, flags=re.I)
        found = re.search(rf"\b{_LEADS}{re.escape(bare)}(?!\w)", text, re.I)
        if found is not None:
            return place, f"{text[: found.start()]} {text[found.end() :]}"
    for span in _spans(text):
        name = find_named(span, tuple(places))
        if name is not None:
            found = re.search(rf"\b{_LEADS}{re.escape(span)}(?!\w)", text, re.I)
            assert found is not None
            return name, f"{text[: found.start()]} {text[found.end() :]}"
    return here, re.sub(r"\bhere\b", " ", text, flags=re.I)


def _spans(text: str) -> Iterator[str]:
    """Yield the runs of words that may name a place, the longest first: ``the boathouse``."""
    tokens = text.split()
    for size in range(_LONGEST_PLACE, 0, -1):
        for at in range(len(tokens) - size + 1):
            span = tokens[at : at + size]
            if all(each.isalpha() and each.casefold() not in COMMON_WORDS for each in span):
                yield " ".join(span)
