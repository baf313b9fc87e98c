"""What is known of a fact across all archives: who told it to whom, and who knows it.

:mod:`keepsake.tracing.following` finds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from keepsake.archive.records import Memory
from keepsake.tracing.bases import Link
from keepsake.tracing.echoes import Echo
from keepsake.tracing.paths import Path
from keepsake.tracing.standing import Spell
from keepsake.tracing.typed.strands import Strand


class Way(StrEnum):
    """How an agent came to know of a happening."""

    SAID = "said"
    """It spoke itself."""
    TOLD = "told"
    """It was spoken to, alone or with everybody else there."""
    OVERHEARD = "overheard"
    """Somebody else was spoken to."""
    WHISPERED = "whispered"
    """It was told in private."""
    DID = "did"
    """It did it: it gave the thing that it is about, say."""
    GOT = "got"
    """It was given the thing that it is about."""
    SAW = "saw"
    """It perceived it, and nobody said it."""

    @property
    def is_own(self) -> bool:
        """Whether it has it from nobody: it said or did it itself."""
        return self in (Way.SAID, Way.DID)


@dataclass(frozen=True, slots=True)
class Hearing:
    """One agent's memory of a telling."""

    agent: str
    memory: int
    way: Way


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """A happening in which the fact was said, or shown.

    Attributes:
        happening: Its id; if that is not known, the agent and the number of the memory.
        place: Where the first who remembers it was.
        speaker: The name of who said it; empty if nobody did.
        agent: The key of the speaker; empty if it is no agent, or nobody.
        to: The names of those to whom it was said; empty if it was for all who were there.
        manner: How it was said; empty if nobody spoke.
        private: Whether only some of those present perceived it.
        hearings: Who remembers it, the speaker included.
        rests_on: The speaker's memory from which it has it; 0 if it has it from nobody.
        link: How that is known.
        came_from: The happening in which the speaker was told it, or told it before; empty if that
            is not known.
        asks: Whether it only asks about it, and tells nothing of it.
        is_gift: Whether somebody gives the thing that it is about.
    """

    happening: str
    time: datetime
    place: str
    speaker: str
    agent: str
    to: tuple[str, ...]
    manner: str
    text: str
    private: bool
    hearings: tuple[Hearing, ...]
    rests_on: int = 0
    link: Link | None = None
    came_from: str = ""
    asks: bool = False
    is_gift: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Knower:
    """An agent that knows the fact.

    Attributes:
        path: How it came to know it first, from the beginning.
        heard: What it heard, saw or said then.
        memories: The numbers of its memories of it.
        spells: How it had the fact from then on, in order; the last one is now.
        acts: What it did later because of it, without saying it: numbers of its memories.
    """

    agent: str
    path: Path
    heard: str
    memories: tuple[int, ...]
    spells: tuple[Spell, ...]
    acts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact, followed through all archives.

    Attributes:
        tellings: Every happening in which it was said or shown, oldest first.
        knowers: Who knows it, by when they came to know it.
        echoes: Whose summary says it though no memory of theirs does.
        complete: False if there are too many tellings to follow all of them.
        strands: Of typed words: the lines that count, and those that were left out, as far as they
            belong together.
        asked: Of typed words: lines that only ask about them and tell nobody anything; of each, who
            remembers it, by key, and the memories.
    """

    tellings: tuple[Telling, ...]
    knowers: tuple[Knower, ...]
    echoes: tuple[Echo, ...] = ()
    complete: bool = True
    strands: tuple[Strand, ...] = ()
    asked: tuple[Sequence[tuple[str, Memory]], ...] = ()
