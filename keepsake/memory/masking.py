"""Masking: shortens old lines of the window that carry little information.

It is done as the window grows, and before a compaction climbs the ladder, which only records what
masking saved (:meth:`keepsake.memory.ladder.Ladder.climb`).

An old result of the agent's own acts becomes one line: its title, its outcome and its number,
under which the archive has the full text. A repeated line folds (is left out) if no other line of
its subject came between, and so does a look that showed nothing new. Speech, commands and important
memories stay unchanged.

No model is asked, and no decision depends on memories after the boundary. While the boundary does
not move, the masked lines do not change, and a model server finds them in its cache. It moves only
when the prompt changes anyway: in a compaction, and when the budget has no room for the window.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date

from keepsake.archive.message_types import MessageType
from keepsake.archive.records import Memory, MemoryKind
from keepsake.happening import KnownVerb, Result
from keepsake.language.perception import PROMPT_LIMIT, shorten

STEP = 32
"""Memories by which the boundary moves. Each move changes the prompt from there on."""
LEAST_SAVED = 48
"""Characters that a shortened line must save, so that adding its number is worth it."""
SHORTEST_FOLDED = 28
"""The fewest characters of a repeated line that folds. A script may need a line for the time, or a
count, in place of a folded line; both together are shorter than this."""

UNSHORTENED = 7
"""The importance from which a line stays unchanged: that of a gift, or of what a night rated so."""
MOST_UNSHORTENED = 6
"""How many lines of one person stay unchanged. All lines of a hostile player may matter."""

SUMMARISED = 300
"""The most characters of an old result of which a summary is written: what a thing looks like."""

_HEAD = 72
"""The most characters of a title or an opening."""
_LIST = 120
"""The most characters of a list of people or things."""
_TAIL = 500
"""The most characters of the end of a look."""
_LOOKS = frozenset({KnownVerb.LOOK, KnownVerb.EXAMINE, KnownVerb.GO})
"""Verbs whose result is a look. After a walk the agent looks around."""
_ARTICLES = frozenset({"the", "a", "an", "some", "one", "your"})
_LABELS = ("Here: ", "You see: ", "Carries: ")


def mask(
    window: Sequence[Memory], through: int, matters: Callable[[Memory], bool] = lambda _: False
) -> tuple[Memory, ...]:
    """Return the window with its memories up to number ``through`` masked; numbers stay in order.

    No line gets longer.

    ``through``: Number of the last memory to mask.
    ``matters``: Whether a memory stays unchanged; called only for memories that would change.
    """
    end = bisect_right(window, through, key=lambda memory: memory.number)
    view = _View(matters)
    shown = [short for memory in window[:end] if (short := view.take(memory)) is not None]
    return (*shown, *window[end:])


def for_summary(
    window: Sequence[Memory], matters: Callable[[Memory], bool] = lambda _: False
) -> tuple[Memory, ...]:
    """Return the memories of which a summary is written: without repeats, long results shortened.

    Of a look around only the title and who and what is there are left, of other results the
    beginning. No line has its own number at its end: the archive has the full text, its reader not.
    """
    view = _View(matters)
    told = list[Memory]()
    for memory in window:
        short = view.take(memory)
        if short is None:
            continue
        body = short.text.removesuffix(_end_of(memory))
        if short.text == memory.text:
            told.append(memory)
        elif any(label in body for label in _LABELS):
            told.append(memory.shown_as(body))
        else:
            told.append(memory.shown_as(shorten(memory.text, SUMMARISED)))
    return tuple(told)


@dataclass(slots=True)
class _View:
    """The lines shown so far. How a line is masked depends only on the lines before it."""

    matters: Callable[[Memory], bool]
    # how many lines of each person stay unchanged because they matter
    exempt: Counter[str] = field(default_factory=Counter)
    verb: str = ""  # the verb of the agent's last act
    # the last line of each subject, with its place and day; a subject is a person, a place, or the
    # first words of the line
    latest: dict[str, tuple[str, str, date]] = field(default_factory=dict)

    def take(self, memory: Memory) -> Memory | None:
        """Return ``memory`` as it is shown; None if it is folded."""
        shown = self._masked(memory)
        who = memory.source_id or memory.source
        if shown is memory or self.exempt[who] >= MOST_UNSHORTENED or not self.matters(memory):
            return shown
        self.exempt[who] += 1
        return memory

    def _masked(self, memory: Memory) -> Memory | None:
        text = memory.text
        kind = memory.kind
        if kind is MemoryKind.ACT:
            self.verb = memory.verb
            return memory
        head = text[:PROMPT_LIMIT]
        tail = text[-_TAIL:]
        seen = kind is MemoryKind.PERCEPTION
        if memory.heard is not None:
            return memory
        if seen and memory.source:
            return None if self._is_repeat(memory, memory.source, head) else memory
        if _is_look(memory):
            title = shorten(text[: 2 * _HEAD].partition(". ")[0].rstrip("."), _HEAD)
            # After a walk a look says where the agent is now, even if nothing there has changed.
            if self._is_repeat(memory, f"look {title}", text) and self.verb != KnownVerb.GO:
                return None
            parts = (each.rstrip(".") for each in tail.split(". ") if each.startswith(_LABELS))
            lists = (f"{shorten(each, _LIST)}." for each in parts)
            return _shortened(memory, " ".join([f"{title}.", *lists]))
        first, *rest = head.casefold().split(" ", 2)[:2]  # ``the door``, ``oswin``
        nobodys = f"{first} {''.join(rest)}" if first in _ARTICLES else first
        if seen and self._is_repeat(memory, nobodys, head):
            return None
        return _shortened(memory, shorten(text[: 2 * _HEAD], 2 * _HEAD - 1))

    def _is_repeat(self, memory: Memory, subject: str, text: str) -> bool:
        """Whether ``text`` repeats the last line of its subject, and is long enough to fold.

        On another day, or in another place, the same is news.
        """
        # Arriving, leaving and arriving again is no repetition: all three lines are needed.
        line = (text, memory.place, memory.time.date())
        known = self.latest.get(subject) == line
        self.latest[subject] = line
        return known and len(text) >= SHORTEST_FOLDED


def _is_look(memory: Memory) -> bool:
    """Return whether the memory is what a look showed, of a room or a thing."""
    what = memory.what
    return memory.event == MessageType.LOOK or (
        isinstance(what, Result) and what.done and what.verb in _LOOKS
    )


def _shortened(memory: Memory, body: str) -> Memory:
    """Return ``memory`` shortened to ``body`` and its number, if that saves enough."""
    text = f"{body.rstrip().removesuffix('…').rstrip()}{_end_of(memory)}"
    worth_it = len(text) + LEAST_SAVED <= len(memory.text[:PROMPT_LIMIT])
    return memory.shown_as(text) if worth_it else memory


def _end_of(memory: Memory) -> str:
    """Return the end of a shortened line, under which the archive has the full text."""
    return f" … (memory {memory.number})"
