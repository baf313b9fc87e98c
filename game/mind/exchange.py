"""What is going on: who waits for an answer, and which promise is being kept.

No compaction summarises that; it stays verbatim. It is bounded, so that somebody who goes
on and on cannot keep the whole window open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from game.mind.heard import heard, meant_for, names, own_words
from game.mind.noticing import is_lasting, promises
from game.mind.records import Memory, MemoryKind

FARTHEST = 24
"""The most memories, counted from the newest, that are ever held open."""

ANSWERS = frozenset({"say", "whisper", "emote", "give"})
"""Own acts with which somebody who waits has been answered."""

_LEFT = re.compile(r" (?:goes .{1,80} to |is gone\b|has left the game\b|leaves\b)")


def open_exchange(window: Sequence[Memory], own_name: str) -> int | None:
    """The number of the oldest memory of what is going on; None if nothing is.

    Somebody waits from the first thing that they said to the agent after its last answer to
    them, until it answers or they leave. A promise is open from what it was an answer to,
    until something is given to that person.

    Args:
        window: Memories, oldest first, as they are and not masked.
        own_name: The agent's name.
    """
    recent = window[-FARTHEST:]
    talk = _Talk(own_name, alone=len({memory.source for memory in recent if memory.source}) < 2)
    for memory in recent:
        talk.take(memory)
    return talk.oldest


@dataclass(slots=True)
class _Turn:
    """What one person said since the agent answered them."""

    first: int
    last: int


@dataclass(slots=True)
class _Talk:
    """Who waits, followed from line to line."""

    own_name: str
    alone: bool
    """Whether all that happened came from one person."""
    waiting: dict[str, _Turn] = field(default_factory=dict)
    promised: dict[str, int] = field(default_factory=dict)
    """To whom, and with which memory it began."""

    def take(self, memory: Memory) -> None:
        if memory.kind is MemoryKind.ACT:
            self._acted(memory)
        elif (said := heard(memory)) is not None:
            # Of what one says to nobody by name, alone with the agent, a question waits.
            asks = self.alone and "?" in said.words
            if meant_for(said, self.own_name, alone=asks):
                turn = self.waiting.setdefault(said.who, _Turn(memory.number, memory.number))
                turn.last = memory.number
        elif memory.source and _LEFT.match(memory.text, len(memory.source)):
            self.waiting.pop(memory.source, None)

    @property
    def oldest(self) -> int | None:
        begun = [*(turn.first for turn in self.waiting.values()), *self.promised.values()]
        return min(begun, default=None)

    def _acted(self, memory: Memory) -> None:
        verb, _, rest = memory.text.partition(" ")
        if verb not in ANSWERS:
            return
        if verb == "give":
            for who in [who for who in self.promised if who and names(rest, who)]:
                del self.promised[who]
        began = memory.number
        for who in (answered := answers(memory, {w: t.last for w, t in self.waiting.items()})):
            began = min(began, self.waiting.pop(who).first)
        said = own_words(memory)
        if said and any(not is_lasting(each) for each in promises(said.words)):
            self.promised[answered[0] if answered else said.to] = began


def answers(act: Memory, waiting: dict[str, int]) -> list[str]:
    """Who of those that wait is answered by an act of the agent.

    Those whom it names; else, as speech goes to whoever spoke last, that one.

    Args:
        act: What the agent did.
        waiting: Who waits, with the number of the last thing that each said.
    """
    verb, _, rest = act.text.partition(" ")
    if verb not in ANSWERS or not waiting:
        return []
    if verb in ("whisper", "give"):
        to = rest.partition(" = ")[0] if verb == "whisper" else rest.rpartition(" to ")[2]
        return [who for who in waiting if who.casefold() == to.strip().casefold()]
    named = [who for who in waiting if names(rest, who)]
    return named or [max(waiting, key=lambda who: waiting[who])]
