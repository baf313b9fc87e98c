"""What an agent knows of a person, in a few lines: what it was told, what it promised and plans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from keepsake.agent.runtime import runtime
from keepsake.web.asked.lines import day_and_hour, short
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.people.shapes import KnownBy, KnownLine

TOLD = 2
"""The lines of each sort that are told."""


def knows(known: KnownBy, name: str) -> Sequence[AnswerLine]:
    """Return what tells most: told in private, promised and planned, asked for, told openly.

    Args:
        known: What the agent knows, its lines weighed by the whole of its memory.
        name: The name of the person.
    """
    lines = [each for each in (*known.lines, *known.overheard) if each.told and not each.errand]
    lines.sort(key=lambda each: each.weight, reverse=True)
    private = [_line("Told in private", each, name) for each in lines if each.private]
    openly = [_line("Told openly", each, name) for each in lines if not each.private]
    meant = [*_promised(known), *_planned(known, name)]
    asked = max((each for each in known.lines if each.errand), key=_time, default=None)
    errands = [_line("Asked for last", asked, name)] if asked else []
    if not (private or openly or meant or errands):
        return [*_portrait(known)]
    return [*private[:TOLD], *meant[: TOLD + 1], *errands, *openly[:TOLD]]


def _time(line: KnownLine) -> datetime:
    return line.time


def _line(label: str, line: KnownLine, name: str) -> AnswerLine:
    text = f"“{line.text}”" if line.said and not line.text.startswith(f"{name} ") else line.text
    return AnswerLine(
        label=label,
        text=short(text),
        aside=day_and_hour(line.time, runtime().clock.now()),
        private=line.private,
        number=line.numbers[0] if line.numbers else 0,
    )


def _promised(known: KnownBy) -> Iterator[AnswerLine]:
    """Yield promises to the person, the newest first."""
    for each in reversed(known.promises):
        text = each.text.partition(": ")[2] or each.text
        yield AnswerLine(
            label="Promised", text=short(text), private=each.private, number=each.memory
        )


def _planned(known: KnownBy, name: str) -> Iterator[AnswerLine]:
    """Yield plans with the person or for them, that which is due first."""
    now = runtime().clock.now()
    timed = [each for each in known.plans if each.at]
    for each in (*timed, *(other for other in known.plans if not other.at)):
        when = day_and_hour(each.at, now) if each.at else each.waits_for
        yield AnswerLine(
            label="Planned",
            text=short(each.what),
            aside=", ".join(filter(None, (when, each.place and f"at {each.place}"))),
            private=each.private,
            number=each.memory,
        )


def _portrait(known: KnownBy) -> Iterator[AnswerLine]:
    """Yield what an agent thinks or has heard of somebody who told it nothing."""
    if known.portrait:
        yield AnswerLine(label="Thinks", text=short(known.portrait))
    for each in known.mentions[:TOLD]:
        yield AnswerLine(label="Has heard", text=short(each.text), private=each.private)
