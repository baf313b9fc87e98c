"""Answers of the dashboard's API, except the library's own memories, summaries and compactions.

Unless a field says otherwise, times are ISO 8601, durations are in seconds, and sizes are in tokens
by Keepsake's count. An agent's id is its database number, which stays when it is renamed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from keepsake.agent.thinker import AgentState
from keepsake.agent.why import PromptSource, SummaryBasis
from keepsake.archive.records import MemoryKind, Summary
from keepsake.events.types import Guard, Thought


class Shape(BaseModel):
    """The base class of all answers; the text below a field is its description in the schema."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        from_attributes=True,
        use_attribute_docstrings=True,
        json_schema_serialization_defaults_required=True,
    )


class Refused(Shape):
    """Any answer except 200: what is wrong, and the cure. Without access it says nothing else."""

    error: str


class Done(Shape):
    """The outcome of a builder's action."""

    done: bool
    """Whether the action was done, or has begun."""
    said: str
    """The outcome in words."""


# -- all agents


class AgentRow(Shape):
    """One agent at a glance."""

    id: int
    name: str
    state: AgentState
    """The first of these that is true: ``asleep``, ``going home to sleep``, ``paused``, ``memory
    cannot be written``, ``waiting for the model``, ``idle``, ``gone``; or ``opening`` soon after
    a start."""
    paused: bool = False
    """Whether it is paused: it does not think, awake or asleep."""
    asleep: bool = False
    going_home: bool = False
    """Whether it is on its way to bed."""
    place: str
    last_act: str = ""
    """The newest act in its window, as a command; empty for none."""
    last_act_at: datetime | None = None
    waiting: float | None = None
    """Seconds that its thought has waited for queue and model; None if no thought is under way."""
    memories: int = 0
    next_due: int | None = None
    """The number of the memory at which the next compaction is due; None for never."""
    used: int = 0
    """Tokens of its last prompt; 0 before the first."""
    budget: int = 0
    """The most tokens that a prompt may have."""
    due: str = ""
    """Why a compaction is due (``high``, ``count`` …); empty if none is."""
    compacting: bool = False
    ended: int = 0
    """Thoughts that ended since the server started, except those ``dropped``."""
    failed: int = 0
    """Ended thoughts without a result: refused, no answer, too large, broken off."""
    recent_ended: int = 0
    """``ended`` among its last 20 thoughts."""
    recent_failed: int = 0
    """``failed`` among its last 20 thoughts."""
    problem: str = ""
    """What is wrong with it now, on one line; empty if nothing is. The agents' log has more."""
    may_act: bool = False
    """Whether the account that asks may pause it, compact its memory, put it to sleep …"""


class ServerRow(Shape):
    """One model server."""

    provider: str
    """``embedded``, ``ollama``, ``openai``; ``llm.md`` if that file has no usable profile."""
    host: str = ""
    models: tuple[str, ...] = ()
    """The profiles that use the server, with their models."""
    health: str
    """``ready``, or what is wrong and what to do."""
    waiting: Mapping[str, int] = {}
    """The number of waiting jobs, by priority."""
    running: int = 0
    """Calls in flight."""
    in_flight: int = 0
    """The most calls that may be in flight at once."""
    cached: float = 0.0
    """Share of the prompts' tokens that were in the server's cache, since the start; 0 to 1."""


class Overview(Shape):
    """All agents, by name, and the model servers."""

    now: datetime
    agents: tuple[AgentRow, ...]
    servers: tuple[ServerRow, ...]
    model: str = ""
    """The agents' model and how it was chosen, in words; or that there is none."""
    log_problem: str
    """Why the event log cannot be written; empty if it can."""


class RoomView(Shape):
    """A room and the characters in it."""

    name: str
    exits: tuple[str, ...]
    """The names of the rooms that its exits lead to."""
    agents: tuple[tuple[int, str], ...]
    """Number and name of each agent in the room."""
    players: tuple[str, ...]
    """The names of the players' characters in the room."""


class NewEvents(Shape):
    """The events since the last request."""

    last: int
    """The number of the newest event in the log, of any agent: the next request's ``after``."""
    gap: bool
    """Whether events are missing: there were more than an answer holds, or the log was replaced."""
    events: tuple[Mapping[str, Any], ...]
    """Lines of the event log, oldest first. Events of memories also have the memories' words."""


