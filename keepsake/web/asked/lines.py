"""How short answers tell memories and times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from keepsake.archive.records import Memory
from keepsake.happening import Speech, addressees_of, is_me, own_deed_of, shown_speech
from keepsake.language.perception import one_line, shorten
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.people.gist import unmarked
from keepsake.web.questions.clock import as_shown

LONGEST = 240
"""The most characters of a line: what is longer is no short answer."""


def line_of(
    label: str, text: str, part: str, form: Callable[[str], str] = str, **more: Any
) -> AnswerLine:
    """Return a line with the part of a text that stands for it, and with all of it.

    Args:
        part: As :mod:`keepsake.web.people.gist` returns it, with marks where something is left out.
        form: Returns words as the line shows them, such as in quotation marks.
        more: Other fields of the line.
    """
    whole = one_line(text)
    if form is not str:  # quotations within quotation marks have single ones
        whole = whole.replace('"', "'")
        part = part.replace('"', "'")
    if part == whole:
        return AnswerLine(label=label, text=form(part), **more)
    return AnswerLine(label=label, text=form(part), whole=form(whole), part=unmarked(part), **more)


def in_quotes(words: str) -> str:
    """Return what somebody said, in quotation marks; quotations within have single ones."""
    return f"“{words}”"


def told(memory: Memory, agent: str, part: str = "") -> str:
    """Return a memory in a line, as somebody else than the agent would tell it.

    ``part``: The part of what was said that stands for all of it; empty for all.
    """
    what = memory.what
    if part and isinstance(what, Speech):
        what = replace(what, words=part)
    speaker = agent if memory.is_own else memory.source
    if isinstance(what, Speech) and speaker:
        to = [replace(each, name=agent) if is_me(each) else each for each in addressees_of(what)]
        words = what.words.replace('"', "'")  # a quotation within one
        text = shown_speech(speaker, words, to, what.manner)
    else:
        text = own_deed_of(what, agent) or memory.text
    return one_line(text)


def short(text: str) -> str:
    """Return a text in a line of at most :data:`LONGEST` characters."""
    return shorten(one_line(text), LONGEST)


def day_and_hour(moment: datetime, now: datetime) -> str:
    """Return a moment by the world's clock, as near as it is: ``Tomorrow, 08:00``."""
    shown = as_shown(moment)
    today = as_shown(now).date()
    hour = f"{shown:%H:%M}"
    if shown.date() == today:
        return f"Today, {hour}"
    if shown.date() == today + timedelta(days=1):
        return f"Tomorrow, {hour}"
    return f"{short_date(shown.date())}, {hour}"


def short_date(day: date) -> str:
    """Return a date as pages have it: ``Tue 1 Dec``."""
    return f"{day:%a %-d %b}"
