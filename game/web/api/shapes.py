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
        state: One word for all of it: ``asleep``, ``going home to sleep``, ``paused``, ``memory
            cannot be written``, ``waiting for the model``, ``idle`` or ``gone``; the first of
            these that holds.
        paused: Whether it does not think, be it awake or asleep.
        asleep: Whether it sleeps.
        going_home: Whether it is on its way to bed.
        place: The room it is in.
        last_act: The line of its last act, of before the server's last start as well, as far as
            the newest part of the event log tells; empty if that tells of none.
        last_act_at: When; None if ``last_act`` is empty.
        waiting: Seconds that its thought has waited, for the queue and the model; None if none is
            under way.
        memories: How many it has.
        next_due: At which memory the next compaction falls due; None for never.
        used: Tokens of its last prompt, as ``last_act``; 0 before the first.
        budget: Tokens that a prompt may have.
        due: Why a compaction is due (``high``, ``count`` …); empty if none is.
        compacting: Whether one is under way.
        thoughts: Thoughts that were answered since the server started.
        ended: Thoughts since then that came to an end, in whatever way but ``dropped``.
        failed: Those of them of which nothing came: refused, unanswered, too large, broken off.
        recent_ended: ``ended`` over its last 20 thoughts at most, of before the last start as
            well.
        recent_failed: ``failed`` over the same.
        problem: What is wrong with it now, on one line of at most 160 characters; empty if
            nothing is. The agents' log has the whole.
        may_act: Whether whoever asks may pause it, have it compacted, put it to sleep …
    """

    id: int
    name: str
    state: str
    paused: bool
    asleep: bool
    going_home: bool
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
    ended: int
    failed: int
    recent_ended: int
    recent_failed: int
    problem: str
    may_act: bool


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
        may_act: Whether whoever asks may use the agents' buttons: builders may.
    """

    now: str
    agents: tuple[AgentRow, ...]
    servers: tuple[ServerRow, ...]
    log_problem: str
    may_act: bool


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
class Stretch:
    """Lines of a prompt that follow one another and come from one section.

    Attributes:
        name: The section; empty where it is not known which line is whose.
        text: The lines; empty lines belong to the stretch that they stand in.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class PromptView:
    """``GET /agents/api/agents/<id>/prompt``: what was last sent for it.

    Attributes:
        at: When; None if nothing was sent, as far as the newest part of the event log tells.
        sections: The prompt by section, in order.
        sent: The same text as it was sent, from its first line to its last; a section may come
            in several stretches. Of before the server's last start one stretch without a name;
            empty where only the costs are known.
        tokens: All of them.
        budget: What it may have.
        cached: Tokens that the server had in its cache, by the server's count.
        server_tokens: Tokens by the server's count; 0 if it does not say.
        trigger: What the thought was about.
        answer: The raw answer; empty if none came yet.
    """

    at: str | None
    sections: tuple[Section, ...]
    sent: tuple[Stretch, ...]
    tokens: int
    budget: int
    cached: int
    server_tokens: int
    trigger: str
    answer: str


@dataclass(frozen=True, slots=True)
class Point:
    """One slice of time in a chart.

    Attributes:
        at: Its beginning.
        thoughts: Thoughts that ended in it.
        failed: Those of them of which nothing came.
        no_answer: Those of these that got no answer: the model was away, or took too long.
        prompt_tokens: Tokens of their prompts, on average; None if no prompt was built.
        completion_tokens: Tokens of the answers, on average; None if nobody answered.
        budget: Tokens that the last of the prompts might have; None if no prompt was built.
        cached: Share of the prompts that the server had in its cache, 0 to 1; None if nobody
            answered.
        latency: Median seconds until the answer, of thoughts that got one; None without any.
        latency_p95: So long, at most, took 19 of 20 of them; the slowest where they are fewer.
        memories: The newest memory's number at its end; None if nothing was remembered yet.
        recalls: Searches made in it.
        recalled: Share of them that found something, 0 to 1; None without any.
        compactions: Compactions in it.
    """

    at: str
    thoughts: int
    failed: int
    no_answer: int
    prompt_tokens: float | None
    completion_tokens: float | None
    budget: int | None
    cached: float | None
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
