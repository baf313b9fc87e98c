"""Filling the headings of a structured summary by rules, without a model.

Each sentence of the memories is a note of one kind: a rule that somebody gave, an open
matter (a promise, a question without an answer), a failure, a goal, a decision, what
somebody said of themselves, or else a fact. What tells most is kept until the space is used
up, rules and open matters first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from game.mind import extractive, structured
from game.mind.noticing import promises, questions, rules_in
from game.mind.perception import for_prompt
from game.mind.retelling import Told, retell
from game.mind.script import cursor
from game.mind.structured import Structured
from game.mind.words import telling


class Kind(StrEnum):
    """What a note is about, and the order in which notes may claim space."""

    CONSTRAINTS = "constraints"
    OPEN = "open"
    ERRORS = "errors"
    GOALS = "goals"
    DECISIONS = "decisions"
    PEOPLE = "people"
    FACTS = "facts"


_KNOWN: tuple[tuple[Kind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"\b(?:{pattern})", re.I))
    for kind, pattern in (
        (Kind.CONSTRAINTS, "constraint|rule|must|limit|preference"),
        (Kind.OPEN, "open|question|promise|pending|to-?do|unfinished|next|loop"),
        (Kind.ERRORS, "error|fail|problem|mistake"),
        (Kind.GOALS, "goal|aim|want|plan|wish"),
        (Kind.DECISIONS, "decision|decided|choice"),
        (Kind.PEOPLE, "people|person|who|friend|relation"),
        (Kind.FACTS, "fact|knowledge|known|thing|event|what"),
    )
)

_SHARE = {
    Kind.CONSTRAINTS: 0.30,
    Kind.OPEN: 0.30,
    Kind.ERRORS: 0.08,
    Kind.GOALS: 0.10,
    Kind.DECISIONS: 0.12,
    Kind.PEOPLE: 1.0,
    Kind.FACTS: 1.0,
}
"""The share of the space that notes of a kind may have at most."""
_FIRST = (Kind.CONSTRAINTS, Kind.OPEN)
"""Kinds whose sure notes come before what merely tells much."""
_NUMBERED = frozenset({Kind.CONSTRAINTS, Kind.OPEN, Kind.FACTS})
"""Kinds whose notes name the memory that they came from."""
_LONGEST_LINE = 20_000
_KEPT_SHARE = 0.5
"""The share of the space that lines which must be kept may have."""
_MOST_OF_ONE, _MOST_ASKED = 6, 3
"""Rules of one person, and questions, that come before what merely tells much."""
_ANSWERED_WITHIN = 8
"""Lines after a question within which whatever the agent says counts as an answer."""

_RULE_WORD = re.compile(
    r"(?<!i )\b(?:never|always|must)\b(?! (?:mind|have|a|an|the|so|been|seen|heard)\b)"
    r"|\b(?:forbidden|not allowed|has to|have to)\b",
    re.I,
)
_VOW = re.compile(r"\b(?:you|your|promise|swear|vow|word|owe)\b", re.I)
_WANT = re.compile(
    r"\bi (?:want|need|hope|mean|wish|plan|intend|would like|am going|long) to\b"
    r"|\bmy (?:goal|plan|dream|aim|wish)\b",
    re.I,
)
_DECIDED = re.compile(
    r"\bi(?:['’]ve| have)? decided\b|\blet us\b|\blet['’]s\b|\bit is settled\b", re.I
)
_SELF = re.compile(r"\b(?:i|i['’]m|i['’]ve|i['’]d|my|mine|me)\b", re.I)
_SPEAKER = re.compile(
    r"^(?P<who>.+?) (?P<how>said|asked|whispered|shouted|replied|answered)\b(?P<to>.*)$"
)
_PREFIX = re.compile(r"^(?P<who>[^:.!?\"“]{1,40}): ")
_FORGED = re.compile(r"\s*\(memor(?:y|ies) [\d\s,–-]+\)")
_REASON = re.compile(r"\s\|\s+(?P<reason>\S.*)$", re.S)
_OPEN_LINE = re.compile(r"\bpromis|\bi(?:['’]ll| will| owe)\b|\bask(?:s|ed)?\b|\?\W*$", re.I)
_TOLD = telling("told tells says asks asked promised promise promises whispered")
"""What a line says about being said, not about the matter."""
_TRIED = re.compile(r"^(?:You|I) tried to\b")
_SPOKE = re.compile(r"^~[^~<>]{1,40}>\s*(?:say|whisper|shout|ask|emote|pose)\b")


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence that may be kept.

    Attributes:
        kind: What it is about.
        text: As it is written down, without its number.
        told: The same as a sentence, to be weighed.
        number: The memory it came from; None if that is not known.
        sure: Whether the rules are sure of its kind.
        kept: Whether it has to be kept.
    """

    kind: Kind
    text: str
    told: Told
    number: int | None = None
    sure: bool = False
    kept: bool = False

    @property
    def line(self) -> str:
        """The text with the memory it came from, where that is wanted."""
        number = self.number if self.kind in _NUMBERED else None
        return structured.numbered(self.text, number)


