"""Reading the notes that a model wrote, whatever form it gave them.

Other case and order, bold or plain headings, lists of headings, fences: all are read,
from the surest sign of a heading to the unsurest. Nothing here fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from keepsake.summaries.sections import MOST_NOTES, Structured, clean_note, match, numbered, same

_LONGEST_LINE, _MOST_LINES = 2000, 2000
_FENCE = re.compile(r"^\s*(?:```|~~~).*$", re.M)
_TAG = re.compile(r"</?(?:b|strong|h[1-6])>", re.I)
_SHARP = re.compile(r"^\s{0,3}#{1,6}\s*(?:\d{1,2}[.)]\s*)?(?P<name>[^#].*?)\s*#*$")
_BARE = re.compile(
    r"^\s*(?:\d{1,2}[.)]\s*)?"
    r"(?:(?P<sign>\*\*|__)(?P<bold>.+?)(?P=sign)[ :\-–]*"
    r"|(?P<name>[^\W_][^:*#\"“]{0,60}?)\s*(?::|$))(?P<rest>.*)$"
)
_NUMBER_FIRST = re.compile(r"^\(?memory (?P<number>\d{1,12})(?:\)[:,.]?|:)\s+(?=\S)", re.I)
_LISTED = re.compile(r"^\s*[-*•–+]\s+(?=.)")

type Finder = Callable[[str], tuple[str, str] | None]
"""Finds in a line the name of a heading and what follows it; None if there is none."""


def parse(text: str, headings: Sequence[str], *, opened: str = "") -> Structured:
    """Read what a model wrote.

    ``opened``: The heading with which the prompt ended, so that the answer starts under it.
    """
    plain = _TAG.sub("**", _FENCE.sub("", text)).splitlines()
    lines = [line[:_LONGEST_LINE] for line in plain[:_MOST_LINES]]
    best: dict[str, tuple[str, ...]] = {}
    for finders in _WAYS:
        found = _sections(lines, headings, opened, finders)
        if len(found) > len(best):
            best = found
        if len(best) == len(headings):
            break
    return Structured(tuple(headings), best)


def ends_within(prompt: str, headings: Sequence[str]) -> str:
    """The heading within which a prompt ends; empty if it ends elsewhere."""
    for line in reversed(prompt.rstrip().splitlines()[-2:]):
        if found := _SHARP.match(line):
            return match(found["name"], headings) or ""
    return ""


# -- finding headings, from sure to unsure


def _sharp(line: str) -> tuple[str, str] | None:
    if not (found := _SHARP.match(line)):
        return None
    name, _, rest = found["name"].strip("*_ ").partition(":")
    return name.strip("*_ "), rest


def _plain(line: str) -> tuple[str, str] | None:
    """A heading in bold, with a colon, or alone."""
    found = _BARE.match(line)
    return ((found["bold"] or found["name"]).rstrip(": "), found["rest"]) if found else None


def _listed(line: str) -> tuple[str, str] | None:
    """A heading that is itself an entry of a list."""
    found = _LISTED.match(line)
    return _plain(line[found.end() :]) if found else None


_WAYS: tuple[tuple[Finder, ...], ...] = (
    (_sharp,),
    (_sharp, _plain),
    (_sharp, _plain, _listed),
)
"""A note can look like a heading ("- People: Tom says"): the unsure ways come last."""


def _sections(
    lines: Sequence[str], headings: Sequence[str], opened: str, finders: Sequence[Finder]
) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, str]] = {}
    current = opened
    for line in lines:
        name, rest, foreign = _heading(line, headings, finders)
        if name:
            current = name
            found.setdefault(name, {})
        elif foreign:
            current = ""
        if current and (note := _numbered(clean_note(rest))):
            notes = found.setdefault(current, {})
            if len(notes) < MOST_NOTES:
                notes.setdefault(same(note), note)
        elif current and current == opened and any(char.isalpha() for char in rest):
            # "none", where the prompt had the heading already: an answer too.
            found.setdefault(current, {})
    if list(found) == [opened] and not found[opened]:
        # Nothing but that, of all that was asked: nothing was understood.
        return {} if len(headings) > 1 else {opened: ()}
    return {name: tuple(notes.values()) for name, notes in found.items()}


def _numbered(note: str) -> str:
    """A note with its memory at its end: the prompt has it at the start, and a model may too."""
    found = _NUMBER_FIRST.match(note)
    return numbered(note[found.end() :], int(found["number"])) if found else note


def _heading(
    line: str, headings: Sequence[str], finders: Sequence[Finder]
) -> tuple[str, str, bool]:
    """The heading in ``line`` (or empty), what else it says, and whether it has another's."""
    for finder in finders:
        if (parted := finder(line)) and (name := match(parted[0], headings)):
            return name, parted[1], False
    return "", line, bool(_SHARP.match(line))
