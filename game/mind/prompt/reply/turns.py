"""The talk that is going on, as turns: who said what to whom, from the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from game.mind.archive.records import Memory, MemoryKind
from game.mind.language.heard import heard, own_words
from game.mind.language.perception import for_prompt

PAUSE = timedelta(minutes=30)
"""A silence after which it is another talk."""
LONGEST = 240


@dataclass(frozen=True, slots=True)
class TalkTurn:
    """One line of a talk.

    Attributes:
        who: The speaker's name; empty for the agent itself.
        words: What was said.
        number: The memory that it stands in.
        time: When.
    """

    who: str
    words: str
    number: int
    time: datetime


def turns_with(window: Sequence[Memory], partner: str) -> list[TalkTurn]:
    """What the agent and ``partner`` said to each other since the last long silence.

    Args:
        window: Memories, oldest first.
        partner: The other's name.

    Returns:
        Oldest first; what ``partner`` said to somebody else is not among them.
    """
    turns: list[TalkTurn] = []
    spoke_last = ""
    for memory in window:
        if memory.kind is MemoryKind.ACT:
            turn = _own(memory, partner, spoke_last)
        else:
            said = heard(memory)
            if said is not None and said.to in ("", "you"):
                spoke_last = said.who
            mine = said is not None and said.who == partner and said.to in ("", "you")
            turn = _turn(partner, said.words, memory) if said is not None and mine else None
        if turn is not None:
            if turns and turn.time - turns[-1].time > PAUSE:
                turns.clear()
            turns.append(turn)
    return turns


def unanswered(turns: Sequence[TalkTurn], first: int = 0) -> list[TalkTurn]:
    """What the partner said since the agent's last answer, or since memory ``first``."""
    last_own = next((t.number for t in reversed(turns) if not t.who), 0)
    since = min(last_own + 1, first) if first else last_own + 1
    return [turn for turn in turns if turn.who and turn.number >= since]


def _own(memory: Memory, partner: str, spoke_last: str) -> TalkTurn | None:
    said = own_words(memory)
    if said is None:  # what it said for want of an answer is no part of a talk
        return None
    to = said.to or memory.to or spoke_last
    return _turn("", said.words, memory) if to == partner else None


def _turn(who: str, words: str, memory: Memory) -> TalkTurn:
    # Of some lines nothing is left; a turn without words is one that no model takes.
    return TalkTurn(who, for_prompt(words, limit=LONGEST) or "…", memory.number, memory.time)
