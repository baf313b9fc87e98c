"""What the tasks of a night share: memories as numbered lines, the prompt, JSON that comes back."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.heard import spoken
from keepsake.language.perception import for_prompt, shorten
from keepsake.ports import ChatMessage, TargetModel
from keepsake.prompt.tokens import estimate_tokens
from keepsake.tasks.prompt_file import Prompts
from keepsake.tasks.task import AnswerRefused, Question

PARTS = ("system", "turn")
"""The parts of each of their templates."""
TEMPERATURE = 0.3
_FRAME_TOKENS = 700
"""Left for the template around the lines."""
_LONGEST_LINE = 400


def memory_line(memory: Memory) -> str:
    """``120. [Sat 21 November 2026, 14:05] Tom says to you, "…"``."""
    when = memory.time.astimezone()
    own = spoken(memory)
    if own is not None:
        text = f'You{f" to {own.to or memory.to}" if own.to or memory.to else ""}: "{own.words}"'
    elif memory.kind is MemoryKind.ACT:
        text = f"You: {memory.text}"
    else:
        text = memory.told
    line = shorten(for_prompt(text), _LONGEST_LINE)
    return f"{memory.number}. [{when:%a} {when.day} {when:%B %Y, %H:%M}] {line}"


def newest_that_fit(lines: Sequence[str], target: TargetModel) -> list[str]:
    """The newest of these lines for which a prompt to that model has room, oldest first."""
    room, kept = max(target.prompt_tokens - _FRAME_TOKENS, 200), list[str]()
    for line in reversed(lines):
        if (room := room - estimate_tokens(line) - 1) < 0:
            break
        kept.insert(0, line)
    return kept


class NightTask[T](ABC):
    """One question of a night: the two parts of a template, with the newest lines that fit.

    Args:
        prompts: The template.
        own_name: Whose night it is.
        lines: What the answer is made from, the oldest first.
        values: What else the template may name.

    Attributes:
        name: The name of the template.
        answer_tokens: The most tokens of an answer.
        schema: The JSON schema of the answer; None for text.
    """

    name: str
    answer_tokens: int
    schema: Mapping[str, Any] | None = None

    def __init__(
        self, prompts: Prompts, own_name: str, lines: Sequence[str], **values: Any
    ) -> None:
        self._prompts, self._lines = prompts, lines
        self._values = {"name": own_name, **values}

    def ask(self, target: TargetModel, refused: str) -> Question:
        """The two parts, as messages or as one text that an answer continues."""
        lines = newest_that_fit(self._lines, target)
        values = {**self._values, "lines": lines, "refused": refused}
        system, turn = (self._prompts.render(part, **values) for part in PARTS)
        question = Question(
            max_tokens=self.answer_tokens, temperature=TEMPERATURE, json_schema=self.schema
        )
        if target.form == "chat":
            messages = (ChatMessage("system", system), ChatMessage("user", turn))
            return replace(question, messages=messages)
        return replace(question, text=f"{system}\n\n{turn}\n", stop=("\n\n#",))

    @abstractmethod
    def read(self, answer: str) -> T:
        """What the answer means.

        Raises:
            AnswerRefused: It fails the check.
        """

    @abstractmethod
    def fallback(self) -> T:
        """The result without a model."""


def listed_in(answer: str, name: str) -> list[Mapping[str, Any]]:
    """The objects in the list ``name`` of the JSON object that an answer holds.

    Raises:
        AnswerRefused: There is no such object, or no such list in it.
    """
    start, end = answer.find("{"), answer.rfind("}")
    try:
        found = json.loads(answer[start : end + 1])[name]
        if isinstance(found, list) and all(isinstance(each, dict) for each in found):
            return found
    except (ValueError, KeyError, TypeError, IndexError):
        pass
    raise AnswerRefused(f'The answer is no JSON object with a list "{name}"')


def cited(found: Mapping[str, Any], shown: Collection[int], least: int = 1) -> tuple[int, ...]:
    """The memory numbers that a part of an answer rests on, ascending.

    Raises:
        AnswerRefused: They are too few, or one of them was not shown.
    """
    try:
        numbers = sorted({int(number) for number in found["memories"]})
    except (KeyError, TypeError, ValueError):
        numbers = []
    if len(numbers) < least:
        raise AnswerRefused(f"Each entry names at least {least} of the memories that it rests on")
    if unknown := [number for number in numbers if number not in shown]:
        raise AnswerRefused(f"There is no memory {unknown[0]} among those that were shown")
    return tuple(numbers)


def text_of(found: Mapping[str, Any], longest: int) -> str:
    """The words of a part of an answer, on one line.

    Raises:
        AnswerRefused: There are none, or too many.
    """
    text = " ".join(str(found.get("text", "")).split())
    if not any(char.isalnum() for char in text):
        raise AnswerRefused('Each entry has a "text"')
    if len(text) > longest:
        raise AnswerRefused(f"A text has {len(text)} characters; {longest} is the most")
    return text


def schema_of(name: str, most: int, fields: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The JSON schema of an object with a list ``name`` of at most ``most`` such objects."""
    item = {"type": "object", "properties": dict(fields), "required": list(fields)}
    return {
        "type": "object",
        "properties": {name: {"type": "array", "maxItems": most, "items": item}},
        "required": [name],
    }


NUMBERS: Mapping[str, Any] = {"type": "array", "items": {"type": "integer"}}
"""The schema of a list of memory numbers."""
