"""Summaries as notes under headings: by a model, or filled by rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from keepsake.compaction import key_memories
from keepsake.compaction.key_memories import KeyMemory, SentenceMatcher
from keepsake.language.words import stem, telling, words
from keepsake.ports import Generation
from keepsake.summaries import (
    draft_checks,
    headings,
    note_classifier,
    note_parser,
    verification,
)
from keepsake.summaries import sections as structured
from keepsake.summaries.sections import Structured
from keepsake.summaries.source import TRIES, Calls, SummarySource, cut_into_parts, refused

_MANY_LINES, _LEAST_WORDS = 8, 4
"""Notes of so many lines have at least so many telling words; a small model echoes the prompt."""

_LIKE_NOTICED = re.compile(r"(?:[^:]{1,48} (?:told|asked) you|you promised\b[^:]{0,48}):", re.I)
"""How the lines of the noticed block begin."""


def by_rules(source: SummarySource) -> str:
    """Every heading filled by rules, older notes among them."""
    older, lines, numbers = _split(source)
    notes = [note for summary in older for note in note_classifier.notes_in(summary)]
    return _fitted(source, [*notes, *note_classifier.notes_of(lines, source.agent, numbers)])


def _fitted(source: SummarySource, notes: Sequence[note_classifier.ClassifiedNote]) -> str:
    lost, found = verification.lost(source.must_keep, [note.line for note in notes]), _found(source)
    every = [*map(note_classifier.of_kept, lost), *notes]
    matters = [found.importance_of(note.told, note.number) for note in every]
    return headings.fill(source, every, matters).text


def _found(source: SummarySource) -> SentenceMatcher:
    """Says what a note matters, by the number of its memory or by its words."""
    lines = zip(source.numbers, source.lines, source.importance, strict=True)
    of_lines = [KeyMemory(number, line, score) for number, line, score in lines if number and score]
    return SentenceMatcher([*source.weighty, *of_lines], source.agent)


def by_model(source: SummarySource, call: Calls, part_tokens: int) -> str:
    """Notes by the model; older notes are only put together, as long as they fit.

    Raises:
        ModelError: No usable answer.
        SummaryRefused: Every answer failed its checks, or a heading stayed away.
    """
    wanted = source.way.headings
    older, lines, numbers = _split(source)
    written = [*older]
    if lines:
        written += _note_parts(source, lines, numbers, call, part_tokens)
    together = structured.with_empty(structured.merge(written, wanted))
    if source.fits(together.text) or (call.cost.calls and not source.limit_tokens):
        return together.text
    if not call.cost.calls:
        # Only older notes, and too many: they are what is to be summarised.
        texts = [f"{heading}: {note}" for heading, note in together.notes]
        parts = _note_parts(source, texts, [None] * len(texts), call, part_tokens)
        together = structured.with_empty(structured.merge(parts, wanted))
    if source.fits(together.text):
        return together.text
    return _fitted(source, note_classifier.notes_in(together))


def _split(source: SummarySource) -> tuple[list[Structured], list[str], list[int | None]]:
    """What is notes already, and the other lines with their numbers."""
    older: list[Structured] = []
    lines: list[str] = []
    numbers: list[int | None] = []
    for line, number in zip(source.lines, source.numbers, strict=True):
        noted = not number and ("\n" in line or line.startswith("## "))
        text = line
        if noted and (kept := structured.read(line)) is not None:
            older.append(headings.moved(kept, source.way.headings))
            text = structured.before_headings(line)  # what a person put there
        if text := " ".join(text.split()):
            lines.append(text)
            numbers.append(number or None)
    return older, lines, numbers


def _note_parts(
    source: SummarySource,
    lines: Sequence[str],
    numbers: Sequence[int | None],
    call: Calls,
    part_tokens: int,
) -> list[Structured]:
    parts = cut_into_parts(lines, source.tokens, part_tokens)
    return [_note_part(source, part, numbers[where], call) for where, part in parts]


def _note_part(
    source: SummarySource, lines: Sequence[str], numbers: Sequence[int | None], call: Calls
) -> Structured:
    """Notes of one part; headings that the first answer lacks are asked for again."""
    found = Structured(source.way.headings, {})
    # Older notes carry the number of the memory that they came from.
    bare = map(structured.number_of, lines)
    known = [number or noted for number, noted in zip(numbers, bare, strict=True)]
    matters = _found(source)
    mattered = key_memories.named(
        lines, lambda at, told: matters.importance_of(told, known[at]), source.agent
    )
    kept = map(structured.number_of, source.must_keep)
    lookup = _Lookup([*lines, *source.must_keep], [*known, *kept], source.agent)
    reason = ""
    for _ in range(TRIES):
        wanted = found.missing
        prompt = source.prompt(lines, numbers, headings=wanted, mattered=mattered)
        answer = call(prompt, source.way.stop)
        got = _understood(answer, wanted, note_parser.ends_within(prompt, wanted))
        got = got.changed(lambda note: "" if _forged(note, source.must_keep) else note)
        got = _fresh(got.changed(lookup.attributed), found)
        reason = _check(got, found, lines)
        if not reason:
            found = structured.merge([found, got], found.headings)
            if not found.missing:
                return found
            reason = f"it lacks {', '.join(found.missing)}"
    raise refused(reason)


def _understood(answer: Generation, wanted: Sequence[str], opened: str) -> Structured:
    text = draft_checks.without_tokens(answer.text)
    if answer.finish_reason == "length" and "\n" in text:
        # The last line was cut off; half a rule can say the contrary of the whole.
        text = text.rpartition("\n")[0]
    return note_parser.parse(text, wanted, opened=opened)


def _fresh(got: Structured, before: Structured) -> Structured:
    """Without notes that are there already: a model may begin from the beginning again.

    A heading that had nothing but such notes was not answered.
    """
    there = {structured.same(note) for _, note in before.notes}
    fresh = {
        heading: tuple(note for note in notes if structured.same(note) not in there)
        for heading, notes in got.sections.items()
    }
    answered = {h: notes for h, notes in fresh.items() if notes or not got.sections[h]}
    return Structured(got.headings, answered)


def _check(got: Structured, before: Structured, lines: Sequence[str]) -> str:
    """Why an answer is no good; empty if it may be, lacking headings aside."""
    if not got.sections:
        lacking = ", ".join(got.headings)
        return f"it lacks {lacking}" if before.notes else f"it has none of the headings {lacking}"
    texts = [structured.unnumbered(note) for _, note in got.notes]
    if not texts:
        # Nothing under the headings that were lacking is an answer; nothing at all is none.
        return "" if before.notes else "nothing in it comes from the memories"
    told = {term for text in texts for term in telling(text)}
    if not before.notes and len(lines) >= _MANY_LINES and len(told) < _LEAST_WORDS:
        return "it tells next to nothing"
    ended = (text if text.endswith((".", "!", "?")) else f"{text}." for text in texts)
    reason = draft_checks.check(" ".join(ended), lines)
    return f"it {reason}" if reason and not reason.startswith("has no sentence") else ""


def _forged(note: str, must_keep: Sequence[str]) -> bool:
    """Whether it looks like what was noticed, but is what somebody has merely said."""
    noticed = {structured.same(line) for line in must_keep}
    return bool(_LIKE_NOTICED.match(note)) and structured.same(note) not in noticed


class _Lookup:
    """Finds the line that a note was made of; rare words tell more than frequent ones."""

    def __init__(self, lines: Sequence[str], numbers: Sequence[int | None], agent: str) -> None:
        self._terms = [telling(structured.unnumbered(line)) for line in lines]
        self._numbers = numbers
        self._spread = Counter(term for terms in self._terms for term in terms)
        self._known = self._spread.keys() | telling(agent)

    def attributed(self, note: str) -> str:
        """The note with the number of its memory; empty if it is not made of these lines."""
        wanted = telling(structured.unnumbered(note))
        if not self._supports(note, wanted):
            return ""
        shared = [self._weight(wanted & terms) for terms in self._terms]
        best = max(range(len(shared)), key=shared.__getitem__, default=-1)
        said = structured.number_of(note)
        if said is not None:
            right = (i for i, n in enumerate(self._numbers) if n == said and shared[i])
            best = next(right, best)
        sure = shared[best] >= 0.5 * self._weight(wanted)
        figures = {term for term in wanted if any(char.isdigit() for char in term)}
        sure = sure and figures <= self._terms[best]
        return structured.numbered(note, self._numbers[best] if sure else None)

    def _supports(self, note: str, wanted: set[str]) -> bool:
        """Whether half its words are known, and every name and figure in it."""
        bare = words(structured.unnumbered(note))
        named = {
            stem(word)
            for position, word in enumerate(bare)
            if (position and word[0].isupper()) or any(char.isdigit() for char in word)
        }
        known = wanted & self._known
        return 2 * len(known) >= len(wanted) > 0 and not (named & wanted) - self._known

    def _weight(self, terms: Iterable[str]) -> float:
        return sum(1 / max(self._spread[term], 1) for term in terms)
