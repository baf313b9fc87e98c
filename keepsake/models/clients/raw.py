"""An answer as a server sent it, whole or in pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keepsake.models.clients.http import inner


@dataclass(slots=True)
class RawAnswer:
    """What a server sent, as it sent it: any of it may be of a wrong type."""

    text: Any = None
    thought: Any = None
    finish_reason: Any = None
    prompt_tokens: Any = None
    cached_tokens: Any = None
    completion_tokens: Any = None
    evaluation_seconds: Any = None
    model: Any = None
    tool_calls: list[dict[str, Any]] = field(default_factory=list)


def calls_in(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The calls of tools in a message or in a piece of one: name, arguments and number."""
    listed = message.get("tool_calls")
    found = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return [{"index": each.get("index"), **inner(each, "function")} for each in found]


def count(value: Any) -> int:
    """A count as a server sent it; 0 when it sent none."""
    return value if isinstance(value, int) and value > 0 else 0


def seconds(value: Any) -> float:
    """A time as a server sent it; 0 when it sent none."""
    return float(value) if isinstance(value, int | float) and value > 0 else 0.0


def add_piece(whole: RawAnswer, part: RawAnswer) -> None:
    """Put a piece to what came before it; the text goes its own way."""
    whole.thought = whole.thought or part.thought
    whole.finish_reason = whole.finish_reason or part.finish_reason
    figures = ("prompt_tokens", "cached_tokens", "completion_tokens", "evaluation_seconds", "model")
    for name in figures:
        if (value := getattr(part, name)) is not None:
            setattr(whole, name, value)
    for call in part.tool_calls:
        at = call.get("index")
        begun = next((c for c in whole.tool_calls if at is not None and c["index"] == at), None)
        if begun is None:
            whole.tool_calls.append(call)
        elif isinstance(more := call.get("arguments"), str):
            begun["arguments"] = f"{begun.get('arguments') or ''}{more}"
