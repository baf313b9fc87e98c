"""What a server sends with the text of an answer: figures and tool calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keepsake.errors import AnswerBrokenOff, BadAnswer
from keepsake.language.perception import LAST_COMMA
from keepsake.models.http import ServerTexts
from keepsake.ports import Tool, ToolCall

MOST_CALLS = 16
"""The most tool calls of one answer; a turn makes one or two."""


@dataclass(slots=True)
class SentAnswer:
    """The metadata that a server sends with an answer, and its tool calls."""

    thought: bool = False
    finish: str = ""
    prompt_tokens: int = 0
    cached_tokens: int | None = None  # None if the server does not say
    completion_tokens: int = 0
    evaluation_seconds: float = 0.0
    model: str = ""
    evaluated: int = 0  # new tokens of the prompt that the server says it has read so far
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)  # tool calls: name and arguments
    latest: dict[int, int] = field(default_factory=dict)  # the newest call of each index

    def add_call(self, at: int) -> dict[str, Any]:
        """Return the tool call with this number, new if there is none.

        Raises:
            AnswerBrokenOff: There are too many.
        """
        if at not in self.calls and len(self.calls) >= MOST_CALLS:
            what = f"The model made more than {MOST_CALLS} tool calls in one answer"
            raise AnswerBrokenOff(what, "Ask again, or write tools: no in llm.md")
        return self.calls.setdefault(at, {"name": "", "arguments": ""})

    @property
    def from_cache(self) -> int | None:
        """How many tokens of the prompt came from the cache; None if the server does not say."""
        cached = self.cached_tokens
        return min(cached, self.prompt_tokens) if cached is not None else None


def read_tool_call(server: ServerTexts, sent: Mapping[str, Any]) -> ToolCall:
    """Parse a tool call as a server sent it.

    Raises:
        BadAnswer: It cannot be read.
    """
    name = sent.get("name")
    arguments = sent.get("arguments") or {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(LAST_COMMA.sub(r"\1", arguments), strict=False)
        except (ValueError, RecursionError):
            arguments = None
    if not isinstance(name, str) or not name or not isinstance(arguments, dict):
        said = server.quoted(str(sent))
        what = f"{server.name} sent an unreadable tool call ({said})"
        raise BadAnswer(what, "Ask again, or write tools: no in llm.md")
    return ToolCall(name, arguments)


def tools_as_sent(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return the tools in the JSON form that every server accepts."""
    named = [
        {"name": each.name, "description": each.description, "parameters": dict(each.parameters)}
        for each in tools
    ]
    return [{"type": "function", "function": each} for each in named]
