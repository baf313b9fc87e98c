"""Memories as notes: what each sentence is about, told by rules, without a model.

A note is of one kind: a rule that somebody gave, an open matter (a promise, a question
without an answer), a failure, a goal, a decision, what somebody said of themselves, or else
a fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from keepsake.books.noticing import promises, questions, rules_in
from keepsake.language.perception import for_prompt
from keepsake.prompt.script import cursor
from keepsake.summaries import extractive, sections
from keepsake.summaries.retelling import ToldSentence, retell
from keepsake.summaries.sections import Structured


class NoteKind(StrEnum):
    """What a note is about."""

    CONSTRAINTS = "constraints"
    OPEN = "open"
    ERRORS = "errors"
    GOALS = "goals"
    DECISIONS = "decisions"
    PEOPLE = "people"
    FACTS = "facts"


_KNOWN: tuple[tuple[NoteKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"\b(?:{pattern})", re.I))
    for kind, pattern in (
        (NoteKind.CONSTRAINTS, "constraint|rule|must|limit|preference"),
        (NoteKind.OPEN, "open|question|promise|pending|to-?do|unfinished|next|loop"),
        (NoteKind.ERRORS, "error|fail|problem|mistake"),
        (NoteKind.GOALS, "goal|aim|want|plan|wish"),
        (NoteKind.DECISIONS, "decision|decided|choice"),
        (NoteKind.PEOPLE, "people|person|who|friend|relation"),
        (NoteKind.FACTS, "fact|knowledge|known|thing|event|what"),
    )
)

_NUMBERED = frozenset({NoteKind.CONSTRAINTS, NoteKind.OPEN, NoteKind.FACTS})
"""Kinds whose notes name the memory that they came from."""
_LONGEST_LINE = 20_000
_ANSWERED_WITHIN = 8
"""Lines after a question within which whatever the agent says counts as an answer."""

_WANT = re.compile(
    r"\bi (?:want|need|hope|mean|wish|plan|intend|would like|am going|long) to\b"
    r"|\bmy (?:goal|plan|dream|aim|wish)\b",
    re.I,
)
_SELF = re.compile(r"\b(?:i|i['’]m|i['’]ve|i['’]d|my|mine|me)\b", re.I)
_SPEAKER = re.compile(
    r"^(?P<who>.+?) (?P<how>said|asked|whispered|shouted|replied|answered)\b(?P<to>.*)$"
)
_PREFIX = re.compile(r"^(?P<who>[^:.!?\"“]{1,40}): ")
_REASON = re.compile(r"\s\|\s+(?P<reason>\S.*)$", re.S)
_TOLD_TO = re.compile(r"^[^:]{1,48} told you[^:]{0,48}:", re.I)
_TRIED = re.compile(r"^(?:You|I) tried to\b")
_SPOKE = re.compile(r"^~[^~<>]{1,40}>\s*(?:say|whisper|shout|ask|emote|pose)\b")


@dataclass(frozen=True, slots=True)
class ClassifiedNote:
    """One sentence that may be kept."""

    kind: NoteKind
    text: str  # as it is written down, without its number
    told: ToldSentence
    number: int | None = None  # the memory it came from; None if that is not known
    kept: bool = False

    @property
    def line(self) -> str:
        """The text with the memory it came from, where that is wanted."""
        number = self.number if self.kind in _NUMBERED else None
        return sections.numbered(self.text, number)


def kind_of(heading: str) -> NoteKind | None:
    """What belongs under a heading, by the first word in it that is known."""
    return next((kind for kind, pattern in _KNOWN if pattern.search(heading)), None)


def notes_of(
    lines: Sequence[str], own_name: str, numbers: Sequence[int | None] = ()
) -> list[ClassifiedNote]:
    """Every sentence of memories, or of summaries in prose, as a note.

    ``lines``: Oldest first; own acts as ``~Mira> say … | a reason``.
    """
    known: Sequence[int | None] = numbers if len(numbers) == len(lines) else [None] * len(lines)
    spoke = [_SPOKE.match(line) is not None for line in lines]
    notes: dict[str, ClassifiedNote] = {}
    for position, (line, number) in enumerate(zip(lines, known, strict=True), start=1):
        settled = any(spoke[position : position + _ANSWERED_WITHIN])
        for note in _of_line(line, own_name, number, settled):
            notes.setdefault(f"{note.kind} {sections.same(note.text)}", note)
    return list(notes.values())


def notes_in(summary: Structured) -> list[ClassifiedNote]:
    """The notes of a structured summary, each of its heading's kind."""
    found = []
    for heading, notes in summary.sections.items():
        for text in notes:
            bare = sections.unnumbered(text)
            speaker = _PREFIX.match(bare)
            end, who = (speaker.end(), speaker["who"]) if speaker else (0, "")
            told = ToldSentence(bare[end:], who)
            kind = kind_of(heading) or NoteKind.FACTS
            found.append(ClassifiedNote(kind, bare, told, sections.number_of(text)))
    return found


