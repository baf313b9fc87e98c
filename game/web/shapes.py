"""What the dashboard's API answers, as data: made in ``snapshots.py``, described in ``openapi.py``.

Times are ISO 8601 in UTC, durations seconds, sizes tokens by the agents' own count, unless a field
says otherwise. An agent is addressed by its database number, which stays when it is renamed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent at a glance.

    Attributes:
        id: Its database number.
        name: Its name.
        state: ``idle``, ``waiting for the model``, ``asleep``, ``going home to sleep``,
            ``paused``, ``memory cannot be written`` or ``gone``.
        place: The room it is in.
        last_act: The line of its last act; empty if it has done nothing since the start.
        last_act_at: When; None if never.
        waiting: Seconds that its thought has waited, for the queue and the model; None if none is
            under way.
        memories: How many it has.
        next_due: At which memory the next compaction falls due; None for never.
        used: Tokens of its last prompt; 0 before the first.
        budget: Tokens that a prompt may have.
        due: Why a compaction is due (``high``, ``count`` …); empty if none is.
        compacting: Whether one is under way.
        thoughts: Thoughts that were answered since the server started.
        failed: Thoughts since then that got no usable answer.
        problem: What is wrong with it, in words; empty if nothing is.
    """

    id: int
    name: str
    state: str
    place: str
    last_act: str
    last_act_at: str | None
    waiting: float | None
    memories: int
    next_due: int | None
    used: int
    budget: int
    due: str
    compacting: bool
    thoughts: int
    failed: int
    problem: str


@dataclass(frozen=True, slots=True)
class ServerRow:
    """One model server.

    Attributes:
        provider: ``embedded``, ``ollama``, ``openai``; ``llm.md`` where that names none that can
            be used, and ``health`` says why.
        host: Its address.
        models: Profile and model of all that is asked there.
        health: ``ready``, or what is wrong and what to do.
        waiting: Jobs that wait, by priority.
        running: Calls in flight.
        in_flight: Calls that may be.
    """

    provider: str
    host: str
    models: tuple[str, ...]
    health: str
    waiting: Mapping[str, int]
    running: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class Overview:
    """``GET /agents/api/agents``: all agents, by name, and the model servers.

    Attributes:
        now: When this was so.
        agents: All agents.
        servers: All model servers.
        log_problem: Why the event log cannot be written; empty if it can.
    """

    now: str
    agents: tuple[AgentRow, ...]
    servers: tuple[ServerRow, ...]
    log_problem: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a prompt.

    Attributes:
        name: ``profile``, ``window``, ``longterm`` …; as in ``@memory-status/tokens``.
        tokens: What it costs.
        text: Its text, in the order of the prompt; empty where only the costs are known.
    """

    name: str
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class PromptView:
    """``GET /agents/api/agents/<id>/prompt``: what was last sent for it.

    Attributes:
        at: When; None if nothing was sent since the server started.
        sections: The prompt by section, in order.
        tokens: All of them.
        budget: What it may have.
        cached: Tokens that the server had in its cache, by the server's count.
        server_tokens: Tokens by the server's count; 0 if it does not say.
        trigger: What the thought was about.
        answer: The raw answer; empty if none came yet.
    """

    at: str | None
    sections: tuple[Section, ...]
    tokens: int
    budget: int
    cached: int
    server_tokens: int
    trigger: str
    answer: str


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
    """

    kind: str
    compaction: int
    first: int
    last: int
    at: str
    model: str
    text: str
    tokens: int


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
    """

    memories: tuple[MemoryView, ...]
    before: tuple[SummaryView, ...]


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
    """``GET …/compactions?limit=``: newest first."""

    compactions: tuple[CompactionView, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """One slice of time in a chart.

    Attributes:
        at: Its beginning.
        thoughts: Thoughts that ended in it.
        failed: Those of them without a usable answer.
        prompt_tokens: Tokens of their prompts, on average.
        cached: Share of them that the server had in its cache, 0 to 1.
        latency: Median seconds until the answer.
        latency_p95: The slowest of twenty.
        memories: The newest memory's number at its end; None if nothing was remembered yet.
        recalls: Searches made in it.
        recalled: Share of them that found something, 0 to 1; None without any.
        compactions: Compactions in it.
    """

    at: str
    thoughts: int
    failed: int
    prompt_tokens: float
    cached: float
    latency: float | None
    latency_p95: float | None
    memories: int | None
    recalls: int
    recalled: float | None
    compactions: int


@dataclass(frozen=True, slots=True)
class Series:
    """``GET …/series?hours=``: 60 slices of the last so many hours, oldest first.

    Attributes:
        slice: Seconds of one slice.
        points: The slices.
        complete: False if the event log of that time was read only in part.
    """

    slice: float
    points: tuple[Point, ...]
    complete: bool


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
class CostView:
    """What a thought cost.

    Attributes:
        sections: Tokens of each section of its prompt.
        budget: Tokens that the prompt might have.
        counted_by: Who counted the sections.
        prompt: Tokens of the prompt, by the server's count; 0 if it does not say.
        cached: Those of them that it had in its cache.
        completion: Tokens of the answer.
        model: Who answered.
        seed: The seed of the sampling; None for a random one.
        temperature: Of the sampling.
        wait: Seconds in the queue.
        latency: Seconds from there until the answer.
        attempt: Which try it was.
    """

    sections: Mapping[str, int]
    budget: int
    counted_by: str
    prompt: int
    cached: int
    completion: int
    model: str
    seed: int | None
    temperature: float
    wait: float
    latency: float
    attempt: int


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
    cost: CostView | None
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """``POST …/pause``, ``resume``, ``compact``, ``sleep``, ``wake``: what came of it.

    Attributes:
        done: Whether it was done, or begun.
        said: The same in words for people.
        state: The agent's state afterwards.
    """

    done: bool
    said: str
    state: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Any answer but 200.

    Attributes:
        error: What is wrong, and the cure. To whoever may not look it says nothing else.
    """

    error: str
