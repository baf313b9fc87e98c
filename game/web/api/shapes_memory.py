"""What the dashboard's API answers about an agent's memory, and about what led to its acts.

As in :mod:`game.web.api.shapes`: times in UTC, durations in seconds, sizes in tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

from game.mind.events.reasons import Cost


@dataclass(frozen=True, slots=True)
class SummaryView:
    """A summary and what it covers.

    Attributes:
        kind: ``longterm`` or ``recent``.
        compaction: Number of the compaction that made it.
        first: First memory that it covers.
        last: Last memory that it covers.
        at: When it was written.
        model: Who wrote it.
        text: The summary, as markdown.
        tokens: What it costs in a prompt.
        undone: Whether that compaction was taken back since.
    """

    kind: str
    compaction: int
    first: int
    last: int
    at: str
    model: str
    text: str
    tokens: int
    undone: bool = False


@dataclass(frozen=True, slots=True)
class TiersView:
    """``GET …/tiers``: which memory is where, from memory 1 to now.

    Attributes:
        first: First memory that any tier holds (after a clearing not 1).
        total: The newest memory; 0 if there is none.
        longterm: The long-term summary that stands; None if there is none.
        recent: The short-term summary that stands; None if there is none.
        window_first: First memory that stands verbatim; ``total`` + 1 if none does.
        window_tokens: What the window costs.
    """

    first: int
    total: int
    longterm: SummaryView | None
    recent: SummaryView | None
    window_first: int
    window_tokens: int


@dataclass(frozen=True, slots=True)
class MemoryView:
    """One memory.

    Attributes:
        n: Its number.
        at: When.
        kind: ``perception``, ``act``, ``result``.
        text: Its words.
        times: How often in a row it happened.
        place: Where; empty if not known.
        source: Who caused it; empty for nobody.
        reason: The private reason of an act.
        tier: ``longterm``, ``recent``, ``window`` or ``cleared``.
    """

    n: int
    at: str
    kind: str
    text: str
    times: int
    place: str
    source: str
    reason: str
    tier: str


@dataclass(frozen=True, slots=True)
class Memories:
    """``GET …/memories?first=&last=``: at most 200 of them, from ``first`` on.

    Attributes:
        memories: In their order.
        before: The summaries of before that covered some of them and stand no more, newest first
            (at most 20).
        more_before: How many more of those there were, older than the ones given.
    """

    memories: tuple[MemoryView, ...]
    before: tuple[SummaryView, ...]
    more_before: int


@dataclass(frozen=True, slots=True)
class HitView:
    """Something that recall found.

    Attributes:
        kind: ``memory``, ``summary``, ``note``.
        title: ``memory 17``, ``short-term summary 3 (memories 1-7)``, ``note: cups``.
        text: Its words.
        score: How good, the best first.
        why: The parts of the score in words, such as ``words 0.41, meaning 0.63``.
        n: The memory's number; 0 for anything else.
    """

    kind: str
    title: str
    text: str
    score: float
    why: str
    n: int


@dataclass(frozen=True, slots=True)
class RecallView:
    """``GET …/recall?q=&limit=``: what a search by hand finds.

    Attributes:
        question: As it was asked.
        hits: The best first.
        seconds: How long it took.
        problem: Why nothing could be searched; empty if it could.
    """

    question: str
    hits: tuple[HitView, ...]
    seconds: float
    problem: str


@dataclass(frozen=True, slots=True)
class CompactionView:
    """A compaction that was made.

    Attributes:
        number: Its number.
        at: When.
        reason: ``high``, ``count``, ``manual`` …
        outcome: ``waterfall`` …
        strategy: Which template wrote its summaries.
        first: The first memory that it folded into a summary; 0 if it only made them shorter.
        last: The last one; 0 for none.
        tokens_before: Tokens before.
        tokens_after: Tokens after.
        seconds: How long it took.
        calls: Model calls.
        undone: Whether it was taken back since.
        good: Whether its check found it good; None where none was made.
        verdict: What the check said, in words.
        before: The summaries that stood before it.
        after: The summaries that it wrote.
    """

    number: int
    at: str
    reason: str
    outcome: str
    strategy: str
    first: int
    last: int
    tokens_before: int
    tokens_after: int
    seconds: float
    calls: int
    undone: bool
    good: bool | None
    verdict: str
    before: tuple[SummaryView, ...]
    after: tuple[SummaryView, ...]


@dataclass(frozen=True, slots=True)
class Compactions:
    """``GET …/compactions?limit=&before=``: newest first.

    Attributes:
        compactions: So many of them, those older than ``before`` if that is given.
        total: How many there were ever.
    """

    compactions: tuple[CompactionView, ...]
    total: int


@dataclass(frozen=True, slots=True)
class LeantView:
    """A summary that stood in a prompt.

    Attributes:
        kind: ``longterm`` or ``recent``.
        compaction: Which compaction wrote it, or kept it.
        first: First memory that it covers.
        last: Last memory that it covers.
        model: Who wrote it.
        text: The summary.
        told: Its sentences that share words with the act, in their order.
    """

    kind: str
    compaction: int
    first: int
    last: int
    model: str
    text: str
    told: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnderView:
    """A raw memory under a summary, which shares words with an act.

    Attributes:
        n: Its number.
        at: When.
        text: Its words.
        shared: The words that they share, the most telling first.
        weight: How telling these are together; only comparable within one act.
    """

    n: int
    at: str
    text: str
    shared: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class WhyView:
    """``GET …/why?n=``: one act of an agent, and all that led to it.

    Attributes:
        nth: Which of its last acts: 1 the very last.
        at: When it was done.
        seq: Number of its event in the log; 0 if the log has none.
        outcome: ``acted``, or what else came of the thought.
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
        window: First and last memory that stood word for word; None if that is not known.
        cost: What it cost; None if that is not known.
        missing: What cannot be told any more, and why, a sentence each.
    """

    nth: int
    at: str
    seq: int
    outcome: str
    command: str
    reason: str
    problem: str
    trigger: str
    priority: str
    source: str
    cause: MemoryView | None
    act: MemoryView | None
    recalled: tuple[HitView, ...]
    summaries: tuple[LeantView, ...]
    under: tuple[UnderView, ...]
    window: tuple[int, int] | None
    cost: Cost | None
    missing: tuple[str, ...]