class MemoryView(Shape):
    """One memory of an agent."""

    number: int
    time: datetime
    kind: MemoryKind
    form: str
    """What happened: ``speech``, ``deed``, ``pose``, ``sight`` or ``result``."""
    happening: str
    """The id of what happened: the same for all agents that perceived it; empty if not known."""
    text: str
    """The line as the agent read or wrote it."""
    words: str
    """What was said; empty if nobody spoke."""
    manner: str
    """How it was said: ``say``, ``whisper``, ``shout``, ``channel``; empty if nobody spoke."""
    source: str
    """The name of who caused it; empty for the agent itself, or if nobody is known."""
    source_id: str
    to: str
    """The name of the first addressee; ``you`` for the agent itself, empty for everybody."""
    to_id: str
    confidants: frozenset[str] | None
    """The ids of those who perceived it besides the agent; null if everybody near did."""
    place: str
    event: str
    reason: str
    repeats: int
    importance: int
    about: str
    chain: str
    answers: int
    rests_on: tuple[int, ...]
    """For an own act: the memories that its prompt showed because they bear on it."""


class WhyView(Shape):
    """One act of an agent, and what led to it."""

    agent: str
    nth: int
    """The position among the last acts: 1 is the last."""
    time: datetime
    command: str
    reason: str
    seq: int
    """The number of the thought's event in the log; 0 if the log has none."""
    trigger: str
    cause: MemoryView | None
    """The memory that set it off; null if none did, or if it is not known."""
    act: MemoryView
    recalled: tuple[PromptSource, ...]
    summaries: tuple[SummaryBasis, ...]
    window: tuple[int, int] | None
    """The first and the last memory of the window; null if that is not known."""
    thought: Thought | None
    guards: tuple[Guard, ...]
    missing: tuple[str, ...]
    """What is no longer known, and why; a sentence each."""


class FoundView(Shape):
    """A memory that a search over all agents found."""

    id: int
    """The agent's number."""
    agent: str
    memory: MemoryView


class SearchView(Shape):
    """Memories of any agent that contain all the words."""

    hits: tuple[FoundView, ...]
    """The memories, newest first."""
    complete: bool
    """False if only the newest part of the archives was read, because they are very long."""


# -- one agent


class Stretch(Shape):
    """Consecutive lines of a prompt from one section."""

    name: str
    """The section's title; empty if the sections of the lines are not known."""
    text: str


class PromptView(Shape):
    """A prompt that was sent for an agent."""

    at: datetime | None = None
    """When its prompt was sent; None if none was sent, as far as the newest part of the event log
    says."""
    sections: Mapping[str, int] = {}
    """Tokens of each section, in the order of the prompt; as in ``@agent/prompt``."""
    sent: tuple[Stretch, ...] = ()
    """The text; a section may have several stretches. Only the newest prompt since the last start
    has named stretches; an older one is a single stretch without a name."""
    budget: int = 0
    """The most tokens that the prompt may have."""
    cached: int = 0
    """Tokens that were in the server's cache, by the server's count."""
    server_tokens: int = 0
    """Tokens of the prompt by the server's count; 0 if the server does not say."""
    trigger: str = ""
    """What set the thought off."""
    answer: str = ""
    """The raw answer; empty if none came."""


class TiersView(Shape):
    """The tiers of an agent's memory, from memory 1 to the newest."""

    first: int
    """The first memory that any tier holds; not 1 after the memory was cleared."""
    total: int
    """The number of the newest memory; 0 if there is none."""
    compaction: int
    """The number of the compaction that made the summaries."""
    longterm: Summary | None
    recent: Summary | None
    window_first: int
    """The first memory of the window; ``total`` + 1 if the window is empty."""
    window_tokens: int


class PageView(Shape):
    """A page of one of an agent's books."""

    title: str
    at: datetime | None
    """When the page was written last, or the person was met last; None if the file does not say."""
    text: str
    """Markdown."""
    facts: Mapping[str, str]
    """Other fields of the file, by name."""
    file: str


class Point(Shape):
    """One slice of time in a chart. A value is None if there is nothing to measure."""

    at: datetime
    """The beginning of the slice."""
    thoughts: int
    """Thoughts that ended in it."""
    failed: int
    """Thoughts without a result."""
    no_answer: int
    """Failed thoughts without an answer: the model was not available, or took too long."""
    prompt_tokens: float | None
    """Average tokens of the prompts."""
    completion_tokens: float | None
    """Average tokens of the answers."""
    budget: int | None
    """The most tokens that the last prompt could have."""
    cached: float | None
    """Share of the prompts' tokens that were in the server's cache, 0 to 1."""
    latency: float | None
    """Median seconds until the answer."""
    latency_p95: float | None
    """Seconds within which 95 % of the thoughts were answered."""
    memories: int | None
    """The number of the newest memory at the end of the slice."""
    recalled: float | None
    """Share of the searches that found something, 0 to 1."""
    compactions: int


class Series(Shape):
    """60 slices of the last hours, oldest first."""

    points: tuple[Point, ...]
    complete: bool
    """False if the event log does not go back to the first slice."""
