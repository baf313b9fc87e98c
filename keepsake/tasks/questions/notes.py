"""A prompt of short talks with a note behind each, as a chat model is asked the last note.

A model that continues text goes on with the page. Sent to a chat model as one message, the same
page makes a small one explain it. Shown as its own earlier answers, one talk a message, the notes
are the example of its form.
"""

from __future__ import annotations

from keepsake.ports import ASSISTANT, SYSTEM, USER, ChatMessage


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