def kind_of(heading: str) -> Kind | None:
    """What belongs under a heading, by the first word in it that is known."""
    return next((kind for kind, pattern in _KNOWN if pattern.search(heading)), None)


def notes_of(lines: Sequence[str], own_name: str, numbers: Sequence[int | None] = ()) -> list[Note]:
    """Every sentence of memories, or of summaries in prose, as a note.

    Args:
        lines: Oldest first; own acts as ``~Mira> say … | a reason``.
        own_name: Who is ``I``.
        numbers: The memory number of each line, or none at all.
    """
    known: Sequence[int | None] = numbers if len(numbers) == len(lines) else [None] * len(lines)
    answered = _answered(lines)
    notes: dict[str, Note] = {}
    for line, number, settled in zip(lines, known, answered, strict=True):
        for note in _of_line(line, own_name, number, settled):
            notes.setdefault(f"{note.kind} {structured.same(note.text)}", note)
    return list(notes.values())


def notes_in(summary: Structured) -> list[Note]:
    """The notes of a structured summary, each of its heading's kind."""
    found = []
    for heading, notes in summary.sections.items():
        for text in notes:
            bare = structured.unnumbered(text)
            speaker = _PREFIX.match(bare)
            told = Told(bare[speaker.end() :], speaker["who"]) if speaker else Told(bare)
            kind = kind_of(heading) or Kind.FACTS
            # What an older summary still has as a rule or as open was sure when it was new.
            found.append(Note(kind, bare, told, structured.number_of(text), sure=kind in _FIRST))
    return found


def with_kept(notes: Sequence[Note], must_keep: Iterable[str]) -> list[Note]:
    """The notes, those marked that say what has to be kept; what none says is put before them."""
    found, added = list(notes), []
    terms = [telling(note.line) for note in found]
    for line in must_keep:
        bare = structured.unnumbered(for_prompt(line))
        wanted = telling(bare) - _TOLD
        if not wanted:
            continue
        there = next((i for i, have in enumerate(terms) if wanted <= have), None)
        if there is not None:
            found[there] = replace(found[there], kept=True)
        else:
            kind = Kind.OPEN if _OPEN_LINE.search(bare) else Kind.CONSTRAINTS
            number = structured.number_of(line)
            added.append(Note(kind, bare, Told(bare), number, sure=True, kept=True))
    return added + found


def fill(
    notes: Sequence[Note],
    headings: Sequence[str],
    own_name: str,
    fits: Callable[[str], bool],
    characters: int,
) -> Structured:
    """The notes that tell most, under their headings, in order of time.

    Args:
        notes: What there is to choose from, oldest first.
        headings: The headings of the summary.
        own_name: Whose summary it is.
        fits: Whether a text is short enough; decides in the end.
        characters: About how many characters that is.
    """
    places = _places(headings)
    order = _order(notes, own_name, characters)
    room = characters - sum(len(heading) + 5 for heading in headings)
    left = {kind: int(room * share) for kind, share in _SHARE.items()}
    left_kept = int(room * _KEPT_SHARE)
    chosen: list[int] = []
    seen: set[str] = set()
    for position in order:
        note = notes[position]
        cost, key = len(note.line) + 3, structured.same(note.text)
        purse = left_kept if note.kept else left[note.kind]
        if key in seen or cost > room or cost > purse:
            continue
        chosen.append(position)
        seen.add(key)
        room -= cost
        if note.kept:
            left_kept -= cost
        else:
            left[note.kind] -= cost
    filled = _written(notes, chosen, headings, places)
    while chosen and not fits(filled.text):
        chosen.pop()
        filled = _written(notes, chosen, headings, places)
    return filled


def _written(
    notes: Sequence[Note], chosen: Sequence[int], headings: Sequence[str], places: dict[Kind, str]
) -> Structured:
    sections: dict[str, list[str]] = {heading: [] for heading in headings}
    for position in sorted(chosen):
        sections[places[notes[position].kind]].append(notes[position].line)
    return Structured(tuple(headings), {name: tuple(lines) for name, lines in sections.items()})


def _places(headings: Sequence[str]) -> dict[Kind, str]:
    """The heading for each kind: its own, else that of the facts, else the first."""
    own: dict[Kind, str] = {}
    for heading in headings:
        if kind := kind_of(heading):
            own.setdefault(kind, heading)
    spare = own.get(Kind.FACTS, headings[0])
    return {kind: own.get(kind, spare) for kind in Kind}


