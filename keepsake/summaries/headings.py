"""Filling the headings of a structured summary with the notes that tell most.

What binds comes first: what must be kept, rules and open matters; then whatever tells most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from keepsake.summaries import extractive
from keepsake.summaries import sections as structured
from keepsake.summaries.note_classifier import ClassifiedNote, NoteKind, kind_of
from keepsake.summaries.sections import Structured
from keepsake.summaries.source import SummarySource

_BINDING_SHARE = 0.6
"""The share of the space that what binds may have at most."""
_MOST_OF_ONE = 6
"""Rules, or open matters, of one person that come before what merely tells much."""


def fill(
    source: SummarySource, notes: Sequence[ClassifiedNote], importance: Sequence[int]
) -> Structured:
    """The notes that tell most, under their headings, in order of time; they fit ``source``.

    ``importance``: How much each note matters, 1 to 10 or 0.
    """
    headings = source.way.headings
    places = _places(headings)
    room = source.characters - sum(len(heading) + 5 for heading in headings)
    told = [note.told for note in notes]
    ranked = extractive.ranking(told, source.agent, 2 * source.characters, importance)
    chosen = _fitting(notes, _binding(notes), int(_BINDING_SHARE * room))
    chosen = _fitting(notes, ranked, room, chosen)
    filled = _written(notes, chosen, headings, places)
    while chosen and not source.fits(filled.text):
        chosen.pop()
        filled = _written(notes, chosen, headings, places)
    return filled


def moved(summary: Structured, headings: Sequence[str]) -> Structured:
    """A summary under other headings: each note where its like belongs, none is lost."""
    places = _places(headings)
    sections: dict[str, tuple[str, ...]] = {}
    for heading, notes in summary.sections.items():
        name = structured.match(heading, headings) or places[kind_of(heading) or NoteKind.FACTS]
        sections[name] = (*sections.get(name, ()), *notes)
    return Structured(tuple(headings), sections)


def _written(
    notes: Sequence[ClassifiedNote],
    chosen: Sequence[int],
    headings: Sequence[str],
    places: dict[NoteKind, str],
) -> Structured:
    sections: dict[str, tuple[str, ...]] = dict.fromkeys(headings, ())
    for note in (notes[position] for position in sorted(chosen)):
        sections[places[note.kind]] += (note.line,)
    return Structured(tuple(headings), sections)


def _places(headings: Sequence[str]) -> dict[NoteKind, str]:
    """The heading for each kind: its own, else that of the facts, else the first."""
    own: dict[NoteKind, str] = {}
    for heading in headings:
        if kind := kind_of(heading):
            own.setdefault(kind, heading)
    spare = own.get(NoteKind.FACTS, headings[0])
    return {kind: own.get(kind, spare) for kind in NoteKind}


def _fitting(
    notes: Sequence[ClassifiedNote], order: Iterable[int], room: int, before: Sequence[int] = ()
) -> list[int]:
    """Positions: ``before``, then those in ``order`` for which there is room; no note twice."""
    chosen = list(before)
    seen = {structured.same(notes[position].text) for position in chosen}
    room -= sum(len(notes[position].line) + 3 for position in chosen)
    for position in order:
        cost, key = len(notes[position].line) + 3, structured.same(notes[position].text)
        if key not in seen and cost <= room:
            chosen.append(position)
            seen.add(key)
            room -= cost
    return chosen


def _binding(notes: Sequence[ClassifiedNote]) -> list[int]:
    """Positions of what must be kept, then of what binds: everybody's first before any second.

    Nobody has many of them: else one player's rules would push out those of all others.
    """
    kept = [position for position, note in enumerate(notes) if note.kept]
    said_by: Counter[tuple[NoteKind, str]] = Counter()
    found: list[tuple[int, int]] = []
    for position, note in enumerate(notes):
        if note.kind in (NoteKind.CONSTRAINTS, NoteKind.OPEN):
            said_by[note.kind, note.told.speaker] += 1
            found.append((said_by[note.kind, note.told.speaker], position))
    return [*kept, *(position for nth, position in sorted(found) if nth <= _MOST_OF_ONE)]
