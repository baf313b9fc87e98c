"""The first rung of the ladder: what stands in the window and says nothing any more.

Old results of the agent's own acts shrink to a line with what it was, what came of it and
its number, under which the archive has the rest. A line that stood there before folds where
nothing of the kind came between, and so does a look that showed nothing new. What anybody said
and every command stay as they are, and so does what matters.

No model is asked, and nothing is decided from memories after the boundary: as long as the
boundary stands still the masked lines do, and a model server finds them in its cache.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.perception import PROMPT_LIMIT, shorten
from keepsake.prompt.script import RESULTS

STEP = 32
"""Memories by which the boundary moves: each move changes the prompt from there on."""
LEAST_SAVED = 48
"""Characters that must be saved for a line to be worth its number."""
SHORTEST_FOLDED = 28
"""Characters of a repeated line that folds. Where one is gone, a script may need a line for
the time or a count in its place; both together are shorter."""

UNSHORTENED, MOST_UNSHORTENED = 7, 6
"""From this importance on a line stays as it is; this many of one person do, as a hostile player's
all matter."""

_HEAD, _LIST, _TAIL = 72, 120, 500
"""Characters of a title or opening, of a list of people or things, and of a look's end."""
_LOOKS = frozenset({"look", "examine", "go"})
_NO_LOOKS = ("You tried to ", *RESULTS)
"""How results begin that are none of a look, whatever the agent did meanwhile."""
_ARTICLES = frozenset({"the", "a", "an", "some", "one", "your"})
_LABELS = ("Here: ", "You see: ", "Carries: ")


def mask(
    window: Sequence[Memory], through: int, matters: Callable[[Memory], bool] = lambda _: False
) -> tuple[Memory, ...]:
    """The window with its memories up to number ``through`` masked; numbers stay in order.

    No line of it is longer than it was.

    ``through``: Number of the last one to mask.
    ``matters``: Whether a memory stays as it is; asked for those that would not.
    """
    end = bisect_right(window, through, key=lambda memory: memory.number)
    view = _View(matters)
    shown = [short for memory in window[:end] if (short := view.take(memory)) is not None]
    return (*shown, *window[end:])


@dataclass(slots=True)
class _View:
    """What has been shown so far: each line is judged by those before it alone."""

    matters: Callable[[Memory], bool]
    # how many lines of each person stay as they are because they matter
    exempt: Counter[str] = field(default_factory=Counter)
    verb: str = ""  # what the agent did last
    # the last line of each subject: of a person, of a place, or of what it begins with
    latest: dict[str, str] = field(default_factory=dict)

    def take(self, memory: Memory) -> Memory | None:
        """``memory`` as it is shown; None when it is folded."""
        shown, who = self._masked(memory), memory.source_id or memory.source
        if shown is memory or self.exempt[who] >= MOST_UNSHORTENED or not self.matters(memory):
            return shown
        self.exempt[who] += 1
        return memory

    def _masked(self, memory: Memory) -> Memory | None:
        text, kind = memory.text, memory.kind
        if kind is MemoryKind.ACT:
            self.verb = text.partition(" ")[0]
            return memory
        head, tail, seen = text[:PROMPT_LIMIT], text[-_TAIL:], kind is MemoryKind.PERCEPTION
        if seen and '"' in head:  # what was said
            return memory
        if seen and memory.source:
            return None if self._stands_already(memory.source, head) else memory
        is_look = (not seen and self.verb in _LOOKS) or " Exits: " in tail or " Here: " in tail
        if is_look and not text.startswith(_NO_LOOKS):
            title = shorten(text[: 2 * _HEAD].partition(". ")[0].rstrip("."), _HEAD)
            # After a walk it tells where the agent has come to, even if nothing there has changed.
            if self._stands_already(f"look {title}", text) and self.verb != "go":
                return None
            parts = (each.rstrip(".") for each in tail.split(". ") if each.startswith(_LABELS))
            lists = (f"{shorten(each, _LIST)}." for each in parts)
            return _shortened(memory, " ".join([f"{title}.", *lists]))
        first, *rest = head.casefold().split(" ", 2)[:2]  # ``the door``, ``oswin``
        nobodys = f"{first} {''.join(rest)}" if first in _ARTICLES else first
        if seen and self._stands_already(nobodys, head):
            return None
        return _shortened(memory, shorten(text[: 2 * _HEAD], 2 * _HEAD - 1))

    def _stands_already(self, subject: str, text: str) -> bool:
        """Whether this was the last line of its subject: who comes, leaves and comes is there."""
        known, self.latest[subject] = self.latest.get(subject) == text, text
        return known and len(text) >= SHORTEST_FOLDED


def _shortened(memory: Memory, body: str) -> Memory:
    """``memory`` with ``body``, what is left of it, and its number, if that is worth it."""
    text = f"{body.rstrip().removesuffix('…').rstrip()} … (memory {memory.number})"
    worth_it = len(text) + LEAST_SAVED <= len(memory.text[:PROMPT_LIMIT])
    return replace(memory, text=text) if worth_it else memory
