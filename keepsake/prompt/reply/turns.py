"""The talk that is going on, as turns: who said what to whom, from the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.deeds import RULED
from keepsake.language.heard import heard, spoken
from keepsake.language.perception import for_prompt
from keepsake.language.words import spelled_out

PAUSE = timedelta(minutes=30)
"""A silence after which it is another talk."""
LONGEST = 240


@dataclass(frozen=True, slots=True)
class TalkTurn:
    """One line of a talk."""

    who: str  # the speaker's name; empty for the agent itself
    words: str  # what was said
    number: int  # the memory that it stands in
    time: datetime  # when
    is_stock: bool = False  # whether the agent said it by rule: it answers, and is no example


def turns_with(window: Sequence[Memory], partner: str) -> list[TalkTurn]:
    """What the agent and ``partner`` said to each other since the last long silence.

    Args:
        window: Memories, oldest first.
        partner: The other's name.

    Returns:
        Oldest first; what ``partner`` said to somebody else is not among them, nor what a deed
        of the world has answered.
    """
    turns: list[TalkTurn] = []
    spoke_last = ""
    for memory in window:
        if memory.event in RULED and memory.source == partner:
            while turns and turns[-1].who:
                turns.pop()
        own = memory.kind is MemoryKind.ACT
        said = spoken(memory) if own and not memory.is_shrug else heard(memory)
        if said is None:  # what it said for want of an answer is no part of a talk
            continue
        if own:
            is_of_talk = partner == (said.to or memory.to or spoke_last)
        else:
            to_agent = said.to in ("", "you")
            spoke_last = said.who if to_agent else spoke_last
            is_of_talk = to_agent and said.who == partner
        if is_of_talk:
            if turns and memory.time - turns[-1].time > PAUSE:
                turns.clear()
            # Of some lines nothing is left; a turn without words is one that no model takes.
            words = for_prompt(said.words if own else spelled_out(said.words), limit=LONGEST) or "…"
            turns.append(TalkTurn(said.who, words, memory.number, memory.time, memory.is_stock))
    return turns


def unanswered(turns: Sequence[TalkTurn], first: int = 0) -> list[TalkTurn]:
    """What the partner said since the agent's last answer, or since memory ``first``."""
    last_own = next((t.number for t in reversed(turns) if not t.who), 0)
    since = min(last_own + 1, first) if first else last_own + 1
    return [turn for turn in turns if turn.who and turn.number >= since]