def _order(notes: Sequence[Note], own_name: str, characters: int) -> list[int]:
    """Positions, those first that should be kept first."""
    ranked = extractive.ranking([note.told for note in notes], own_name, 2 * characters)
    rank = {position: place for place, position in enumerate(ranked)}
    first = [i for i, note in enumerate(notes) if note.kept]
    rest = sorted(rank, key=lambda position: rank[position])
    return list(dict.fromkeys([*first, *_binding(notes), *rest]))


def _binding(notes: Sequence[Note]) -> list[int]:
    """Positions of what binds: rules, the oldest first, then promises and some questions.

    Nobody has many of them: else one player's rules would push out those of all others. Of
    what is open the newest is the likeliest still to be.
    """
    said_by: Counter[str] = Counter()
    rules, promised, asked = [], [], []
    for position, note in enumerate(notes):
        if note.sure and note.kind is Kind.CONSTRAINTS:
            said_by[note.told.speaker] += 1
            if said_by[note.told.speaker] <= _MOST_OF_ONE:
                rules.append(position)
        elif note.sure and note.kind is Kind.OPEN:
            (asked if note.text.endswith("?") else promised).append(position)
    return [*rules, *reversed(promised), *reversed(asked[-_MOST_ASKED:])]


def _answered(lines: Sequence[str]) -> list[bool]:
    """For each line, whether the agent said or did something to somebody soon afterwards."""
    answered = []
    for position in range(len(lines)):
        after = lines[position + 1 : position + 1 + _ANSWERED_WITHIN]
        answered.append(any(_SPOKE.match(line) for line in after))
    return answered


def _of_line(line: str, own_name: str, number: int | None, settled: bool) -> Iterator[Note]:
    act = line.startswith(cursor(own_name))
    if not act:
        # Only the agent's own cursor makes an act; another's is somebody's words.
        line = for_prompt(line, limit=_LONGEST_LINE)
    reason = _REASON.search(line) if act else None
    told = [
        Told(_FORGED.sub("", each.words), _FORGED.sub("", each.speaker))
        for each in retell(line, own_name)
    ]
    for position, sentence in enumerate(told):
        if not any(char.isalnum() for char in sentence.words):
            continue
        if _TRIED.match(line):
            if position == 0:
                yield _note(Kind.ERRORS, sentence, number, sure=True)
            continue
        if not reason and extractive.is_noise(sentence.words):
            continue
        kind, sure = _kind(sentence, own=act or sentence.speaker.startswith("I "), settled=settled)
        if reason and kind is Kind.FACTS and position == len(told) - 1:
            why = for_prompt(reason["reason"], limit=120).rstrip(".")
            yield _note(Kind.DECISIONS, sentence, number, sure=True, reason=why)
        else:
            yield _note(kind, sentence, number, sure=sure)


def _note(kind: Kind, told: Told, number: int | None, *, sure: bool, reason: str = "") -> Note:
    text = f"{_spoken_by(told.speaker)}{told.words}"
    if reason:
        text = f"{text.rstrip('.')} (because: {reason})"
    return Note(kind, for_prompt(text, limit=structured.LONGEST_NOTE), told, number, sure)


def _spoken_by(speaker: str) -> str:
    """``Tom: `` for ``Tom said to me``, ``I said: ``, ``Tom whispered: ``."""
    if not speaker:
        return ""
    parts = _SPEAKER.match(speaker)
    if parts is None or parts["who"] == "I":
        return f"{speaker}: "
    return f"{parts['who']}{'' if parts['how'] in ('said', 'asked') else ' ' + parts['how']}: "


def _kind(told: Told, *, own: bool, settled: bool) -> tuple[Kind, bool]:
    """The kind of a sentence, and whether the rules are sure of it."""
    words, spoken = told.words, bool(told.speaker)
    if not spoken:
        return Kind.FACTS, False
    if words.rstrip("\"”' ").endswith("?"):
        waits = not own and not settled and bool(questions(words))
        return (Kind.OPEN if waits else Kind.FACTS), waits
    if own:
        return _own_kind(words)
    if rules_in(words):
        return Kind.CONSTRAINTS, True
    if promises(words) and re.search(r"\byour?\b", words, re.I):
        return Kind.OPEN, False
    if _SELF.search(words):
        return Kind.PEOPLE, False
    return (Kind.CONSTRAINTS if _RULE_WORD.search(words) else Kind.FACTS), False


def _own_kind(words: str) -> tuple[Kind, bool]:
    if promises(words):
        return Kind.OPEN, bool(_VOW.search(words))
    if _WANT.search(words):
        return Kind.GOALS, False
    return (Kind.DECISIONS if _DECIDED.search(words) else Kind.FACTS), False
