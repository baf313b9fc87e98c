"""Answers of the dashboard's API, except the library's own memories, summaries and compactions.

Unless a field says otherwise, times are ISO 8601, durations are in seconds, and sizes are in tokens
by Keepsake's count. An agent's id is its database number, which stays when it is renamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, computed_field

from keepsake.agent.attention.presence import AgentState
from keepsake.agent.plans.shown_plans import reminds_of
from keepsake.archive.records import MemoryKind
from keepsake.books.kept_lines import Commitment
from keepsake.books.plan import Plan, PlanState
from keepsake.events.values import RecalledKind
from keepsake.happening import Deed, HappeningKind, Pose, Result, Sight, Speech
from keepsake.web.privacy import Privacy, how_private, kept_for

ERRORS = frozenset({400, 403, 404, 429, 503})
"""The statuses of answers that refuse a request."""
LARGEST = 2**53
"""The largest integer of JSON that every language reads exactly."""


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


def answers(shape: Any) -> dict[Any, Any]:
    """Return the answers of an operation by their status: ``shape``, or that it is refused."""
    return {200: shape, ERRORS: Refused}


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

    @computed_field  # type: ignore[prop-decorator]  # as pydantic's manual says
    @property
    def privacy(self) -> str:
        """How it is private: ``whispered``, ``alone with Bob``, ``keeps it for Bob``; or empty."""
        return how_private(self.what, self.confidants, own=self.kind is MemoryKind.ACT)


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
    compacted: datetime | None = None
    """When its summaries were made last; null if it has none."""
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
    keeps_secrets: str = ""
    """Whether it keeps secrets, found out by questions, in words; empty without a model."""
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
    private: Privacy
    """How it is private, in words: ``keeps it for Bob``; empty if anybody may know of it. What was
    asked for aloud as well is no secret."""
    promised: bool = False
    """Whether it only reminds the agent of an open promise, in the words of that."""
    away: bool = False
    """Whether that person is a player who is not in the game; false also on pages of people, which
    do not ask, and if it has ended."""

    @classmethod
    def of(cls, number: int, agent: str, plan: Plan, made: Iterable[Commitment] = ()) -> Self:
        """Return the row of a plan of that agent.

        ``made``: What it has promised and not kept.
        """
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
            private=kept_for(plan.confided),
            promised=not plan.state.has_ended and reminds_of(plan, made) is not None,
        )


class PromiseRow(Shape):
    """Something that an agent has promised, for a certain day or for none."""

    id: int
    """The agent's number."""
    agent: str
    whom: str
    """The name of the person to whom it is promised; empty if that is not known."""
    text: str
    """What is promised, in the agent's own words."""
    memory: int
    """The memory that it rests on; 0 if a person wrote it."""
    private: Privacy
    """How it is private, in words: ``keeps it for Bob``; empty if anybody may know of it."""
    at: datetime | None = None
    """When it is for: as that day begins if it names no hour; null if it is for no certain day."""
    whole_day: bool = False
    """Whether it names a day without an hour."""
    part: str = ""
    """The part of the day if it names one and no hour: ``morning``; ``at`` is an hour of it."""
    dated: str = ""
    """Its words if they were said on another day: each *tomorrow* has its date; else empty."""
    when_said: str = ""
    """The words in which the agent said when, if its promise names no hour: ``From six, …``."""
    said: datetime | None = None
    """When it was promised; null if that is not known. Its words may say *tomorrow*."""
    plan: int = 0
    """The number of the open plan that was made with it; 0 if there is none."""
    away: bool = False
    """Whether it is promised to a player who is not in the game."""


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
    words: tuple[str, ...]
    """The words of the question that tell something, in small letters; all of them if none does.
    What has them is marked in the memories."""
    complete: bool
    """False if only the newest part of the archives was read, because they are very long."""
