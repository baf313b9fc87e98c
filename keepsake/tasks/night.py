"""The tasks of a night: the journal of a day, portraits of people, and reflection.

They share the format of memories, the two parts of a prompt, and the parsing of JSON answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.plan import Plan
from keepsake.books.plan_lines import LONGEST_PLAN
from keepsake.errors import NoteRefused
from keepsake.language.perception import LAST_COMMA, for_prompt, shorten
from keepsake.language.tokens import estimate_tokens
from keepsake.ports import SYSTEM, USER, ChatMessage, GenerationRequest, TargetModel
from keepsake.tasks.conversation import own_line
from keepsake.tasks.task import AnswerRefused, Prompts

MOST_ENTRIES = 12
"""The most journal entries of one answer."""
LONGEST_ENTRY = 400
"""The most characters of a journal entry."""
LONGEST_PORTRAIT = 1200
"""The most characters of the paragraph about a person."""
LONGEST_INSIGHT = 300
"""The most characters of an insight."""
MOST_PLANS = 5
"""The most plans of one night. Park's agents plan a day in five to eight strokes; these are only
what comes on top of the written day."""
_NUMBER = re.compile(r"\b\d{1,9}\b")
LEAST_CITED = 2
"""An insight must cite at least this many memories."""
TEMPERATURE = 0.3
"""Low, because the answer must follow a schema and keep to what happened."""
_FRAME_TOKENS = 700
"""Prompt tokens reserved for the template around the lines."""
_LONGEST_LINE = 400
"""The most characters of a memory that the model reads."""
_TEXT: Mapping[str, Any] = {"type": "string"}
_NUMBERS: Mapping[str, Any] = {"type": "array", "items": {"type": "integer"}}
_IMPORTANCE: Mapping[str, Any] = {"type": "integer", "minimum": 1, "maximum": 10}
"""The JSON schemas of an entry's fields."""


@dataclass(frozen=True, slots=True)
class DraftEntry:
    """A journal entry or an insight that a model has written."""

    text: str
    memories: tuple[int, ...]  # numbers of the memories that it cites, ascending
    importance: int = 0  # 1 to 10; 0 for an insight, which takes it from the cited memories


@dataclass(frozen=True, slots=True)
class PlanDraft:
    """A plan that a model has written at night."""

    plan: Plan
    memories: tuple[int, ...]  # numbers of the memories that it cites, ascending


type ReadPlan = Callable[[str], Plan]
"""Reads the line of a plan; raises NoteRefused with the reason if it cannot be planned."""


def memory_line(memory: Memory) -> str:
    """Format a memory: ``120. [Sat 21 November 2026, 14:05] Tom says to you, "…"``."""
    when = memory.time.astimezone()
    own = memory.said
    if own is not None:
        to = f" to {memory.to}" if memory.to else ""
        text = f'You{to}: "{own.words}"'
    elif memory.kind is MemoryKind.ACT:
        text = f"You: {own_line(memory)}"
    else:
        text = memory.repeated(1).line
    line = shorten(for_prompt(text), _LONGEST_LINE)
    return f"{memory.number}. [{when:%a} {when.day} {when:%B %Y, %H:%M}] {line}"


@dataclass(frozen=True, slots=True)
class NightTask[T]:
    """One task of a night: the two parts of a template, with the lines that fit.

    The newest lines are shown. With ``oldest_first`` the oldest ones are: the rest is for the next
    call, and ``taken`` has the number of lines of each prompt that was made.
    """

    name: str  # of its template
    prompts: Prompts
    lines: Sequence[str]  # the source of the answer, the oldest first
    values: Mapping[str, Any]  # the other variables of the template
    answer_tokens: int
    read: Callable[[str], T]
    default: T  # the result without a model
    schema: Mapping[str, Any] | None = None  # the JSON schema of the answer; None for text
    oldest_first: bool = False
    taken: list[int] = field(default_factory=list, compare=False)

    def ask(self, target: TargetModel, refused: str) -> GenerationRequest:
        """Return the two parts as messages."""
        room = max(target.prompt_tokens - _FRAME_TOKENS, 200)
        lines = list[str]()
        for line in self.lines if self.oldest_first else reversed(self.lines):
            room -= estimate_tokens(line) + 1
            # A single line is shown even if it is too long: no night could read it otherwise.
            if room < 0 and lines:
                break
            lines.append(line)
        self.taken.append(len(lines))
        lines = lines if self.oldest_first else lines[::-1]
        values = {**self.values, "lines": lines, "refused": refused}
        system, turn = (self.prompts.render(part, **values) for part in ("system", "turn"))
        return GenerationRequest(
            messages=(ChatMessage(SYSTEM, system), ChatMessage(USER, turn)),
            max_tokens=self.answer_tokens,
            temperature=TEMPERATURE,
            json_schema=self.schema,
        )

    def fallback(self) -> T:
        """Return the result without a model."""
        return self.default


