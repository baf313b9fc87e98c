"""What is going on: who waits for an answer, and which promise is being kept.

No compaction summarises that; it stays verbatim. It is bounded, so that somebody who goes
on and on cannot keep the whole window open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from keepsake.archive.records import POSE, Memory, MemoryKind
from keepsake.books.noticing import Noticed, NoticedKind, is_lasting, notice
from keepsake.books.resolution import settled
from keepsake.language.heard import heard, meant_for, names

FARTHEST = 24
"""The most memories, counted from the newest, that are ever held open."""

ANSWERS = frozenset({"say", "whisper", "emote", "give"})
"""Own acts with which somebody who waits may have been answered."""

_GESTURE = re.compile(
    r"\b(?:nods?|shakes? (?:his|her|its|their|my) head|shrugs?|points?|beckons?)\b"
)
"""Gestures that say something to whoever has asked; to wipe the counter does not."""
_LEFT = re.compile(r" (?:goes [^.,;:!?]{1,80} to [^.;:!?]{1,80}|is gone|has left the game)\.?$")
"""What the game itself writes when somebody goes; other words are a pose."""


def open_exchange(window: Sequence[Memory], own_name: str) -> int | None:
    """The number of the oldest memory of what is going on; None if nothing is.

    Somebody waits from the first thing that they said to the agent after its last answer to
    them, until it answers or they leave. A promise is open from what it was an answer to,
    until it is settled, as :func:`~keepsake.books.resolution.settled` judges it.

    ``window``: Memories, oldest first, as they are and not masked.
    """
    recent = window[-FARTHEST:]
    talk = _Talk(own_name, alone=len({memory.source for memory in recent if memory.source}) < 2)
    for memory in recent:
        talk.take(memory)
    return talk.oldest


@dataclass(slots=True)
class _WaitingTurn:
    """What one person said since the agent answered them."""

    first: int
    last: int


@dataclass(slots=True)
class _Talk:
    """Who waits, followed from line to line."""

    own_name: str
    alone: bool
    """Whether all that happened came from one person."""
    waiting: dict[str, _WaitingTurn] = field(default_factory=dict)
    promised: dict[Noticed, int] = field(default_factory=dict)
    """What is still to be done, and with which memory it began."""

    def take(self, memory: Memory) -> None:
        if memory.kind is MemoryKind.ACT:
            self._acted(memory)
        else:
            self._settle(memory, "")
            self._happened(memory)

    @property
    def oldest(self) -> int | None:
        begun = [*(turn.first for turn in self.waiting.values()), *self.promised.values()]
        return min(begun, default=None)

    def _happened(self, memory: Memory) -> None:
        if (said := heard(memory)) is not None:
            # Of what one says to nobody by name, alone with the agent, a question waits.
            asks = self.alone and "?" in said.words
            if meant_for(said, self.own_name, alone=asks):
                turn = self.waiting.setdefault(said.who, _WaitingTurn(memory.number, memory.number))
                turn.last = memory.number
        elif memory.source and memory.text.startswith(memory.source) and memory.event != POSE:
            gone = _LEFT.match(memory.text, len(memory.source))
            self.waiting.pop(memory.source if gone else "", None)

    def _acted(self, memory: Memory) -> None:
        answered = answers(memory, {who: turn.last for who, turn in self.waiting.items()})
        to = answered[0] if answered else ""
        self._settle(memory, to)
        began = min([memory.number, *(self.waiting.pop(who).first for who in answered)])
        for item in notice(memory, self.own_name, to):
            if item.kind is NoticedKind.PROMISE and not is_lasting(item.text):
                self.promised[item] = began

    def _settle(self, memory: Memory, to: str) -> None:
        for item in settled(self.promised, memory, self.own_name, to):
            del self.promised[item]


def may_answer(line: str) -> bool:
    """Whether an own act can be an answer to somebody: words, a gift, a gesture that says one.

    Args:
        line: The act as it is typed: ``say Good day!``, ``emote nods``.
    """
    verb, _, rest = line.partition(" ")
    return verb in ANSWERS and (verb != "emote" or _GESTURE.search(rest) is not None)


def answers(act: Memory, waiting: dict[str, int]) -> list[str]:
    """Who of those that wait is answered by an act of the agent.

    Those whom it names; else, as speech goes to whoever spoke last, that one. A gesture
    answers if it is one that does, and a stock phrase never.

    ``waiting``: Who waits, with the number of the last thing that each said.
    """
    verb, _, rest = act.text.partition(" ")
    if not waiting or act.is_shrug or not may_answer(act.text):
        return []
    if verb in ("whisper", "give"):
        to = rest.partition(" = ")[0] if verb == "whisper" else rest.rpartition(" to ")[2]
        return [who for who in waiting if who.casefold() == to.strip().casefold()]
    named = [who for who in waiting if names(rest, who)]
    return named or [max(waiting, key=lambda who: waiting[who])]