def of_kept(line: str) -> ClassifiedNote:
    """A line that must be kept, as a note."""
    bare = sections.unnumbered(for_prompt(line))
    rule = bool(_TOLD_TO.match(bare))
    kind = NoteKind.CONSTRAINTS if rule else NoteKind.OPEN
    return ClassifiedNote(kind, bare, ToldSentence(bare), sections.number_of(line), kept=True)


def _of_line(
    line: str, own_name: str, number: int | None, settled: bool
) -> Iterator[ClassifiedNote]:
    act = line.startswith(cursor(own_name))
    if not act:
        # Only the agent's own cursor makes an act; another's is somebody's words.
        line = for_prompt(line, limit=_LONGEST_LINE)
    reason = _REASON.search(line) if act else None
    told = [each for each in retell(line, own_name) if any(map(str.isalnum, each.words))]
    if _TRIED.match(line):
        yield from (_note(NoteKind.ERRORS, each, number) for each in told[:1])
        return
    for sentence in told:
        if not reason and extractive.is_noise(sentence.words):
            continue
        kind = _kind(sentence, own=act or sentence.own, settled=settled)
        if reason and kind is NoteKind.FACTS and sentence is told[-1]:
            why = for_prompt(reason["reason"], limit=120).rstrip(".")
            yield _note(NoteKind.DECISIONS, sentence, number, reason=why)
        else:
            yield _note(kind, sentence, number)


def _note(
    kind: NoteKind, told: ToldSentence, number: int | None, *, reason: str = ""
) -> ClassifiedNote:
    text = f"{_spoken_by(told.speaker)}{told.words}"
    if reason:
        text = f"{text.rstrip('.')} (because: {reason})"
    return ClassifiedNote(kind, for_prompt(text, limit=sections.LONGEST_NOTE), told, number)


def _spoken_by(speaker: str) -> str:
    """``Tom: `` for ``Tom said to me``, ``I said: ``, ``Tom whispered: ``."""
    if not speaker:
        return ""
    parts = _SPEAKER.match(speaker)
    if parts is None or parts["who"] == "I":
        return f"{speaker}: "
    return f"{parts['who']}{'' if parts['how'] in ('said', 'asked') else ' ' + parts['how']}: "


def _kind(told: ToldSentence, *, own: bool, settled: bool) -> NoteKind:
    words = told.words
    if not told.speaker:
        return NoteKind.FACTS
    if words.rstrip("\"”' ").endswith("?"):
        waits = not own and not settled and bool(questions(words))
        return NoteKind.OPEN if waits else NoteKind.FACTS
    if own:
        if promises(words):
            return NoteKind.OPEN
        return NoteKind.GOALS if _WANT.search(words) else NoteKind.FACTS
    if rules_in(words):
        return NoteKind.CONSTRAINTS
    if promises(words) and re.search(r"\byour?\b", words, re.I):
        return NoteKind.OPEN
    return NoteKind.PEOPLE if _SELF.search(words) else NoteKind.FACTS