def _schema(name: str, most: int, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with a list ``name`` of at most ``most`` objects."""
    item = {"type": "object", "properties": fields, "required": list(fields)}
    entries = {"type": "array", "maxItems": most, "items": item}
    return {"type": "object", "properties": {name: entries}, "required": [name]}


def parse_objects(answer: str, name: str) -> list[Mapping[str, Any]]:
    """Return the complete objects of the list ``name`` in an answer, or of a bare list.

    Raises:
        AnswerRefused: There is no such list.
    """
    decoder = json.JSONDecoder(strict=False)
    plain = LAST_COMMA.sub(r"\1", answer)
    alone = list[Mapping[str, Any]]()
    end = 0
    for start in (place for place, sign in enumerate(plain) if sign in "[{"):
        if start < end:
            continue
        try:
            found, end = decoder.raw_decode(plain, start)
        except ValueError:
            continue
        except RecursionError:
            break
        listed = found.get(name) if isinstance(found, dict) else found or None
        if isinstance(listed, list) and all(isinstance(each, dict) for each in listed):
            return listed
        if isinstance(found, dict) and name not in found:
            alone.append(found)
    if alone:
        return alone
    raise AnswerRefused(f'The answer is not a JSON object with a list "{name}"')


def _parse_entry(
    found: Mapping[str, Any], longest: int, shown: Collection[int], least: int = 1
) -> DraftEntry:
    """Parse one object of an answer; refuse it if it cites fewer than ``least`` memories."""
    text = " ".join(str(found.get("text", "")).split())
    if not any(char.isalnum() for char in text):
        raise AnswerRefused('Each entry has a "text"')
    if len(text) > longest:
        raise AnswerRefused(f"A text has {len(text)} characters; {longest} is the most")
    try:
        numbers = sorted({int(number) for number in found["memories"]})
    except (KeyError, TypeError, ValueError):
        numbers = []
    if len(numbers) < least:
        raise AnswerRefused(f"Each entry must cite at least {least} of the memories")
    if unknown := [number for number in numbers if number not in shown]:
        raise AnswerRefused(f"There is no memory {unknown[0]} among those that were shown")
    return DraftEntry(text, tuple(numbers))


def _each_usable[T](
    found: Sequence[Mapping[str, Any]], read: Callable[[Mapping[str, Any]], T]
) -> tuple[T, ...]:
    """Read the objects of an answer.

    Raises:
        AnswerRefused: One cannot be read; ``usable`` has the others, if there are any.
    """
    usable = []
    reasons = []
    for each in found:
        try:
            usable.append(read(each))
        except AnswerRefused as refused:
            reasons.append(refused.what)
    if reasons:
        raise AnswerRefused(reasons[0], usable=tuple(usable) or None)
    return tuple(usable)


def journal_task(
    prompts: Prompts, own_name: str, memories: Sequence[Memory]
) -> NightTask[tuple[DraftEntry, ...]]:
    """Create the task that asks for the entries of a day; they may cite only shown memories.

    It shows as many of the oldest memories as fit; :attr:`NightTask.taken` says how many.

    ``memories``: The memories of the day that everybody may know, the oldest first.
    """
    shown = frozenset(each.number for each in memories)

    def read_entry(found: Mapping[str, Any]) -> DraftEntry:
        given = found.get("importance")
        if not isinstance(given, int) or not 1 <= given <= 10:
            raise AnswerRefused('The "importance" of an entry is a whole number from 1 to 10')
        return replace(_parse_entry(found, LONGEST_ENTRY, shown), importance=given)

    def read(answer: str) -> tuple[DraftEntry, ...]:
        return _each_usable(parse_objects(answer, "entries")[:MOST_ENTRIES], read_entry)

    lines = [memory_line(each) for each in memories]
    values = {"name": own_name, "most": MOST_ENTRIES, "longest": LONGEST_ENTRY}
    item = {"text": _TEXT, "importance": _IMPORTANCE, "memories": _NUMBERS}
    schema = _schema("entries", MOST_ENTRIES, item)
    return NightTask("journal", prompts, lines, values, 1500, read, (), schema, oldest_first=True)


def people_task(
    prompts: Prompts, own_name: str, who: str, portrait: str, lines: Sequence[str]
) -> NightTask[str]:
    """Create the task that asks for the paragraph about one person; the fallback keeps the old one.

    It shows as many of the oldest lines as fit; :attr:`NightTask.taken` says how many.

    Args:
        portrait: The current paragraph; empty for none.
        lines: The person's words and acts, with dates, the oldest first.
    """

    def read(answer: str) -> str:
        text = " ".join(answer.split()).lstrip("#*->` ")
        if not any(char.isalnum() for char in text):
            raise AnswerRefused("The answer is empty")
        if len(text) > LONGEST_PORTRAIT:
            what = f"The answer has {len(text)} characters; {LONGEST_PORTRAIT} is the most"
            raise AnswerRefused(what)
        return text

    own = {"name": own_name, "who": who, "portrait": portrait, "longest": LONGEST_PORTRAIT}
    return NightTask("people", prompts, lines, own, 450, read, portrait, oldest_first=True)


def reflect_task(  # noqa: PLR0917 - all six arguments are needed and distinct
    prompts: Prompts,
    own_name: str,
    lines: Sequence[str],
    known: Sequence[str],
    numbers: Collection[int],
    most: int,
) -> NightTask[tuple[DraftEntry, ...]]:
    """Create the task that asks for insights; each cites at least two of the shown memories.

    Args:
        lines: Entries with the numbers of their memories, the oldest first.
        known: Earlier insights.
        numbers: All memory numbers that occur in the entries.
    """

    def read_insight(found: Mapping[str, Any]) -> DraftEntry:
        return _parse_entry(found, LONGEST_INSIGHT, numbers, LEAST_CITED)

    def read(answer: str) -> tuple[DraftEntry, ...]:
        return _each_usable(parse_objects(answer, "insights")[:most], read_insight)

    values = {"name": own_name, "known": known, "most": most, "longest": LONGEST_INSIGHT}
    schema = _schema("insights", most, {"text": _TEXT, "memories": _NUMBERS})
    return NightTask("reflect", prompts, lines, values, 500, read, (), schema)


def intentions_task(
    prompts: Prompts, own_name: str, lines: Sequence[str], values: Mapping[str, Any], read: ReadPlan
) -> NightTask[tuple[PlanDraft, ...]]:
    """Create the task that asks what the agent means to do tomorrow.

    Args:
        lines: Promises, people and journal entries, with the numbers of their memories.
        values: The other variables of the template: ``persona``, ``today``, ``known`` …
        read: Reads the line of a plan; raises NoteRefused if it cannot be planned.
    """
    shown = frozenset(int(number) for line in lines for number in _NUMBER.findall(line))

    def read_plan(found: Mapping[str, Any]) -> PlanDraft:
        draft = _parse_entry({**found, "text": found.get("plan")}, LONGEST_PLAN, shown, 0)
        try:
            return PlanDraft(read(draft.text), draft.memories)
        except NoteRefused as refusal:
            raise AnswerRefused(str(refusal)) from refusal

    def parse(answer: str) -> tuple[PlanDraft, ...]:
        return _each_usable(parse_objects(answer, "plans")[:MOST_PLANS], read_plan)

    given = {**values, "name": own_name, "most": MOST_PLANS, "longest": LONGEST_PLAN}
    schema = _schema("plans", MOST_PLANS, {"plan": _TEXT, "memories": _NUMBERS})
    return NightTask("intentions", prompts, lines, given, 900, parse, (), schema)
