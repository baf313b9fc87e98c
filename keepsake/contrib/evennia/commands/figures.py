"""What a compaction did, in words and figures that fit a plain terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from evennia.utils.ansi import strip_ansi

from keepsake.archive.history import PastCompaction
from keepsake.archive.tiers import SummaryVerdict
from keepsake.contrib.evennia.commands.base import plain
from keepsake.contrib.evennia.wording import counted
from keepsake.memory.types import CompactionResult, Load

LINE = 78
"""Signs of a line."""


def saved(before: int, after: int) -> str:
    """``3,410 -> 1,870 (1,540 saved)``."""
    gain = before - after
    what = f"{gain:,} saved" if gain >= 0 else f"{-gain:,} more"
    return f"{before:,} -> {after:,} ({what})"


def _cost(found: CompactionResult | PastCompaction) -> str:
    """``2 calls, 4,100 tokens in and 320 out, 12.3 s``."""
    if not found.calls:
        return f"no call of a model, {found.seconds:.1f} s"
    return (
        f"{counted(found.calls, 'call')}, {found.prompt_tokens:,} tokens in and "
        f"{found.completion_tokens:,} out, {found.seconds:.1f} s"
    )


def verdict(found: SummaryVerdict | None) -> str:
    """What the check found: ``good: 3 of 3 rules and promises kept; 2 of 17 details gone …``."""
    if found is None:
        return "not checked"
    colour, word = ("|g", "good") if found.good else ("|r", "bad")
    return f"{colour}{word}|n" + (f": {plain(found.words)}" if found.words else "")


def load(found: Load) -> str:
    """``2,310 of 3,840 tokens (60%): summaries 400, window 1,200, the rest 710``."""
    return (
        f"{found.used:,} of {found.budget:,} tokens ({found.share:.0%}): summaries "
        f"{found.summaries:,}, window {found.window:,}, the rest {found.overhead:,}"
    )


def of_compaction(
    found: CompactionResult | PastCompaction, by: str, counted_by: str = ""
) -> Iterator[tuple[str, str]]:
    """The figures of a compaction that was made, each with its label; ``by`` whom it was."""
    yield "Tokens", f"{saved(found.tokens_before, found.tokens_after)}{counted_by}"
    if found.steps:
        steps = (f"{s.rung} {s.tokens_before:,} -> {s.tokens_after:,}" for s in found.steps)
        yield "Rungs", "; ".join(steps)
    yield "Cost", f"{_cost(found)}, {by}"
    yield "Check", verdict(found.verdict)


def labelled(lines: Sequence[tuple[str, str]], width: int = 18) -> str:
    """Each fact with its label before it, wrapped to a plain terminal."""
    return "\n".join(_fact(f"{label}:", text, width) for label, text in lines)


def _fact(label: str, text: str, width: int) -> str:
    # A colour code in the label takes room here and none on the screen.
    room = width + len(label) - len(strip_ansi(label))
    return f"  {label:<{room}}{_hung(text, width + 2)}"


def hung(text: str, indent: int) -> str:
    """``text``, without colour codes, in lines that hang ``indent`` signs in, but for the first."""
    return plain(_hung(text, indent))


def _hung(text: str, indent: int) -> str:
    wrapped = textwrap.wrap(text, LINE - indent, break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * indent}".join(wrapped)
