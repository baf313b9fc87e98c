"""Values that tell where they come from, and the lines of a text made of them.

Each variable of a template has a private-use character. A value is printed between that
character and an end mark, so that the text tells which of its lines comes from where; both
are taken out again when the text is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

FRAME = "frame"
"""The section of lines that the template itself brings: headings, rules, blank lines."""

_END = "\uf8ff"
_FIRST = 0xE000
_MOST_SEEN = 32_768
"""Lines of prompts that are remembered: the windows of some hundred agents."""


class PromptLine(NamedTuple):
    """One line of a prompt.

    Attributes:
        text: The line without its end and without marks.
        section: The first variable in it, or :data:`FRAME`.
    """

    text: str
    section: str


class Rendered(NamedTuple):
    """A prompt, and which variable each of its lines comes from."""

    text: str
    lines: tuple[PromptLine, ...]


class MarkedText(str):
    """A value that says where it comes from when it is printed, and else is a plain string."""

    __slots__ = ("printed",)
    printed: str

    def __str__(self) -> str:
        return self.printed


class Marks:
    """The marks of a set of variables.

    Args:
        names: The variables, in any order that stays the same.
        anywhere: Those of them that say nothing of what a line is about.
    """

    def __init__(self, names: Sequence[str], anywhere: Iterable[str] = ()) -> None:
        self._of = {name: chr(_FIRST + place) for place, name in enumerate(names)}
        self._names = {mark: name for name, mark in self._of.items()}
        self._telling = frozenset(self._of.values()) - {self._of[name] for name in anywhere}
        self._any = re.compile(f"[{''.join(self._of.values())}{_END}]")
        # Most of a prompt stands in the next one too.
        self._seen = lru_cache(maxsize=_MOST_SEEN)(self._line)

    def on(self, name: str, value: Any) -> Any:
        """``value`` with every string in it marked as coming from the variable ``name``."""
        if isinstance(value, str):
            return self.one(name, value) if name in self._of else value
        if isinstance(value, list):
            return [self.on(name, each) for each in value]
        if isinstance(value, dict):
            return {key: self.on(name, each) for key, each in value.items()}
        return value

    def one(self, name: str, text: str) -> MarkedText:
        """``text`` marked as coming from the variable ``name``."""
        marked = MarkedText(text)
        marked.printed = f"{self._of[name]}{text}{_END}"
        return marked

    def read(self, printed: str) -> tuple[PromptLine, ...]:
        """The lines of a text in which marked values were printed, without blanks at its end."""
        inside, lines = "", []
        for each in printed.split("\n"):
            line, inside = self._seen(each, inside)
            lines.append(line)
        while len(lines) > 1 and not lines[-1].text.strip():
            lines.pop()
        lines[-1] = lines[-1]._replace(text=lines[-1].text.rstrip())
        return tuple(lines)

    def _line(self, printed: str, inside: str) -> tuple[PromptLine, str]:
        """One line, and the mark of the value that goes on behind it; ``inside``: before it."""
        if printed.isascii():  # no mark is: a line of the template, or of a longer value
            return PromptLine(printed, self._names.get(inside, FRAME)), inside
        marks = self._any.findall(printed)
        first = inside or next((mark for mark in marks if mark in self._telling), "")
        if marks:
            inside = "" if marks[-1] == _END else marks[-1]
        return PromptLine(self._any.sub("", printed), self._names.get(first, FRAME)), inside
