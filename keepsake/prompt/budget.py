"""What each section of one prompt costs, set against the budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keepsake.ports import Tokens
from keepsake.prompt.marks import FRAME, Rendered

BAR = 24
"""Signs of a bar that means the whole budget."""
_TITLES = {
    "profile": "who it is",
    "persona": "who it is",
    "longterm_summary": "long-term summary",
    "recent_summary": "short-term summary",
    "journal": "what mattered",
    "people": "people here",
    "related_notes": "related notes",
    "related_experiences": "related past",
    "remembered": "called back",
    FRAME: "headings",
}
"""What the sections are called where the template's own name for them says too little."""


@dataclass(frozen=True, slots=True)
class PromptSection:
    """One part of a prompt."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Costs:
    """What one prompt costs."""

    sections: tuple[PromptSection, ...]
    budget: int
    source: str

    @property
    def used(self) -> int:
        """Tokens of the whole prompt."""
        return sum(section.tokens for section in self.sections)


def costs_of(prompt: Rendered, tokens: Tokens, budget: int) -> Costs:
    """What each section of a prompt costs, in the order in which they begin; quick."""
    spent: dict[str, int] = {}
    # A line is counted with its end. A blank one behind it only makes that a longer run of
    # line ends, and a run is one token: it costs nothing.
    costs = tokens.each([text for text, _ in prompt.lines])
    for (_, section), cost in zip(prompt.lines, costs, strict=True):
        spent[section] = spent.get(section, 0) + cost
    sections = [PromptSection(title_of(name), cost) for name, cost in spent.items()]
    return Costs(tuple(sections), budget, tokens.source)


def title_of(section: str) -> str:
    """What a section of the prompt is called, by the template's name for it."""
    return _TITLES.get(section, section)


def bar(tokens: int, budget: int, width: int = BAR) -> str:
    """A bar of ``width`` signs for the whole budget; what costs anything shows one at least."""
    signs = round(width * tokens / budget) if budget > 0 else width
    return ("█" * min(max(signs, min(tokens, 1)), width)).ljust(width)


def chart(found: Costs, marks: Mapping[str, float] | None = None, width: int = BAR) -> list[str]:
    """The costs as lines of text: a bar for each section, the sum, the marks, who counted."""
    rows = [*found.sections, PromptSection("together", found.used)]
    names = max(len(row.name) for row in rows)
    lines = [
        f"{row.name:<{names}}  {bar(row.tokens, found.budget, width)} {row.tokens:>6,}"
        f"  {row.tokens / found.budget:>4.0%}"
        for row in rows
    ]
    if marks:
        lines.append(f"Marks: {', '.join(f'{name} {share:.0%}' for name, share in marks.items())}.")
    left = found.budget - found.used
    room = f"{left:,} free" if left >= 0 else f"{-left:,} too many"
    lines.append(f"Budget {found.budget:,} tokens, {room}; counted by: {found.source}.")
    return lines
