"""A prompt of short talks with a note behind each, as a chat model is asked the last note.

A model that continues text goes on with the page. Sent to a chat model as one message, the same
page makes a small one explain it. Shown as its own earlier answers, one talk a message, the notes
are the example of its form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepsake.language.perception import for_prompt
from keepsake.ports import ASSISTANT, SYSTEM, USER, ChatMessage, GenerationRequest
from keepsake.tasks.task import Prompts


def request_of(
    prompts: Prompts,
    block: str,
    said: Mapping[str, str],
    *,
    stop: tuple[str, ...],
    max_tokens: int,
    stub: str = "",
    schema: Mapping[str, Any] | None = None,
) -> GenerationRequest:
    """Return what a model is asked, which answers with the note of the last talk.

    Args:
        prompts: The file with the template.
        block: The name of the template in it.
        said: The variables of the template: texts of people and names, as they are.
        stop: Where the note ends.
        max_tokens: The most tokens of the note.
        stub: As for :func:`as_chat`.
        schema: The JSON schema of the note; None for free text.
    """
    text = prompts.render(block, **{name: for_prompt(each) for name, each in said.items()})
    return GenerationRequest(
        text,
        max_tokens=max_tokens,
        temperature=0.0,
        stop=stop,
        json_schema=schema,
        messages=as_chat(text, stub),
    )


def as_chat(page: str, stub: str = "") -> tuple[ChatMessage, ...]:
    """Return a page as messages, of which a chat model answers the last.

    Args:
        page: A first paragraph that says what the notes are, then talks, a blank line between two.
            The last line of each is its note; that of the last talk is the beginning of one.
        stub: What ends the part of a note that is asked with the talk: ``(give lamp to Tom:`` for
            ``:``. Empty if the whole note is the answer.
    """
    first, *talks = page.strip().split("\n\n")
    messages = [ChatMessage(SYSTEM, first)]
    for talk in talks[:-1]:
        lines, _, note = talk.rpartition("\n")
        asked, mark, answer = note.rpartition(stub) if stub else ("", "", note)
        shown = f"{lines}\n{asked}{mark}" if mark else lines
        messages += [ChatMessage(USER, shown), ChatMessage(ASSISTANT, answer.strip())]
    last = talks[-1] if stub else talks[-1].rpartition("\n")[0]
    return (*messages, ChatMessage(USER, last))
