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
LEAST_SAVED, LEAST_WORDS = 48, 8
"""Characters, and among them words, that must be saved for a line to be worth its number."""
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

    Applied twice it changes nothing, and no line of it is longer than it was.

    ``through``: Number of the last one to mask.
    ``matters``: Whether a memory stays as it is; asked for those that would not.
    """
    end = bisect_right(window, through, key=lambda memory: memory.number)
    view = _View(_Exempt(matters))
    shown = [short for memory in window[:end] if (short := view.take(memory)) is not None]
    return (*_newest_plan(shown, _Exempt(matters)), *window[end:])


@dataclass(slots=True)
class _Exempt:
    """What stays as it is because it matters, of nobody more than a few."""

    matters: Callable[[Memory], bool]
    count: Counter[str] = field(default_factory=Counter)

    def take(self, memory: Memory) -> bool:
        who = memory.source_id or memory.source
        if self.count[who] >= MOST_UNSHORTENED or not self.matters(memory):
            return False
        self.count[who] += 1
        return True


@dataclass(slots=True)
class _View:
    """What has been shown so far: each line is judged by those before it alone."""

    exempt: _Exempt
    verb: str = ""
    """What the agent did last."""
    latest: dict[str, str] = field(default_factory=dict)
    """The last line of each subject: of a person, or of what it begins with."""
    looks: dict[str, str] = field(default_factory=dict)
    """What the last look at each place or thing showed, all of it."""

    def take(self, memory: Memory) -> Memory | None:
        """``memory`` as it is shown; None when it is folded."""
        shown = self._masked(memory)
        return memory if shown is not memory and self.exempt.take(memory) else shown

    def _masked(self, memory: Memory) -> Memory | None:
        if memory.kind is MemoryKind.ACT:
            self.verb = memory.text.partition(" ")[0]
            return memory
        text = memory.text[:PROMPT_LIMIT]
        if memory.kind is MemoryKind.PERCEPTION and (memory.source or '"' in text):
            return None if self._stands_already(memory, text) else memory
        if self._is_look(memory):
            return self._look(memory)
        if memory.kind is MemoryKind.PERCEPTION and self._stands_already(memory, text):
            return None
        return _shortened(memory, shorten(memory.text[: 2 * _HEAD], 2 * _HEAD - 1))

    def _stands_already(self, memory: Memory, text: str) -> bool:
        """Whether this was the last line of its subject; what was said never counts.

        Who arrives, leaves and arrives is there in the end: of the three lines none may go.
        """
        if '"' in text:
            return False
        first, *rest = text.casefold().split(" ", 2)[:2]  # ``the door``, ``oswin``
        nobodys = f"{first} {''.join(rest)}" if first in _ARTICLES else first
        subject = memory.source or nobodys
        known = self.latest.get(subject) == text
        self.latest[subject] = text
        return known and not _too_short(text)

    def _is_look(self, memory: Memory) -> bool:
        if memory.text.startswith(_NO_LOOKS):
            return False
        if memory.kind is MemoryKind.RESULT and self.verb in _LOOKS:
            return True
        tail = memory.text[-_TAIL:]
        return " Exits: " in tail or " Here: " in tail

    def _look(self, memory: Memory) -> Memory | None:
        text, title = memory.text, _title(memory.text)
        before = self.looks.get(title)
        self.looks[title] = text
        # After a walk it tells where the agent has come to, even if nothing there has changed.
        if text == before and self.verb != "go" and not _too_short(text):
            return None
        return _shortened(memory, " ".join([f"{title}.", *_lists(text)]))


def _title(text: str) -> str:
    """What was looked at: the look's first words."""
    return shorten(text[: 2 * _HEAD].partition(". ")[0].rstrip("."), _HEAD)


def _lists(text: str) -> list[str]:
    """Who and what was there, from the end of a look; the way out is seen on the spot."""
    tail = text[-_TAIL:]
    found = []
    for label in _LABELS:
        at = tail.rfind(f" {label}")
        if at >= 0:
            listed = tail[at + 1 :].partition(".")[0]
            found.append(f"{shorten(listed, _LIST)}.")
    return found


def _too_short(text: str) -> bool:
    """Whether it does not fold: too little to save, or it may be shortened already."""
    return len(text) < SHORTEST_FOLDED or (text.endswith(")") and "… (memory " in text[-24:])


def _shortened(memory: Memory, body: str) -> Memory:
    """``memory`` with ``body``, what is left of it, and its number, if that is worth it."""
    mark = f" … (memory {memory.number})"
    shown = memory.text[:PROMPT_LIMIT]
    text = f"{body.rstrip().removesuffix('…').rstrip()}{mark}"
    worth_it = not memory.text.endswith(mark) and _saves(shown, text)
    return replace(memory, text=text) if worth_it else memory


def _saves(shown: str, text: str) -> bool:
    """Whether ``text`` is worth it in place of ``shown``: in characters, and in any tokens.

    A tokenizer has one token for a whole row of dashes, but none for several words.
    """
    if len(text) + LEAST_SAVED > len(shown):
        return False
    if shown.count(" ") - text.count(" ") >= LEAST_WORDS:
        return True
    return sum(map(str.isalnum, shown)) - sum(map(str.isalnum, text)) >= LEAST_SAVED


def _newest_plan(shown: Sequence[Memory], exempt: _Exempt) -> list[Memory]:
    """Of the private reasons only the newest: each plan makes the one before it obsolete."""
    planned = [index for index, memory in enumerate(shown) if memory.reason]
    kept = list(shown)
    for index in planned[:-1]:
        if not exempt.take(kept[index]):
            kept[index] = replace(kept[index], reason="")
    return kept
