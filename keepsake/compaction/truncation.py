"""The last rung: cutting a summary short.

What is cut is in the archive, and what it was made from is too; the text says so, and how
to bring it back. The oldest goes first; what must be kept is never cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from keepsake.archive.records import Summary
from keepsake.prompt.tokens import most_tokens

KEPT = "I must not forget: "
"""Begins a line that was put back word for word."""
LIMIT = 300
"""Estimated tokens of all that is put back: it is never cut, so it may not fill a prompt."""

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_NOTE = "(Left out here: part of memories {first}-{last}. `recall` and a name bring it back.)"
# All of it, word for word: with less, what somebody says could take others' words away.
_NOTES = re.compile(
    re.escape(_NOTE).replace(r"\{first\}", r"\d+").replace(r"\{last\}", r"\d+") + r"\s*"
)


def note(summary: Summary) -> str:
    """What stands in a prompt in place of what was cut from ``summary``."""
    return _NOTE.format(first=summary.first, last=summary.last)


def without_note(text: str) -> str:
    """``text`` without what an earlier cut left in it."""
    return _NOTES.sub("", text).strip()


def cut(
    summary: Summary, limit: int, weigh: Callable[[str], int], *, all_of_it: bool = False
) -> str:
    """The text of ``summary`` within ``limit`` tokens.

    ``limit``: Tokens that it may have, its note included.
    ``all_of_it``: Lines that must be kept go too, where nobody could be answered with them.

    Returns:
        The whole text if it fits; else the note, the lines that must be kept, and as much of
        the end as there is room for. Never less than the note and those lines.
    """
    text = without_note(summary.text)
    if weigh(summary.text) <= limit:
        return summary.text
    lines = text.splitlines()
    kept = [line for line in lines if line.startswith(KEPT) and not all_of_it]
    body = [
        part for line in lines if all_of_it or not line.startswith(KEPT) for part in _parts(line)
    ]
    room = limit - weigh("\n".join([note(summary), *kept]))
    end: list[str] = []
    for part in reversed(body):
        if (room := room - weigh(part)) < 0:
            break
        end.insert(0, part)
    joined = ("\n" if _is_list(text) else " ").join(end)
    return "\n".join(part for part in (note(summary), joined, *kept) if part)


def put_back(text: str, lines: tuple[str, ...]) -> str:
    """``text`` with ``lines`` after it, word for word."""
    return "\n".join([text, *(KEPT + " ".join(line.split()) for line in lines)])


def fitting(lines: Iterable[str]) -> tuple[str, ...]:
    """The first of ``lines`` that fit into :data:`LIMIT`."""
    room, found = LIMIT, []
    for line in lines:
        if (cost := most_tokens(line)) <= room:
            room -= cost
            found.append(line)
    return tuple(found)


def unmarked(text: str) -> str:
    """``text`` as it was written, with no line that would pass for one that was put back."""
    bare = f"{KEPT.rstrip(': ')} "
    return "\n".join(
        f"{bare}{line.removeprefix(KEPT)}" if line.startswith(KEPT) else line
        for line in text.splitlines()
    )


def put_back_in(text: str) -> tuple[str, ...]:
    """The lines that :func:`put_back` has added to ``text``, without their beginning."""
    return tuple(x.removeprefix(KEPT) for x in text.splitlines() if x.startswith(KEPT))


def without_added(text: str) -> str:
    """``text`` without what a cut or :func:`put_back` added: what there is to summarise.

    What was put back is carried on as it is, not told again in other words.
    """
    text = without_note(text)
    told = "\n".join(line for line in text.splitlines() if not line.startswith(KEPT)).strip()
    return told or text


def _parts(line: str) -> list[str]:
    """A line of a list as it is, prose sentence by sentence."""
    return [line] if line.lstrip()[:1] in "-*#" else _SENTENCE.split(line)


def _is_list(text: str) -> bool:
    return any(line.lstrip()[:1] in "-*#" for line in text.splitlines() if line.strip())
