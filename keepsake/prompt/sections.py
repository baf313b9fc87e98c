"""The sections of a prompt: which line comes from which variable, and what each section costs.

Each variable of a template has a private-use character. A value is printed between that
character and an end mark, so that the text tells which of its lines comes from where; both
are taken out again when the text is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from keepsake.ports import Tokens

FRAME = "frame"
"""The section of lines that the template itself brings: headings, rules, blank lines."""
BAR = 24
"""Signs of a bar that means the whole budget."""
_END, _FIRST = "\uf8ff", 0xE000
TITLES = {
    "persona": "who it is",
    "longterm": "long-term summary",
    "longterm_span": "long-term summary",
    "recent": "short-term summary",
    "recent_span": "short-term summary",
    "journal": "what mattered",
    "people": "people here",
    "notes": "related notes",
    "experiences": "related past",
    "recalled": "related past",
    "talk": "window",
    "place": "situation",
    "now": "situation",
    FRAME: "headings",
}
"""What the sections are called where the template's own name for them says too little."""


type PromptLine = tuple[str, str]
"""One line of a prompt, without its end and without marks, and the first variable in it, or
:data:`FRAME`; no class, for speed."""


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
        self._any = re.compile(f"([{''.join(self._of.values())}{_END}])")

    def on(self, name: str, value: Any) -> Any:
        """``value``, or each string of a list, marked as coming from the variable ``name``."""
        if isinstance(value, str) and name in self._of:
            marked = MarkedText(value)
            marked.printed = f"{self._of[name]}{value}{_END}"
            return marked
        return [self.on(name, each) for each in value] if isinstance(value, list) else value

    def read(self, printed: str) -> list[PromptLine]:
        """The lines of a text in which marked values were printed, without blanks at its end."""
        inside, lines = "", []  # the mark of the value that goes on
        for line in printed.rstrip().split("\n"):
            at = 2 if line.startswith("- ") else 0
            section, text = inside or line[at : at + 1], line
            if not inside and section in self._telling and line.find(_END) == len(line) - 1:
                text = line[:at] + line[at + 1 : -1]  # mostly a value is all of a line or an item
            elif not line.isascii():
                parts = self._any.split(line)
                text, marks = "".join(parts[::2]), parts[1::2]
                section = inside or next((mark for mark in marks if mark in self._telling), "")
                if marks:
                    inside = "" if marks[-1] == _END else marks[-1]
            lines.append((text, self._names.get(section, FRAME)))
        lines[-1] = lines[-1][0].rstrip(), lines[-1][1]
        return lines


@dataclass(frozen=True, slots=True)
class Costs:
    """What one prompt costs."""

    sections: Mapping[str, int]  # tokens of each, in the order in which they begin
    budget: int
    used: int  # tokens of the whole prompt


def costs_of(prompt: Rendered, tokens: Tokens, budget: int) -> Costs:
    """What each section of a prompt costs, in the order in which they begin; quick."""
    spent: dict[str, int] = {}
    # A line is counted with its end. A blank one behind it only makes that a longer run of
    # line ends, and a run is one token: it costs nothing.
    costs = tokens.each([text for text, _ in prompt.lines])
    for (_, name), cost in zip(prompt.lines, costs, strict=True):
        section = TITLES.get(name, name)
        spent[section] = spent.get(section, 0) + cost
    return Costs(spent, budget, sum(costs))


def chart(found: Costs) -> list[str]:
    """The costs as lines of text: a bar for each section, and the sum."""
    rows = {**found.sections, "together": found.used}
    names, lines = max(map(len, rows)), []
    for name, tokens in rows.items():
        share = tokens / found.budget
        # what costs anything shows one sign at least
        bar = "█" * min(max(round(BAR * share), min(tokens, 1)), BAR)
        lines.append(f"{name:<{names}}  {bar:<{BAR}} {tokens:>6,}  {share:>4.0%}")
    left = found.budget - found.used
    room = f"{left:,} free" if left >= 0 else f"{-left:,} too many"
    lines.append(f"Budget {found.budget:,} tokens, {room}.")
    return lines
