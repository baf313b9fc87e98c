"""From what a server sent to a :class:`Generation`, or the error that says why not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from game.mind.errors import BadAnswer
from game.mind.ports import Generation

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_MARK = re.compile(r"</?think(?:ing)?>", re.IGNORECASE)
_CLOSE_THOUGHT = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


THOUGHT_TOKENS = 1024
"""What a model that thinks aloud is given beside the tokens of its answer."""


def has_thought(text: Any) -> bool:
    """Whether a model has thought aloud here."""
    return isinstance(text, str) and bool(_MARK.search(text))


def without_thoughts(text: str) -> str:
    """The answer without what a reasoning model said to itself.

    Some templates open the block inside the prompt, so only its end comes back.

    Raises:
        BadAnswer: A block was opened and never closed: there is no answer behind it.
    """
    if "think" not in text:
        return text
    answer = _THOUGHT.sub("", text)
    if closed := list(_CLOSE_THOUGHT.finditer(answer)):
        answer = answer[closed[-1].end() :]
    if opened := _OPEN_THOUGHT.search(answer):
        answer = answer[: opened.start()]
        if not answer.strip():
            raise BadAnswer(
                "The model was still inside its <think> block when it was cut off",
                "Raise max_tokens or take '\\n' out of stop in llm.md, or use a model that"
                " does not think aloud",
            )
    return answer.lstrip() if answer != text else text


def generation(
    text: Any,
    *,
    server: str,
    finish_reason: str,
    prompt_tokens: int,
    cached_tokens: int,
    completion_tokens: int,
    seconds: float,
    model: str,
    stop: Sequence[str] = (),
) -> Generation:
    """Check and clean one answer.

    ``stop`` ends it here where the server was not told to: in a thought it would have ended
    the thought.

    Raises:
        BadAnswer: It is not text, or nothing is left of it.
    """
    if not isinstance(text, str):
        raise BadAnswer(f"{server} sent {type(text).__name__} in place of text", "Look at its log")
    answer = without_thoughts(text)
    if stop:
        answer = answer.lstrip()
    answer = answer[: min((answer.index(each) for each in stop if each in answer), default=None)]
    if not answer.strip():
        raise BadAnswer(f"{server} sent an empty answer", "Ask again, or change stop in llm.md")
    return Generation(
        text=answer,
        finish_reason="length" if finish_reason == "length" else "stop",
        prompt_tokens=prompt_tokens,
        cached_tokens=cached_tokens,
        completion_tokens=completion_tokens,
        seconds=seconds,
        model=model,
    )


def count(value: Any) -> int:
    """A token count as a server sent it; 0 when it sent none."""
    return value if isinstance(value, int) and value > 0 else 0
