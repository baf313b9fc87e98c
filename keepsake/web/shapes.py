"""Answers of the dashboard's API, except the library's own memories, summaries and compactions.

Unless a field says otherwise, times are ISO 8601, durations are in seconds, and sizes are in tokens
by Keepsake's count. An agent's id is its database number, which stays when it is renamed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict

from keepsake.agent.memory.past_plans import PastPlan
from keepsake.agent.thinker import AgentState
from keepsake.agent.why import SummaryBasis
from keepsake.archive.records import MemoryKind, Summary, Tier
from keepsake.books.plan import Plan, PlanState
from keepsake.events.types import Agreement, Guard, Thought
from keepsake.events.values import RecalledKind
from keepsake.happening import Deed, HappeningKind, Pose, Result, Sight, Speech

ERRORS = frozenset({400, 403, 404, 429, 503})
"""The statuses of answers that refuse a request."""


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


class AsideView(Shape):
    """What an agent answered outside the game."""

    words: str
    """The words of the answer; empty if there was none."""
    problem: str
    """Why there are no words; empty if there are."""
    model: str
    calls: int
    """How many times the model was asked."""
    summarised: tuple[int, ...]
    """Those of the memories left out that a summary in its prompt covers. It may tell of them."""


# -- memories


class MemoryView(Shape):
    """One memory of an agent."""

    number: int
    time: datetime
    kind: MemoryKind
    form: HappeningKind
    """The type of ``what``."""
    what: Speech | Deed | Pose | Sight | Result
    """The fields of the happening. A person is an identity and the name by which the agent knows
    them; the identity ``me`` is the agent itself."""
    text: str
    """The line as the agent read it; for its own act the command that it gave."""
    happening: str
    """The identifier of the happening. All agents that perceived it have the same one; empty if it
    is not known."""
    source: str
    """The name of the person who caused it; empty for the agent itself, or if that is not known."""
    source_id: str
    """The identity of that person; empty if it is not known."""
    confidants: Annotated[tuple[str, ...], BeforeValidator(sorted)] | None
    """The identities of all others who know of it, if it is private; null if it is not."""
    place: str
    event: str
    """The type of the game's message: ``say``, ``move``, ``scene`` …; empty if it had none."""
    reason: str
    """The agent's private reason for an own act."""
    repeats: int
    """How often in a row it happened."""
    importance: int
    """1 to 10 if the world rates it; else 0."""
    about: str
    """The identity of the person whom hearsay, or a deed of the world, is about."""
    chain: str
    """For hearsay: the memories it rests on, the eyewitness first: ``Nell 17; Joss 41``."""
    answers: int
    """For an own act: the newest memory in the prompt that it answers, if more memories came while
    it was written; else 0."""
    rests_on: tuple[int, ...]
    """For an own act: the memories that its prompt showed because they bear on it."""
    plan_words: str = ""
    """For an own act that ends a plan by number: what was planned; empty if that is not known."""


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
    last_act: MemoryView | None = None
    """The newest act in its window; null for none."""
    last_words: MemoryView | None = None
    """The newest of its acts in the window in which it says something; null for none."""
    waiting: float | None = None
    """Seconds that its thought has waited for queue and model; None if no thought is under way."""
    memories: int = 0
    next_due: int | None = None
    """The number of the memory at which the next compaction may be due; None after an undo."""
    used: int = 0
    """Tokens of its last prompt; 0 before the first."""
    budget: int = 0
    """The most tokens that a prompt may have."""
    due: str = ""
    """Why a compaction is due (``high``, ``count`` …); empty if none is."""
    when_due: str = ""
    """When a compaction that is due will begin, in words; empty if at once, or if none is due."""
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
    cached: float | None = None
    """Share of the prompts' tokens that were in the server's cache since the start, 0 to 1; None if
    the server does not say."""
    last_cached: float | None = None
    """The same of the newest answer."""


class Overview(Shape):
    """All agents, by name, and the model servers."""

    now: datetime
    agents: tuple[AgentRow, ...]
    servers: tuple[ServerRow, ...]
    model: str = ""
    """The agents' model and how it was chosen, in words; or that there is none."""
    log_problem: str
    """Why the event log cannot be written; empty if it can."""


class PlanRow(Shape):
    """Something that an agent means to do."""

    id: int
    """The agent's number."""
    agent: str
    number: int
    """The number of the plan; unique for one agent."""
    line: str
    """The plan in words, with its time, place and person."""
    what: str
    """What it means to do, in its own words."""
    at: datetime | None
    """When it is due; null if it waits for something else, or has no time."""
    waits_for: str
    """What it waits for instead of a time, in words; empty if it waits for nothing."""
    place: str
    """The name of the place; empty for any."""
    whom: str
    """The name of the person with whom or for whom it is done; empty for nobody."""
    state: PlanState
    begun: bool
    why: str
    """Why it was dropped, or how it ended; empty if it has not."""
    memory: int
    """The memory that it rests on; 0 if a person wrote it."""
    private: bool
    """Whether it rests on private words."""

    @classmethod
    def of(cls, number: int, agent: str, plan: Plan) -> Self:
        """Return the row of a plan of that agent."""
        return cls(
            id=number,
            agent=agent,
            number=plan.number,
            line=plan.line,
            what=plan.what,
            at=plan.at,
            waits_for=plan.waits_for,
            place=plan.where,
            whom=plan.whom.name if plan.whom else "",
            state=plan.state,
            begun=plan.is_begun,
            why=plan.why,
            memory=plan.since,
            private=plan.private is not None,
        )


