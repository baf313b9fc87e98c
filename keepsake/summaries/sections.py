"""Summaries as notes under headings: read, checked, written, put together and shown.

The kept form is markdown, one note a line::

    ## Facts
    - Tom: the toll at Merrow Lock is four pennies now (memory 17)

    ## Open matters

A heading without notes stands there all the same, so that a lost one is noticed. What a
model writes is read with patience (:mod:`keepsake.summaries.note_parser`); what is kept is read
strictly (:func:`read`): only ``## `` makes a heading there, so that nothing that somebody
said can become one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from keepsake.language.perception import for_prompt
from keepsake.language.words import stem, words
from keepsake.summaries.retelling import day_in

LONGEST_NOTE = 300
"""Characters of one note."""
MOST_NOTES = 60
"""Notes that are read under one heading; a model that loops writes more."""

_MARK, _ITEM = "## ", "- "
_LIST_SIGN = re.compile(r"^\s*(?:(?:[-*•–+]|\d{1,3}[.)])\s+)+|^\s*>+\s*")
_NOTHING = re.compile(
    r"(?:none|nothing|no|n/?a|nil|empty|-+|\.+|…)?"
    r"(?:\s+(?:yet|so far|here|known|noted|to note|at the moment|mentioned))?\W*",
    re.I,
)
_NUMBER = re.compile(r"\s*\((?:memory|memories) (\d{1,12})\)\.?$")


@dataclass(frozen=True, slots=True)
class Structured:
    """Notes under headings."""

    headings: tuple[str, ...]
    # the notes by heading, one line each; a heading that was not found is no key
    sections: Mapping[str, tuple[str, ...]]

    @property
    def missing(self) -> tuple[str, ...]:
        """The headings that were not found."""
        return tuple(heading for heading in self.headings if heading not in self.sections)

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """Every note with its heading, in order."""
        return tuple((h, note) for h in self.headings for note in self.sections.get(h, ()))

    @property
    def text(self) -> str:
        """The kept form, with every heading that was found."""
        found = (heading for heading in self.headings if heading in self.sections)
        return "\n\n".join(
            "\n".join([f"{_MARK}{h}", *(f"- {note}" for note in self.sections[h])]) for h in found
        )

    def changed(self, change: Callable[[str], str]) -> Structured:
        """The same with each note as ``change`` gives it; an empty one is left out."""
        kept = {h: tuple(filter(None, map(change, notes))) for h, notes in self.sections.items()}
        return Structured(self.headings, kept)


def read(text: str, headings: Sequence[str] | None = None) -> Structured | None:
    """Read the kept form; None if ``text`` is prose.

    ``headings``: The headings that there have to be; None for those that there are.
    """
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.splitlines():
        if line.startswith(_MARK):
            current = found.setdefault(_title(line), [])
        elif current is not None and (note := clean_note(line)):
            current.append(note)
    if not found:
        return None
    sections = {name: tuple(notes) for name, notes in found.items()}
    return Structured(tuple(headings if headings is not None else sections), sections)


@lru_cache(maxsize=256)
def shown(text: str) -> tuple[str, ...]:
    """A summary as lines of a prompt, harmless each: a list as it is, prose as one line.

    Of notes a heading becomes ``Facts:`` and a note ``- …``; headings without notes stay away. No
    line starts like a heading, a rule, a cursor or a line of the script.

    A summary stands in every prompt until the next one is made, hence the cache.
    """
    kept = read(text)
    if kept is None:
        shortened = (for_prompt(line, limit=_LONGEST_PROSE) for line in _listed(text))
        return tuple(filter(None, shortened))
    before = for_prompt(before_headings(text), limit=_LONGEST_PROSE)
    lines = [before] if before else []
    for heading, notes in kept.sections.items():
        if notes:
            lines += [f"{heading}:", *(f"- {note}" for note in notes)]
    return tuple(lines)


def plain(text: str) -> tuple[str, ...]:
    """A summary as one line for each note, without headings and list signs; prose as one line.

    Lines that stand under a day carry it, each by itself.
    """
    kept = read(text)
    if kept is None:
        return tuple(_carried(_listed(text)))
    before = " ".join(before_headings(text).split())
    return (*([before] if before else []), *(note for _, note in kept.notes))


def _carried(lines: Iterable[str]) -> Iterator[str]:
    """Lines without their sign, each with the day of the line before it if it has none."""
    day = ""
    for line in lines:
        bare, own = line.removeprefix(_ITEM), day_in(line)
        day = own or day
        yield f"{day}: {bare}" if day and not own and line != bare else bare


def _listed(text: str) -> list[str]:
    """The lines of a list; prose, as older summaries are, as one."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    if not any(line.startswith(_ITEM) for line in lines):
        lines = [" ".join(" ".join(lines).split())]
    return [line for line in lines if line]


def before_headings(text: str) -> str:
    """What stands above the first heading, where a person wrote something there."""
    return "\n".join(takewhile(lambda line: not line.startswith(_MARK), text.splitlines()))


def merge(parts: Iterable[Structured], headings: Sequence[str]) -> Structured:
    """Put notes together heading by heading, oldest first; the same note stands once."""
    sections: dict[str, dict[str, str]] = {}
    for part in parts:
        for heading, notes in part.sections.items():
            if name := match(heading, headings):
                there = sections.setdefault(name, {})
                for note in notes:
                    there.setdefault(same(note), note)
    return Structured(
        tuple(headings), {h: tuple(sections[h].values()) for h in headings if h in sections}
    )


def with_empty(notes: Structured) -> Structured:
    """The same with every heading there."""
    return Structured(notes.headings, {h: notes.sections.get(h, ()) for h in notes.headings})


def number_of(note: str) -> int | None:
    """The memory that a note says it came from: 17 for ``… (memory 17)``."""
    found = _NUMBER.search(note)
    return int(found[1]) if found else None


def unnumbered(note: str) -> str:
    """A note without the memory that it came from."""
    return _NUMBER.sub("", note)


def numbered(note: str, number: int | None) -> str:
    """A note with the memory that it came from, if that is known."""
    return f"{unnumbered(note)} (memory {number})" if number else unnumbered(note)


def same(note: str) -> str:
    """What two notes have in common that say the same."""
    return " ".join(words(unnumbered(note))).casefold()


def match(name: str, headings: Sequence[str]) -> str | None:
    """The heading that ``name`` means: any case, plural or singular, its first word alone."""
    wanted = _stems(name)
    if not wanted:
        return None
    for heading in headings:
        if _stems(heading) == wanted:
            return heading
    short = [h for h in headings if _stems(h)[:1] == wanted[:1] and set(wanted) <= set(_stems(h))]
    return short[0] if len(short) == 1 else None


_LONGEST_PROSE = 20_000


def _title(line: str) -> str:
    return for_prompt(line, limit=80).strip(" :") or "?"


def clean_note(line: str) -> str:
    """One note, harmless in a prompt; empty if the line says nothing."""
    bare = _LIST_SIGN.sub("", line).strip()
    bare = re.sub(r"^\*\*(.+)\*\*$", r"\1", bare)
    if _NOTHING.fullmatch(bare.strip("()[] ")):
        return ""
    note = for_prompt(bare, limit=LONGEST_NOTE)
    return note if any(char.isalpha() for char in note) else ""


def _stems(name: str) -> list[str]:
    return [stem(word) for word in words(re.sub(r"\([^)]*\)", "", name))]
