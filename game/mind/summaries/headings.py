"""Filling the headings of a structured summary with the notes that tell most.

Notes are taken until the space is used up, rules and open matters first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from game.mind.summaries import extractive
from game.mind.summaries import sections as structured
from game.mind.summaries.note_classifier import ClassifiedNote, NoteKind, kind_of
from game.mind.summaries.sections import Structured
from game.mind.summaries.source import SummarySource

_SHARE = {
    NoteKind.CONSTRAINTS: 0.30,
    NoteKind.OPEN: 0.30,
    NoteKind.ERRORS: 0.08,
    NoteKind.GOALS: 0.10,
    NoteKind.DECISIONS: 0.12,
    NoteKind.PEOPLE: 1.0,
    NoteKind.FACTS: 1.0,
    None: 0.5,
}
"""The share of the space that notes of a kind may have at most; None for what must be kept."""
_MOST_OF_ONE, _MOST_ASKED = 6, 3
"""Rules of one person, and questions, that come before what merely tells much."""


def fill(
    source: SummarySource, notes: Sequence[ClassifiedNote], importance: Sequence[int]
) -> Structured:
    """The notes that tell most, under their headings, in order of time; they fit ``source``.

    ``importance``: How much each note matters, 1 to 10 or 0.
    """
    characters, headings = source.characters, source.way.headings
    places = _places(headings)
    room = characters - sum(len(heading) + 5 for heading in headings)
    # A purse for each kind, and one for what must be kept.
    left: dict[NoteKind | None, int] = {k: int(room * share) for k, share in _SHARE.items()}
    chosen: list[int] = []
    seen: set[str] = set()
    for position in _order(notes, source.agent, characters, importance):
        note = notes[position]
        cost, key = len(note.line) + 3, structured.same(note.text)
        purse = None if note.kept else note.kind
        if key not in seen and cost <= min(room, left[purse]):
            chosen.append(position)
            seen.add(key)
            room -= cost
            left[purse] -= cost
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


def _order(
    notes: Sequence[ClassifiedNote], own_name: str, characters: int, importance: Sequence[int]
) -> list[int]:
    """Positions, those first that should be kept first."""
    told = [note.told for note in notes]
    kept = [i for i, note in enumerate(notes) if note.kept]
    ranked = extractive.ranking(told, own_name, 2 * characters, importance)
    return list(dict.fromkeys([*kept, *_binding(notes), *ranked]))


def _binding(notes: Sequence[ClassifiedNote]) -> list[int]:
    """Positions of what binds: rules, the oldest first, then promises and some questions.

    Nobody has many of them: else one player's rules would push out those of all others. Of
    what is open the newest is the likeliest still to be.
    """
    said_by: Counter[str] = Counter()
    rules: list[tuple[int, int]] = []
    promised: list[int] = []
    asked: list[int] = []
    for position, note in enumerate(notes):
        if note.sure and note.kind is NoteKind.CONSTRAINTS:
            said_by[note.told.speaker] += 1
            if said_by[note.told.speaker] <= _MOST_OF_ONE:
                rules.append((said_by[note.told.speaker], position))
        elif note.sure and note.kind is NoteKind.OPEN:
            (asked if note.text.endswith("?") else promised).append(position)
    # Everybody's first rule comes before anybody's second.
    first = [position for _, position in sorted(rules)]
    return [*first, *reversed(promised), *reversed(asked[-_MOST_ASKED:])]