class DayPart(Shape):
    """What an agent will do at a time of a date: by itself, or because of a plan."""

    since: datetime
    until: datetime | None
    """The moment after it; null for a plan, which has no end."""
    place: str
    """The name of the place; empty if that is not known yet."""
    whom: str
    """The name of the person with whom or for whom it is done; empty for nobody."""
    does: tuple[str, ...]
    """What it does, in the order in which it does so."""
    only_if: tuple[str, ...] = ()
    """What must hold for it, and will: ``["market day"]``."""
    unless: tuple[str, ...] = ()
    """The weather in which it would do something else: ``["rain"]``."""
    plan: int = 0
    """The number of the plan; 0 if it does so by itself."""
    private: bool = False
    """Whether it is a plan that rests on private words."""


class DateView(Shape):
    """What an agent will do on a date."""

    date: datetime
    """Its first moment."""
    parts: tuple[DayPart, ...]
    """In the order of their times: those by the game's rules have no overlap, and a plan that is
    due comes before them."""


class DayView(Shape):
    """What an agent will do today and tomorrow: its plans, and what it does by itself."""

    usual: str
    """Its ordinary day in a line; empty if the game sets none."""
    now: DayPart | None
    """What it does by itself at this hour; null if the game sets nothing."""
    next: DayPart | None
    """What begins next; null if nothing is known of today and tomorrow."""
    dates: tuple[DateView, ...]
    """Today and tomorrow."""


class NewEvents(Shape):
    """The events since the last request."""

    last: int
    """The number of the newest event in the log, of any agent: the next request's ``after``."""
    gap: bool
    """Whether events are missing: there were more than an answer holds, or the log was replaced."""
    events: tuple[Mapping[str, Any], ...]
    """Lines of the event log, oldest first. A line about a new or repeated memory has one more
    field, ``remembered``: a MemoryView."""


class SourceView(Shape):
    """A memory, summary or note that a search found."""

    kind: RecalledKind
    n: int
    """The number of the memory, or of the summary's compaction; 0 for a note."""
    title: str
    """The note's title; empty for other kinds."""
    first: int
    last: int
    """The first and the last memory that it covers; 0 for a note, and if that is not known."""
    score: float
    """How well it matches; only comparable within one search."""
    why: str
    """The parts of the score, in words."""
    text: str
    """Its words; empty if they are lost."""
    memory: MemoryView | None
    """The memory; null for other kinds, and if it is lost."""


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
    recalled: tuple[SourceView, ...]
    summaries: tuple[SummaryBasis, ...]
    window: tuple[int, int] | None
    """The first and the last memory of the window; null if that is not known."""
    before: tuple[MemoryView, ...] = ()
    """The newest memories of the window, oldest first, without what set the act off."""
    bearing: tuple[MemoryView, ...] = ()
    """Those other memories of the window that bear on the act, oldest first: it rests on them, or
    they share words with it or with what set it off."""
    thought: Thought | None
    guards: tuple[Guard, ...]
    agreements: tuple[Agreement, ...]
    missing: tuple[str, ...]
    """What is no longer known, and why; a sentence each."""
    by_rule: bool
    """Whether a rule did it: there was no prompt, and no model was asked."""
    plans: tuple[PastPlan, ...] | None
    """The plans that stood in its prompt; null if that is not known."""
    plan: PastPlan | None
    """The plan that the act belongs to; null if it belongs to none."""


class FoundView(Shape):
    """A memory that a search over all agents found."""

    id: int
    """The agent's number."""
    agent: str
    memory: MemoryView
    has_words: bool
    """Whether it has a word of the question, in any form and not only a stop word. If not, it is
    only near in meaning."""


class SearchView(Shape):
    """Memories of any agent that bear on the question."""

    hits: tuple[FoundView, ...]
    """The memories: the best first if they were found by meaning, else the newest first."""
    by: str
    """``meaning`` if they were found by meaning and words, ``words`` if by exact words: as asked,
    or because no index can be searched."""
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
    cached: int | None = None
    """Tokens that were in the server's cache, by the server's count; None if it does not say."""
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


class SummaryTextView(Shape):
    """The text of a summary as it is stored, without links: what an edit begins with."""

    tier: Tier
    text: str
    """Empty if there is no such summary."""


class ProfileView(Shape):
    """Who an agent is, in the words of its builder."""

    text: str
    former: tuple[str, ...]
    """The profiles before, the newest last; at most ten."""


class PromiseLine(Shape):
    """An open promise of an agent, or a rule that it follows."""

    text: str
    """``promise to Jonas: a bowl of soup``."""
    memory: int
    """The memory that it rests on; 0 if a person wrote it into the file."""


class PageView(Shape):
    """A page of one of an agent's books."""

    title: str
    at: datetime | None
    """When the page was written last, or the person was met last; None if the file does not say."""
    text: str
    """Markdown. The numbers of memories are links: ``[17](#memory/17)``."""
    facts: Mapping[str, str]
    """Other fields of the file, by name."""
    file: str
    """The name of the page's file."""
    pins: tuple[str, ...] = ()
    """For ``pinned.md``: the pinned lines, numbered from 1."""
    promises: tuple[PromiseLine, ...] = ()
    """For ``noticed.md``: the open promises and rules."""
    private: tuple[int, ...] = ()
    """The numbers of the private memories that it cites."""


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
    """Share of the prompts' tokens that were in the server's cache, 0 to 1; None if unknown."""
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
