"""What the dashboard's API answers, beside the library's own memories, summaries and compactions.

Times are ISO 8601, durations seconds, sizes tokens by the agents' own count, unless a field
says otherwise. An agent is addressed by its database number, which stays when it is renamed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from keepsake.archive.records import Memory, Summary


class Shape(BaseModel):
    """What all of them have in common; the text below a field is its description."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        from_attributes=True,
        use_attribute_docstrings=True,
        json_schema_serialization_defaults_required=True,
    )


class Refused(Shape):
    """Any answer but 200: what is wrong, and the cure; to a stranger it says nothing else."""

    error: str


class Done(Shape):
    """What came of something that a builder asked for."""

    done: bool
    """Whether it was done, or begun."""
    said: str
    """The same in words."""


# -- all agents


class AgentRow(Shape):
    """One agent at a glance."""

    id: int
    name: str
    state: str
    """One word for all of it: ``asleep``, ``going home to sleep``, ``paused``, ``memory cannot be
    written``, ``waiting for the model``, ``idle``, ``gone``, or ``opening`` soon
    after a start; the first of these that holds."""
    paused: bool = False
    """Whether it does not think, be it awake or asleep."""
    asleep: bool = False
    going_home: bool = False
    """Whether it is on its way to bed."""
    place: str
    last_act: str = ""
    """The newest act in its window, as a command; empty for none."""
    last_act_at: datetime | None = None
    waiting: float | None = None
    """Seconds that its thought has waited for queue and model; None if none is under way."""
    memories: int = 0
    next_due: int | None = None
    """At which memory the next compaction falls due; None for never."""
    used: int = 0
    """Tokens of its last prompt; 0 before the first."""
    budget: int = 0
    """Tokens that a prompt may have."""
    due: str = ""
    """Why a compaction is due (``high``, ``count`` …); empty if none is."""
    compacting: bool = False
    ended: int = 0
    """Thoughts since the server started that ended, in whatever way but ``dropped``."""
    failed: int = 0
    """Those of them of which nothing came: refused, unanswered, too large, broken off."""
    recent_ended: int = 0
    """``ended`` over its last 20 thoughts at most."""
    recent_failed: int = 0
    """``failed`` over the same."""
    problem: str = ""
    """What is wrong with it now, on one line; empty if nothing is. The agents' log has it all."""
    may_act: bool = False
    """Whether who asks may pause it, have it compacted, put it to sleep …"""


class ServerRow(Shape):
    """One model server."""

    provider: str
    """``embedded``, ``ollama``, ``openai``; ``llm.md`` where that names none that can be used."""
    host: str = ""
    models: tuple[str, ...] = ()
    """Profile and model of all that is asked there."""
    health: str
    """``ready``, or what is wrong and what to do."""
    waiting: Mapping[str, int] = {}
    """Jobs that wait, by priority."""
    running: int = 0
    """Calls in flight."""
    in_flight: int = 0
    """Calls that may be in flight at once."""
    cached: float = 0.0
    """Share of the prompts' tokens that it had in its cache, since the start; 0 to 1."""


class Overview(Shape):
    """All agents, by name, and the model servers."""

    now: datetime
    agents: tuple[AgentRow, ...]
    servers: tuple[ServerRow, ...]
    model: str = ""
    """The model that plays the agents, and how it was found; or that there is none."""
    log_problem: str
    """Why the event log cannot be written; empty if it can."""


class RoomView(Shape):
    """A place, and who is there."""

    name: str
    exits: tuple[str, ...]
    """The names of the places that one can go to from here."""
    agents: tuple[tuple[int, str], ...]
    """Number and name of each agent that is here."""
    players: tuple[str, ...]
    """The other characters that are here."""


class NewEvents(Shape):
    """What has happened since a page last asked."""

    last: int
    """The number of the newest event of the log, of any agent: what to ask for ``after`` next."""
    gap: bool
    """Whether there were more events than are given, or the log is another one by now."""
    events: tuple[Mapping[str, Any], ...]
    """Lines of the event log, oldest first; those of memories with their words."""


class FoundView(Shape):
    """A memory that a search over all agents found."""

    id: int
    """The agent's number."""
    agent: str
    memory: Memory


class SearchView(Shape):
    """Memories of any agent that hold all the words."""

    hits: tuple[FoundView, ...]
    """The newest first."""
    complete: bool
    """False if the archives are so long that only their newest part was read."""


# -- one of them


class Stretch(Shape):
    """Lines of a prompt that follow one another and come from one section."""

    name: str
    """The section; empty where it is not known which line is whose."""
    text: str


class PromptView(Shape):
    """A prompt that was sent for an agent."""

    at: datetime | None = None
    """When its thought ended; None if nothing was sent, as far as the newest part of the event log
    says."""
    sections: Mapping[str, int] = {}
    """Tokens of each section, in the order of the prompt; as in ``@agent/prompt``."""
    sent: tuple[Stretch, ...] = ()
    """The text; a section may come in several stretches. Of all but the newest prompt since the
    last start it is one stretch without a name."""
    budget: int = 0
    """Tokens that it may have."""
    cached: int = 0
    """Tokens that the server had in its cache, by the server's count."""
    server_tokens: int = 0
    """Tokens by the server's count; 0 if it does not say."""
    trigger: str = ""
    """What the thought was about."""
    answer: str = ""
    """The raw answer; empty if none came."""


class TiersView(Shape):
    """Which memory is where, from memory 1 to now."""

    first: int
    """First memory that any tier holds (after a clearing not 1)."""
    total: int
    """The newest memory; 0 if there is none."""
    compaction: int
    """The one that the summaries are of."""
    longterm: Summary | None
    recent: Summary | None
    window_first: int
    """First memory of the window; ``total`` + 1 if it is empty."""
    window_tokens: int


class PageView(Shape):
    """A page of one of an agent's books."""

    title: str
    at: datetime | None
    """When it was written, or they met, last; None where the file does not say."""
    text: str
    """Markdown."""
    facts: Mapping[str, str]
    """What else the file says, by name."""
    file: str


class Point(Shape):
    """One slice of time in a chart; None where there is nothing to measure."""

    at: datetime
    """Its beginning."""
    thoughts: int
    """Thoughts that ended in it."""
    failed: int
    """Those of them of which nothing came."""
    no_answer: int
    """Those of these that got no answer: the model was away, or took too long."""
    prompt_tokens: float | None
    """Tokens of their prompts, on average."""
    completion_tokens: float | None
    """Tokens of the answers, on average."""
    budget: int | None
    """Tokens that the last of the prompts might have."""
    cached: float | None
    """Share of the prompts that the server had in its cache, 0 to 1."""
    latency: float | None
    """Median seconds until the answer."""
    latency_p95: float | None
    """Seconds within which 19 of 20 were answered."""
    memories: int | None
    """The newest memory's number at its end."""
    recalled: float | None
    """Share of the searches that found something, 0 to 1."""
    compactions: int


class Series(Shape):
    """60 slices of the last hours, oldest first."""

    points: tuple[Point, ...]
    complete: bool
    """False if the event log of that time was read only in part."""
