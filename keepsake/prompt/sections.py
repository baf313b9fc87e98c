"""The sections of a prompt: which line comes from which variable, and the tokens of each section.

Each variable of a template has a private-use character. A value is printed between that
character and an end mark, so that each line of the text shows its variable. Reading the text
removes both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from keepsake.ports import Tokens

FRAME = "frame"
"""The section of the template's own lines: headings, rules, blank lines."""
BAR = 24
"""Width of the bar of the whole budget, in characters."""
_END = "\uf8ff"
_FIRST = 0xE000
"""Marks of the end of a value and of the first variable, in Unicode's area for private use."""
TITLES = {
    "persona": "who it is",
    "knows": "who it is",
    "examples": "how it speaks",
    "longterm": "long-term summary",
    "longterm_span": "long-term summary",
    "recent": "short-term summary",
    "recent_span": "short-term summary",
    "journal": "what mattered",
    "people": "people here",
    "known": "people here",
    "here": "people here",
    "notes": "related notes",
    "experiences": "related past",
    "recalled": "related past",
    "told": "related past",
    "talk": "window",
    "place": "situation",
    "now": "situation",
    "daytime": "situation",
    "moment": "situation",
    "description": "situation",
    "detail": "situation",
    "details": "situation",
    "things": "situation",
    "lying": "situation",
    "carried": "situation",
    "belongings": "situation",
    "exits": "situation",
    "ways": "situation",
    "facts": "situation",
    "usual": "usual day",
    "usual_now": "usual day",
    "written": "persona",
    "no_longer": "persona",
    "instead": "persona",
    "directed": "deeds",
    "options": "deeds",
    "own_deeds": "deeds",
    "not_now": "deeds",
    "commands": "deeds",
    "open_plans": "plans",
    "private_plans": "plans",
    "progress": "plans",
    "missed": "plans",
    "intentions": "plans",
    "due": "plans",
    "due_now": "plans",
    "pinned": "pins and promises",
    "noticed": "pins and promises",
    "kept": "pins and promises",
    "let_go": "pins and promises",
    "private_kept": "pins and promises",
    "confided": "told in confidence",
    "partner": "what it answers",
    "asked": "what it answers",
    "words": "what it answers",
    "earlier": "what it answers",
    "also": "what it answers",
    "came": "what it answers",
    "asks_all": "what it answers",
    "invitation": "what it answers",
    "called_by": "why it thinks",
    "concern": "why it thinks",
    "occasion": "why it thinks",
    "trigger": "why it thinks",
    "refused": "refused answer",
    FRAME: "headings",
}
"""Titles of sections whose variable name says too little to a reader."""


def titled(sections: Mapping[str, int]) -> dict[str, int]:
    """Return the tokens of each section by its title, in order of first appearance.

    ``sections``: By title, or by the names of variables, as older logs have some of them.
    """
    found: dict[str, int] = {}
    for name, tokens in sections.items():
        title = TITLES.get(name, name)
        found[title] = found.get(title, 0) + tokens
    return found


type PromptLine = tuple[str, str]
"""One line of a prompt without line end and marks, and its first variable or :data:`FRAME`. It is
a tuple for speed."""


class Rendered(NamedTuple):
    """A prompt, and the variable of each of its lines."""

    text: str
    lines: tuple[PromptLine, ...]


class MarkedText(str):
    """A string that shows its variable only when it is printed."""

    __slots__ = ("printed",)
    printed: str

    def __str__(self) -> str:
        return self.printed


class Marks:
    """The marks of a set of variables.

    Args:
        names: The variables, in any order that stays the same.
        anywhere: Variables that do not decide the section of a line.
    """

    def __init__(self, names: Sequence[str], anywhere: Iterable[str] = ()) -> None:
        self._of = {name: chr(_FIRST + place) for place, name in enumerate(names)}
        self._names = {mark: name for name, mark in self._of.items()}
        self._telling = frozenset(self._of.values()) - {self._of[name] for name in anywhere}
        self._any = re.compile(f"([{''.join(self._of.values())}{_END}])")

    def on(self, name: str, value: Any) -> Any:
        """Return ``value``, or each string of a list, marked with the variable ``name``."""
        if isinstance(value, str) and name in self._of:
            marked = MarkedText(value)
            marked.printed = f"{self._of[name]}{value}{_END}"
            return marked
        return [self.on(name, each) for each in value] if isinstance(value, list) else value

    def read(self, printed: str) -> list[PromptLine]:
        """Return the lines of a text with marked values, without whitespace at its end."""
        inside = ""
        lines = []  # the mark of a value that continues on the next line
        for line in printed.rstrip().split("\n"):
            at = 2 if line.startswith("- ") else 0
            section = inside or line[at : at + 1]
            text = line
            if not inside and section in self._telling and line.find(_END) == len(line) - 1:
                text = line[:at] + line[at + 1 : -1]  # usually a value is a whole line or item
            elif not line.isascii():
                parts = self._any.split(line)
                text = "".join(parts[::2])
                marks = parts[1::2]
                section = inside or next((mark for mark in marks if mark in self._telling), "")
                if marks:
                    inside = "" if marks[-1] == _END else marks[-1]
            lines.append((text, self._names.get(section, FRAME)))
        lines[-1] = lines[-1][0].rstrip(), lines[-1][1]
        return lines


@dataclass(frozen=True, slots=True)
class Costs:
    """The token costs of one prompt."""

    sections: Mapping[str, int]  # tokens of each section, in order of first appearance
    budget: int
    used: int  # tokens of the whole prompt


def costs_of(prompt: Rendered, tokens: Tokens, budget: int) -> Costs:
    """Count the tokens of each section of a prompt, in order of first appearance; fast."""
    spent: dict[str, int] = {}  # by the name of the variable
    # A line is counted with its end. A blank line after it costs nothing, because a run of
    # line ends is one token.
    costs = tokens.each([text for text, _ in prompt.lines])
    for (_, name), cost in zip(prompt.lines, costs, strict=True):
        spent[name] = spent.get(name, 0) + cost
    return Costs(titled(spent), budget, sum(costs))


def chart(found: Costs) -> list[str]:
    """Return the costs as lines of text: a bar for each section, and the total."""
    rows = {**found.sections, "together": found.used}
    names = max(map(len, rows))
    lines = []
    for name, tokens in rows.items():
        share = tokens / found.budget
        # a section with any tokens gets at least one character
        bar = "█" * min(max(round(BAR * share), min(tokens, 1)), BAR)
        lines.append(f"{name:<{names}}  {bar:<{BAR}} {tokens:>6,}  {share:>4.0%}")
    left = found.budget - found.used
    room = f"{left:,} free" if left >= 0 else f"{-left:,} too many"
    lines.append(f"Budget {found.budget:,} tokens, {room}.")
    return lines
