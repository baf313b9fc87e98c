"""Writing summaries: by a language model, or without one.

How a summary is to look comes from a template (:mod:`game.mind.strategy`): prose, or notes
under headings. The prompt is a plain text to continue, so that base models can follow it:
the memories, a heading that says what comes, and a cursor (with its blank: without it a
small model wanders).
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from game.mind import extractive, headings, structured, verdict
from game.mind.errors import SummaryRefused
from game.mind.perception import for_prompt
from game.mind.ports import Generation
from game.mind.recall.related import about_memory
from game.mind.records import Memory, MemoryKind, Tier
from game.mind.script import cursor
from game.mind.strategy import NARRATIVE, Strategy
from game.mind.structured import Structured
from game.mind.tokens import CHARACTERS_PER_TOKEN, estimate_tokens
from game.mind.words import telling

EXTRACTIVE = "extractive"
"""The name of the summarizer that needs no model."""
MERGED = "merged by heading"
"""Who wrote a structured summary that needed no model: both older ones fit together."""

MAX_CHARACTERS = {Tier.RECENT: 1200, Tier.LONGTERM: 1800}
"""How long a summary of each tier may get that nobody set a limit for."""

_WORDS_PER_TOKEN = 0.75
_LEAST_PART_TOKENS = 250
_PRIVATE_REASON = re.compile(r"\s\|\s+\S.*$", re.S)
_CURE = "Set another model, or `extractive`, for the summarizer profile in llm.md"


@dataclass(frozen=True, slots=True)
class Source:
    """What one summary is to be made of.

    Attributes:
        tier: Which summary it becomes.
        agent: The name of the agent whose memories they are.
        lines: The memories, or for the long-term summary the two summaries, oldest first.
            An own act is ``~Mira> say …``, with its private reason after `` | `` if it has one.
        numbers: The memory number of each line, 0 for an older summary; none at all where all
            of them are summaries.
        strategy: How it is to be written; None for the narrative way.
        limit_tokens: The most tokens that it may have; 0 for the usual.
        must_keep: Constraints and open matters that have to be in it.
        tokens: Counts the tokens of a text.
    """

    tier: Tier
    agent: str
    lines: tuple[str, ...]
    numbers: tuple[int, ...] = ()
    strategy: Strategy | None = None
    limit_tokens: int = 0
    must_keep: tuple[str, ...] = ()
    tokens: Callable[[str], int] = estimate_tokens

    @property
    def way(self) -> Strategy:
        """The strategy, or what holds without one."""
        return self.strategy or NARRATIVE

    @property
    def characters(self) -> int:
        """About how many characters the summary may have."""
        usual = MAX_CHARACTERS[self.tier]
        return self.limit_tokens * CHARACTERS_PER_TOKEN if self.limit_tokens else usual

    @property
    def words(self) -> int:
        """About how many words that is; what a prompt asks for."""
        return max(int(self.characters / CHARACTERS_PER_TOKEN * _WORDS_PER_TOKEN), 20)

    def fits(self, text: str) -> bool:
        """Whether a summary is short enough."""
        if self.limit_tokens:
            return self.tokens(text) <= self.limit_tokens
        return len(text) <= self.characters


@dataclass(frozen=True, slots=True)
class Draft:
    """A summary that passed its checks.

    Attributes:
        text: The summary.
        model: Who wrote it.
        calls: Model calls it took.
        prompt_tokens: Tokens sent, 0 if none or unknown.
        completion_tokens: Tokens generated, 0 if none or unknown.
        seconds: Wall time.
    """

    text: str
    model: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


class Summarizer(Protocol):
    """Writes summaries; called from worker threads, two at a time."""

    def summarize(self, source: Source) -> Draft:
        """Summarise ``source``.

        Raises:
            ModelError: No usable answer.
            SummaryRefused: The answer failed its checks.
            ConfigError: The strategy's template fails on these memories.
        """
        ...


class ExtractiveSummarizer:
    """Picks the most telling sentences; never fails and never invents."""

    def summarize(self, source: Source) -> Draft:
        """Summarise ``source`` without a model, as its strategy wants it."""
        began = time.perf_counter()
        source = _relevant(source)
        text = _notes(source).text if source.way.headings else _prose(source)
        return Draft(text, EXTRACTIVE, seconds=time.perf_counter() - began)


class ModelSummarizer:
    """Has a language model write the summary and checks it.

    Args:
        generate: Calls the model; the arguments are the prompt and the stop strings.
        context_tokens: What fits into one prompt; longer sources are cut into parts that
            are summarised one after the other.
        tries: How often an answer is asked for, refused ones and lacking headings included.
    """

    def __init__(
        self,
        generate: Callable[[str, tuple[str, ...]], Generation],
        *,
        context_tokens: int = 4096,
        tries: int = 2,
    ) -> None:
        self._generate = generate
        self._part_tokens = max(context_tokens * 3 // 4, _LEAST_PART_TOKENS)
        self._tries = tries

    def summarize(self, source: Source) -> Draft:
        """Summarise ``source``, part by part where it is too long for one prompt.

        Raises:
            ModelError: No usable answer.
            SummaryRefused: Every answer failed its checks.
            ConfigError: The strategy's template fails on these memories.
        """
        source = _relevant(source)
        call = _Calls(self._generate, self._tries)
        write = _write_notes if source.way.headings else _write_prose
        text = write(source, call, self._part_tokens)
        return Draft(
            text,
            call.model or MERGED,
            call.count,
            call.prompt_tokens,
            call.completion_tokens,
            call.seconds,
        )


class _Calls:
    """The model, and what it has cost so far."""

    def __init__(self, generate: Callable[[str, tuple[str, ...]], Generation], tries: int) -> None:
        self._generate = generate
        self.tries = tries
        self.model = ""
        self.count = self.prompt_tokens = self.completion_tokens = 0
        self.seconds = 0.0

    def __call__(self, prompt: str, stop: tuple[str, ...]) -> Generation:
        answer = self._generate(prompt, stop)
        self.model = answer.model
        self.count += 1
        self.prompt_tokens += answer.prompt_tokens
        self.completion_tokens += answer.completion_tokens
        self.seconds += answer.seconds
        return answer


# -- prose


def _prose(source: Source) -> str:
    """The most telling sentences as one paragraph, what must be kept before them."""
    lines = [line for text in source.lines for line in structured.plain(text)]
    text = _selected(source, lines, source.characters)
    have = telling(text)
    lost = [_sentence(line) for line in source.must_keep if not telling(line) <= have]
    head = ""
    for sentence in lost:
        longer = f"{head} {sentence}".strip()
        if len(longer) <= source.characters // 2:
            head = longer
    if not head:
        return text
    return f"{head} {_selected(source, lines, source.characters - len(head) - 1, head)}".strip()


def _selected(source: Source, lines: Sequence[str], characters: int, head: str = "") -> str:
    """As many sentences as fit, by the count of tokens in the end."""
    text = ""
    for _ in range(12):
        if characters < 1:
            return ""
        text = extractive.summarize(lines, max_chars=characters, own_name=source.agent)
        if not text or source.fits(f"{head} {text}".strip()):
            return text
        characters = characters * 3 // 4
    return ""


def _sentence(line: str) -> str:
    line = for_prompt(line)
    return line if line.endswith((".", "!", "?", "…", ")")) else f"{line}."


def _write_prose(source: Source, call: _Calls, part_tokens: int) -> str:
    lines = [_PRIVATE_REASON.sub("", x) if x.startswith("~") else x for x in source.lines]
    lines = [line for text in lines for line in structured.plain(text)]
    written = " ".join(
        _prose_part(source, part, call) for part in _parts(lines, source.tokens, part_tokens)
    )
    if not source.limit_tokens or source.fits(written):
        return written
    # Too long even though the model was told: its most telling sentences.
    return _selected(source, [written], source.characters) or written[: source.characters]


def _prose_part(source: Source, lines: Sequence[str], call: _Calls) -> str:
    way = source.way
    prompt = way.prompt(
        source.tier, source.agent, lines, must_keep=source.must_keep, words=source.words
    )
    reason = ""
    for _ in range(call.tries):
        text = verdict.clean(call(prompt, way.stop).text)
        reason = verdict.check(text, lines) or ""
        if not reason:
            return text
    raise SummaryRefused(f"the summary was refused: {reason}", _CURE)


# -- notes under headings


def _notes(source: Source) -> Structured:
    """Every heading filled by rules, older notes among them."""
    older, lines, numbers = _split(source)
    notes = [note for summary in older for note in headings.notes_in(summary)]
    notes += headings.notes_of(lines, source.agent, numbers)
    return _fitted(source, notes)


def _fitted(source: Source, notes: Sequence[headings.Note]) -> Structured:
    return headings.fill(
        headings.with_kept(notes, source.must_keep),
        source.way.headings,
        source.agent,
        source.fits,
        source.characters,
    )


def _write_notes(source: Source, call: _Calls, part_tokens: int) -> str:
    """Notes by the model; older notes are only put together, as long as they fit."""
    wanted = source.way.headings
    older, lines, numbers = _split(source)
    written = [*older]
    if lines:
        written += _note_parts(source, lines, numbers, call, part_tokens)
    together = structured.with_empty(structured.merge(written, wanted))
    if source.fits(together.text) or (call.count and not source.limit_tokens):
        return together.text
    if not call.count:
        # Only older notes, and too many: they are what is to be summarised.
        texts = [f"{heading}: {note}" for heading, note in together.notes]
        parts = _note_parts(source, texts, [None] * len(texts), call, part_tokens)
        together = structured.with_empty(structured.merge(parts, wanted))
    if source.fits(together.text):
        return together.text
    return _fitted(source, headings.notes_in(together)).text


def _split(source: Source) -> tuple[list[Structured], list[str], list[int | None]]:
    """What is notes already, and the other lines with their numbers."""
    numbers = [number or None for number in source.numbers]
    if len(numbers) != len(source.lines):
        numbers = [None] * len(source.lines)
    older: list[Structured] = []
    lines: list[str] = []
    known: list[int | None] = []
    for line, number in zip(source.lines, numbers, strict=True):
        kept = structured.read(line) if "\n" in line or line.startswith("## ") else None
        if kept is not None and number is None:
            older.append(kept)
        else:
            lines.append(" ".join(line.split()))
            known.append(number)
    return older, lines, known


def _note_parts(
    source: Source,
    lines: Sequence[str],
    numbers: Sequence[int | None],
    call: _Calls,
    part_tokens: int,
) -> list[Structured]:
    found, start = [], 0
    for part in _parts(lines, source.tokens, part_tokens):
        found.append(_note_part(source, part, numbers[start : start + len(part)], call))
        start += len(part)
    return found


def _note_part(
    source: Source, lines: Sequence[str], numbers: Sequence[int | None], call: _Calls
) -> Structured:
    """Notes of one part; headings that the first answer lacks are asked for again."""
    way = source.way
    found = Structured(way.headings, {})
    reason = ""
    for _ in range(call.tries):
        wanted = found.missing
        prompt = way.prompt(
            source.tier,
            source.agent,
            lines,
            numbers=numbers,
            headings=wanted,
            must_keep=source.must_keep,
            words=source.words,
        )
        answer = call(prompt, way.stop)
        got = _understood(answer, wanted, structured.opened(prompt, wanted))
        got = _fresh(_supported(got, lines, numbers), found)
        reason = _check(got, found, lines)
        if not reason:
            found = structured.merge([found, got], way.headings)
            if not found.missing:
                return found
            reason = f"it lacks {', '.join(found.missing)}"
    raise SummaryRefused(f"the summary was refused: {reason}", _CURE)


def _understood(answer: Generation, wanted: Sequence[str], opened: str) -> Structured:
    text = verdict.without_tokens(answer.text)
    if answer.finish_reason == "length" and "\n" in text:
        # The last line was cut off; half a rule can say the contrary of the whole.
        text = text.rpartition("\n")[0]
    return structured.parse(text, wanted, opened=opened)


def _fresh(got: Structured, before: Structured) -> Structured:
    """Without notes that are there already: a model may begin from the beginning again.

    A heading that had nothing but such notes was not answered.
    """
    there = {structured.same(note) for _, note in before.notes}
    sections = {}
    for heading, notes in got.sections.items():
        fresh = tuple(note for note in notes if structured.same(note) not in there)
        if fresh or not notes:
            sections[heading] = fresh
    return Structured(got.headings, sections)


def _check(got: Structured, before: Structured, lines: Sequence[str]) -> str:
    """Why an answer is no good; empty if it may be, lacking headings aside."""
    if not got.sections:
        lacking = ", ".join(got.headings)
        return f"it lacks {lacking}" if before.notes else f"it has none of the headings {lacking}"
    texts = [structured.unnumbered(note) for _, note in got.notes]
    if not texts:
        # Nothing under the headings that were lacking is an answer; nothing at all is none.
        return "" if before.notes else "it is empty"
    ended = (text if text.endswith((".", "!", "?")) else f"{text}." for text in texts)
    reason = verdict.check(" ".join(ended), lines)
    return f"it {reason}" if reason and not reason.startswith("has no sentence") else ""


def _supported(got: Structured, lines: Sequence[str], numbers: Sequence[int | None]) -> Structured:
    """Notes that have something to do with the source, each with the memory it came from."""
    lookup = _Lookup(lines, numbers)
    return Structured(
        got.headings,
        {
            heading: tuple(line for note in notes if (line := lookup.attributed(note)))
            for heading, notes in got.sections.items()
        },
    )


class _Lookup:
    """Finds the line that a note was made of; rare words tell more than frequent ones."""

    def __init__(self, lines: Sequence[str], numbers: Sequence[int | None]) -> None:
        self._terms = [telling(structured.unnumbered(line)) for line in lines]
        # Older notes carry the number of the memory that they came from.
        self._numbers = [
            number or structured.number_of(line)
            for line, number in zip(lines, numbers, strict=True)
        ]
        self._spread = Counter(term for terms in self._terms for term in terms)

    def attributed(self, note: str) -> str:
        """The note with the number of its memory; empty if it agrees with no line at all."""
        wanted = telling(structured.unnumbered(note))
        shared = [self._weight(wanted & terms) for terms in self._terms]
        best = max(range(len(shared)), key=shared.__getitem__, default=-1)
        if best < 0 or not shared[best]:
            return ""
        said = structured.number_of(note)
        if said is not None:
            right = (i for i, n in enumerate(self._numbers) if n == said and shared[i])
            best = next(right, best)
        sure = shared[best] >= 0.5 * self._weight(wanted)
        figures = {term for term in wanted if any(char.isdigit() for char in term)}
        sure = sure and figures <= self._terms[best]
        return structured.numbered(note, self._numbers[best] if sure else None)

    def _weight(self, terms: Iterable[str]) -> float:
        return sum(1 / max(self._spread[term], 1) for term in terms)


# -- both


def _relevant(source: Source) -> Source:
    """Without what the agent did with its own memory, unless there is nothing else."""
    lines = source.lines
    kept = [i for i, line in enumerate(lines) if not _about_memory(line, source.agent)]
    if not kept or len(kept) == len(lines):
        return source
    numbers = source.numbers if len(source.numbers) == len(lines) else ()
    return replace(
        source,
        lines=tuple(lines[i] for i in kept),
        numbers=tuple(numbers[i] for i in kept) if numbers else (),
    )


def _about_memory(line: str, agent: str) -> bool:
    """Whether a line tells of a note, a search or what one brought."""
    act = line.removeprefix(cursor(agent)).lstrip()
    kind = MemoryKind.RESULT if act == line.lstrip() else MemoryKind.ACT
    return about_memory(Memory(0, datetime.min.replace(tzinfo=UTC), kind, act))


def _parts(lines: Sequence[str], tokens: Callable[[str], int], most: int) -> list[list[str]]:
    """Cut ``lines`` into runs of at most ``most`` tokens, a longer line being cut short."""
    parts: list[list[str]] = [[]]
    room = most
    for line in lines:
        cost = tokens(line) + 1
        if cost > room and parts[-1]:
            parts.append([])
            room = most
        parts[-1].append(line[: most * CHARACTERS_PER_TOKEN])
        room -= cost
    return parts
