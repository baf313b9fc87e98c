"""The messages of a chat as servers take them, and for templates that do not take all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from keepsake.ports import ChatMessage, Tool

SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
NO_SYSTEM = 2
"""The level from which on no system message is sent."""
_NOBODY_SPOKE = "…"


def as_sent(messages: Sequence[ChatMessage]) -> list[dict[str, str]]:
    """The messages, as every server takes them."""
    return [{"role": each.role, "content": each.text} for each in messages]


def tools_as_sent(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools, as every server takes them."""
    return [
        {
            "type": "function",
            "function": {
                "name": each.name,
                "description": each.description,
                "parameters": dict(each.parameters),
            },
        }
        for each in tools
    ]


def alternating(messages: Sequence[ChatMessage], level: int) -> tuple[ChatMessage, ...]:
    """The messages for a template that refuses some.

    Args:
        messages: As they were written.
        level: 0 for all as they are; 1 for user and assistant in turn, after one system message
            at most; 2 for the same without it.
    """
    if not level:
        return tuple(messages)
    head = [each for each in messages[:1] if each.role == SYSTEM and level < NO_SYSTEM]
    rest = [
        ChatMessage(USER if each.role == SYSTEM else each.role, each.text)
        for each in messages[len(head) :]
    ]
    if rest and rest[0].role == ASSISTANT:  # templates begin with the user
        rest.insert(0, ChatMessage(USER, _NOBODY_SPOKE))
    merged = [
        ChatMessage(role, "\n\n".join(each.text for each in of_one))
        for role, of_one in groupby(rest, key=lambda each: each.role)
    ]
    return (*head, *merged)
