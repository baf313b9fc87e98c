"""The prompt of an act as chat messages, for models that were made for them.

It is the same prompt, cut in two: what seldom changes is the system message, which a server keeps
in its cache; the situation, what can be done in it and what is asked are the user's.
"""

from __future__ import annotations

from collections.abc import Sequence

from keepsake.ports import ChatMessage
from keepsake.prompt.marks import FRAME, PromptLine
from keepsake.prompt.template import Rendered

_CHANGING = frozenset(
    {"people", "related_notes", "related_experiences", "remembered", "situation", "nudge", FRAME}
)
"""Sections that are made anew for each thought."""
ASK = (
    "What do you do now, as somebody like you would? "
    "Answer with one command from the list, in full, and nothing else."
)
JUST_NOW = 3
"""Lines of the script that stand once more before the question."""
ASK_SPEECH = "Somebody waits for your answer. Answer with: say, and your words. Nothing else."


def act_messages(
    rendered: Rendered, usages: Sequence[str], *, lead: str = ""
) -> tuple[ChatMessage, ChatMessage]:
    """The prompt as a system and a user message.

    ``rendered``: The prompt as a script, its cursor last.
    ``lead``: The verb that the answer has to begin with; empty for any.
    """
    lines = rendered.lines[:-1]
    stable = (i for i, line in enumerate(lines) if line.section not in _CHANGING)
    cut = max(stable, default=-1) + 1
    head, last = (_text(part) for part in (lines[:cut], lines[cut:]))
    listed = "\n".join(f"- {usage}" for usage in usages)
    recent = [line.text for line in lines if line.section == "window"][-JUST_NOW:]
    just_now = "\n".join(["Just now:", *recent, ""]) if recent else ""
    asked = ASK_SPEECH if lead else ASK
    parts = (last, "" if lead else f"What you can do now:\n{listed}", f"{just_now}{asked}")
    user = "\n\n".join(part for part in parts if part)
    return ChatMessage("system", head), ChatMessage("user", user)


def as_text(messages: Sequence[ChatMessage]) -> str:
    """The same in words, for logs."""
    return "\n\n".join(f"{each.role}: {each.text}" for each in messages)


def _text(lines: Sequence[PromptLine]) -> str:
    return "\n".join(line.text for line in lines).strip("-\n ")
