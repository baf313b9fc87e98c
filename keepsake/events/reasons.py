"""What is known of why an agent did something, as data; :mod:`keepsake.events.why` finds it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from keepsake.archive.records import Memory
from keepsake.events.types import Guard, Thought


@dataclass(frozen=True, slots=True)
class PromptSource:
    """Something that was looked up and stood in the prompt."""

    kind: str  # ``memory``, ``summary``, ``note``, ``called back``
    n: int  # its number, as in :class:`keepsake.events.types.Recalled`
    title: str  # of a note; of a summary what it is of, as ``memories 1-7``
    score: float  # how well it answered; 0 for what was called back
    why: str  # the parts of the score, in words
    text: str  # its words; empty if they are nowhere any more


@dataclass(frozen=True, slots=True)
class Leant:
    """A summary that stood in the prompt."""

    tier: str  # ``longterm`` or ``recent``
    compaction: int  # which compaction wrote it, or kept it
    first: int  # first memory that it covers
    last: int  # last memory that it covers
    model: str  # who wrote it
    text: str  # the summary
    told: tuple[str, ...]  # its sentences that share words with the act, in their order


@dataclass(frozen=True, slots=True)
class Under:
    """A raw memory under the summaries that shares words with the act."""

    memory: Memory
    shared: tuple[str, ...]  # the words, as they stand in it, the most telling first
    weight: float  # how telling they are together: rare words weigh more


@dataclass(frozen=True, slots=True)
class Why:
    """One act, and what led to it."""

    agent: str
    nth: int  # which of its last acts: 1 the very last
    time: datetime  # when it was done
    command: str  # what it did; the raw answer if that was refused
    reason: str  # the private reason that it gave
    seq: int = 0  # number of its event; 0 if the log has none
    outcome: str = "acted"  # as in :class:`keepsake.events.types.Thought`
    problem: str = ""  # why it was refused; empty if it was not
    trigger: str = ""  # what set it off; empty if that is not known
    priority: str = ""  # its place in the model queue
    source: str = ""  # who caused it; empty for nobody
    cause: Memory | None = (
        None  # the memory that set it off; None if none did, or the log does not say
    )
    act: Memory | None = None  # the memory of the act; None for none
    recalled: tuple[PromptSource, ...] = ()  # what was looked up for it, and stood in the prompt
    summaries: tuple[Leant, ...] = ()  # the summaries that stood in the prompt, long-term first
    # raw memories under them that share words with the act, the most telling first
    under: tuple[Under, ...] = ()
    # memories that stood word for word, from … to; None if that is not known
    window: tuple[int, int] | None = None
    cost: Thought | None = None  # the event, which tells what it cost; None if the log has none
    prompt: str = ""  # the prompt's hash; empty for none
    guards: tuple[Guard, ...] = ()  # what was altered, refused or dropped of its answers
    missing: tuple[str, ...] = ()  # what cannot be told any more, and why, a sentence each
