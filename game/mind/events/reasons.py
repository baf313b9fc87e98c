"""What is known of why an agent did something, as data; :mod:`game.mind.events.why` finds it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from game.mind.archive.records import Memory


@dataclass(frozen=True, slots=True)
class PromptSource:
    """Something that was looked up and stood in the prompt.

    Attributes:
        kind: ``memory``, ``summary``, ``note``, ``called back``.
        n: Its number, as in :class:`game.mind.events.types.Recalled`.
        title: Of a note; of a summary what it is of, as ``memories 1-7``.
        score: How well it answered; 0 for what was called back.
        why: The parts of the score, in words.
        text: Its words; empty if they are nowhere any more.
    """

    kind: str
    n: int
    title: str
    score: float
    why: str
    text: str


@dataclass(frozen=True, slots=True)
class Leant:
    """A summary that stood in the prompt.

    Attributes:
        tier: ``longterm`` or ``recent``.
        compaction: Which compaction wrote it, or kept it.
        first: First memory that it covers.
        last: Last memory that it covers.
        model: Who wrote it.
        text: The summary.
        told: Its sentences that share words with the act, in their order.
    """

    tier: str
    compaction: int
    first: int
    last: int
    model: str
    text: str
    told: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Under:
    """A raw memory under the summaries that shares words with the act.

    Attributes:
        memory: The memory.
        shared: The words, as they stand in it, the most telling first.
        weight: How telling they are together: rare words weigh more.
    """

    memory: Memory
    shared: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class ThoughtCost:
    """What the thought cost.

    Attributes:
        sections: Tokens of each section of the prompt, by our own count.
        budget: Tokens that the prompt might have.
        counted_by: Who counted the sections.
        prompt: Tokens of the prompt, by the server's count.
        cached: Those of them that it had in its cache.
        completion: Tokens of the answer.
        model: Who answered.
        seed: The seed of the sampling; None for a random one.
        temperature: Of the sampling.
        wait: Seconds in the queue.
        latency: Seconds from there until the answer.
        attempt: Which try it was.
    """

    sections: Mapping[str, int] = field(default_factory=dict)
    budget: int = 0
    counted_by: str = ""
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    model: str = ""
    seed: int | None = None
    temperature: float = 0.0
    wait: float = 0.0
    latency: float = 0.0
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Why:
    """One act, and what led to it.

    Attributes:
        agent: Whose.
        nth: Which of its last acts: 1 the very last.
        time: When it was done.
        seq: Number of its event; 0 if the log has none.
        outcome: As in :class:`game.mind.events.types.Thought`.
        command: What it did; the raw answer if that was refused.
        reason: The private reason that it gave.
        problem: Why it was refused; empty if it was not.
        trigger: What set it off; empty if that is not known.
        priority: Its place in the model queue.
        source: Who caused it; empty for nobody.
        cause: The memory that set it off; None if it cannot be told.
        act: The memory of the act; None for none.
        recalled: What was looked up for it, and stood in the prompt.
        summaries: The summaries that stood in the prompt, long-term first.
        under: Raw memories under them that share words with the act, the most telling first.
        window: Memories that stood word for word, from … to; None if that is not known.
        cost: What it cost; None if that is not known.
        prompt: The prompt's hash; empty for none.
        missing: What cannot be told any more, and why, a sentence each.
    """

    agent: str
    nth: int
    time: datetime
    command: str
    reason: str
    seq: int = 0
    outcome: str = "acted"
    problem: str = ""
    trigger: str = ""
    priority: str = ""
    source: str = ""
    cause: Memory | None = None
    act: Memory | None = None
    recalled: tuple[PromptSource, ...] = ()
    summaries: tuple[Leant, ...] = ()
    under: tuple[Under, ...] = ()
    window: tuple[int, int] | None = None
    cost: ThoughtCost | None = None
    prompt: str = ""
    missing: tuple[str, ...] = ()
