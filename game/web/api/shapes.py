"""What the dashboard's API answers: one model per answer, from which ``openapi.py`` describes it.

Times are ISO 8601 in UTC, durations seconds, sizes tokens by the agents' own count, unless a field
says otherwise. An agent is addressed by its database number, which stays when it is renamed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Self

from pydantic import BaseModel, ConfigDict


def iso(time: datetime | None) -> str | None:
    """The time in UTC, as ISO 8601; None for none."""
    return None if time is None else time.astimezone(UTC).isoformat()


class Shape(BaseModel):
    """What all of them have in common; the text below a field is its description."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        from_attributes=True,
        use_attribute_docstrings=True,
        json_schema_serialization_defaults_required=True,
    )

    @classmethod
    def of(cls, found: object, **rest: Any) -> Self:
        """One with what ``found`` has under the names of its fields, and the rest as given."""
        names = cls.model_fields.keys() - rest.keys()
        return cls(**{name: getattr(found, name) for name in names if hasattr(found, name)}, **rest)


class AgentRow(Shape):
    """One agent at a glance."""

    id: int
    """Its database number."""
    name: str
    """Its name."""
    state: str
    """One word for all of it: ``asleep``, ``going home to sleep``, ``paused``, ``memory cannot be
    written``, ``waiting for the model``, ``idle``, ``gone``, or ``opening`` soon
    after a start; the first of these that holds."""
    paused: bool = False
    """Whether it does not think, be it awake or asleep."""
    asleep: bool = False
    """Whether it sleeps."""
    going_home: bool = False
    """Whether it is on its way to bed."""
    place: str
    """The room it is in."""
    last_act: str = ""
    """The line of its last act, of before the server's last start as well, as far as the newest
    part of the event log tells; empty if that tells of none."""
    last_act_at: str | None = None
    """When; None if ``last_act`` is empty."""
    waiting: float | None = None
    """Seconds that its thought has waited, for the queue and the model; None if none is under
    way."""
    memories: int = 0
    """How many it has."""
    next_due: int | None = None
    """At which memory the next compaction falls due; None for never."""
    used: int = 0
    """Tokens of its last prompt, as ``last_act``; 0 before the first."""
    budget: int = 0
    """Tokens that a prompt may have."""
    due: str = ""
    """Why a compaction is due (``high``, ``count`` …); empty if none is."""
    compacting: bool = False
    """Whether one is under way."""
    thoughts: int = 0
    """Thoughts that were answered since the server started."""
    ended: int = 0
    """Thoughts since then that came to an end, in whatever way but ``dropped``."""
    failed: int = 0
    """Those of them of which nothing came: refused, unanswered, too large, broken off."""
    recent_ended: int = 0
    """``ended`` over its last 20 thoughts at most, of before the last start as well."""
    recent_failed: int = 0
    """``failed`` over the same."""
    problem: str = ""
    """What is wrong with it now, on one line of at most 160 characters; empty if nothing is. The
    agents' log has the whole."""
    may_act: bool = False
    """Whether whoever asks may pause it, have it compacted, put it to sleep …"""


class ServerRow(Shape):
    """One model server."""

    provider: str
    """``embedded``, ``ollama``, ``openai``; ``llm.md`` where that names none that can be used, and
    ``health`` says why."""
    host: str = ""
    """Its address."""
    models: tuple[str, ...] = ()
    """Profile and model of all that is asked there."""
    health: str
    """``ready``, or what is wrong and what to do."""
    waiting: Mapping[str, int] = {}
    """Jobs that wait, by priority."""
    running: int = 0
    """Calls in flight."""
    in_flight: int = 0
    """Calls that may be."""
    cached: float = 0.0
    """Share of the prompts' tokens that it had in its cache, since the start; 0 to 1."""


class Overview(Shape):
    """``GET /agents/api/agents``: all agents, by name, and the model servers."""

    now: str
    """When this was so."""
    agents: tuple[AgentRow, ...]
    """All agents."""
    servers: tuple[ServerRow, ...]
    """All model servers."""
    log_problem: str
    """Why the event log cannot be written; empty if it can."""
    may_act: bool
    """Whether whoever asks may use the agents' buttons: builders may."""


class Section(Shape):
    """A part of a prompt."""

    name: str
    """``profile``, ``window``, ``longterm`` …; as in ``@memory-status/tokens``."""
    tokens: int
    """What it costs."""
    text: str
    """Its text, in the order of the prompt; empty where only the costs are known."""


class Stretch(Shape):
    """Lines of a prompt that follow one another and come from one section."""

    name: str
    """The section; empty where it is not known which line is whose."""
    text: str
    """The lines; empty lines belong to the stretch that they stand in."""


class PromptView(Shape):
    """``GET /agents/api/agents/<id>/prompt``: what was last sent for it."""

    at: str | None = None
    """When; None if nothing was sent, as far as the newest part of the event log tells."""
    sections: tuple[Section, ...] = ()
    """The prompt by section, in order."""
    sent: tuple[Stretch, ...] = ()
    """The same text as it was sent, from its first line to its last; a section may come in several
    stretches. Of before the server's last start one stretch without a name; empty where only the
    costs are known."""
    tokens: int = 0
    """All of them."""
    budget: int
    """What it may have."""
    cached: int = 0
    """Tokens that the server had in its cache, by the server's count."""
    server_tokens: int = 0
    """Tokens by the server's count; 0 if it does not say."""
    trigger: str = ""
    """What the thought was about."""
    answer: str = ""
    """The raw answer; empty if none came yet."""


class Point(Shape):
    """One slice of time in a chart."""

    at: str
    """Its beginning."""
    thoughts: int
    """Thoughts that ended in it."""
    failed: int
    """Those of them of which nothing came."""
    no_answer: int
    """Those of these that got no answer: the model was away, or took too long."""
    prompt_tokens: float | None
    """Tokens of their prompts, on average; None if no prompt was built."""
    completion_tokens: float | None
    """Tokens of the answers, on average; None if nobody answered."""
    budget: int | None
    """Tokens that the last of the prompts might have; None if no prompt was built."""
    cached: float | None
    """Share of the prompts that the server had in its cache, 0 to 1; None if nobody answered."""
    latency: float | None
    """Median seconds until the answer, of thoughts that got one; None without any."""
    latency_p95: float | None
    """So long, at most, took 19 of 20 of them; the slowest where they are fewer."""
    memories: int | None
    """The newest memory's number at its end; None if nothing was remembered yet."""
    recalls: int
    """Searches made in it."""
    recalled: float | None
    """Share of them that found something, 0 to 1; None without any."""
    compactions: int
    """Compactions in it."""


class Series(Shape):
    """``GET …/series?hours=``: 60 slices of the last so many hours, oldest first."""

    slice: float
    """Seconds of one slice."""
    points: tuple[Point, ...]
    """The slices."""
    complete: bool
    """False if the event log of that time was read only in part."""


class Done(Shape):
    """``POST …/pause``, ``resume``, ``compact``, ``sleep``, ``wake``: what came of it."""

    done: bool
    """Whether it was done, or begun."""
    said: str
    """The same in words for people."""
    state: str
    """The agent's state afterwards."""


class Refused(Shape):
    """Any answer but 200."""

    error: str
    """What is wrong, and the cure. To whoever may not look it says nothing else."""


class SummaryView(Shape):
    """A summary and what it covers."""

    kind: str
    """``longterm`` or ``recent``."""
    compaction: int
    """Number of the compaction that made it."""
    first: int
    """First memory that it covers."""
    last: int
    """Last memory that it covers."""
    at: str
    """When it was written."""
    model: str
    """Who wrote it."""
    text: str
    """The summary, as markdown."""
    tokens: int
    """What it costs in a prompt."""
    undone: bool = False
    """Whether that compaction was taken back since."""


class TiersView(Shape):
    """``GET …/tiers``: which memory is where, from memory 1 to now."""

    first: int
    """First memory that any tier holds (after a clearing not 1)."""
    total: int
    """The newest memory; 0 if there is none."""
    longterm: SummaryView | None
    """The long-term summary that stands; None if there is none."""
    recent: SummaryView | None
    """The short-term summary that stands; None if there is none."""
    window_first: int
    """First memory that stands verbatim; ``total`` + 1 if none does."""
    window_tokens: int
    """What the window costs."""


class MemoryView(Shape):
    """One memory."""

    n: int
    """Its number."""
    at: str
    """When."""
    kind: str
    """``perception``, ``act``, ``result``."""
    text: str
    """Its words."""
    times: int
    """How often in a row it happened."""
    place: str
    """Where; empty if not known."""
    source: str
    """Who caused it; empty for nobody."""
    reason: str
    """The private reason of an act."""
    tier: str
    """``longterm``, ``recent``, ``window`` or ``cleared``."""


class Memories(Shape):
    """``GET …/memories?first=&last=``: at most 200 of them, from ``first`` on."""

    memories: tuple[MemoryView, ...]
    """In their order."""
    before: tuple[SummaryView, ...]
    """The summaries of before that covered some of them and stand no more, newest first (at most
    20)."""
    more_before: int
    """How many more of those there were, older than the ones given."""


class HitView(Shape):
    """Something that recall found."""

    kind: str
    """``memory``, ``summary``, ``note``."""
    title: str
    """``memory 17``, ``short-term summary 3 (memories 1-7)``, ``note: cups``."""
    text: str
    """Its words."""
    score: float
    """How good, the best first."""
    why: str
    """The parts of the score in words, such as ``words 0.41, meaning 0.63``."""
    n: int
    """The memory's number; 0 for anything else."""


class RecallView(Shape):
    """``GET …/recall?q=&limit=``: what a search by hand finds."""

    question: str
    """As it was asked."""
    hits: tuple[HitView, ...]
    """The best first."""
    seconds: float
    """How long it took."""
    problem: str
    """Why nothing could be searched; empty if it could."""


class CompactionView(Shape):
    """A compaction that was made."""

    number: int
    """Its number."""
    at: str
    """When."""
    reason: str
    """``high``, ``count``, ``manual`` …"""
    outcome: str
    """``waterfall`` …"""
    strategy: str
    """Which template wrote its summaries."""
    first: int
    """The first memory that it folded into a summary; 0 if it only made them shorter."""
    last: int
    """The last one; 0 for none."""
    tokens_before: int
    """Tokens before."""
    tokens_after: int
    """Tokens after."""
    seconds: float
    """How long it took."""
    calls: int
    """Model calls."""
    undone: bool
    """Whether it was taken back since."""
    good: bool | None
    """Whether its check found it good; None where none was made."""
    verdict: str
    """What the check said, in words."""
    before: tuple[SummaryView, ...]
    """The summaries that stood before it."""
    after: tuple[SummaryView, ...]
    """The summaries that it wrote."""


class Compactions(Shape):
    """``GET …/compactions?limit=&before=``: newest first."""

    compactions: tuple[CompactionView, ...]
    """So many of them, those older than ``before`` if that is given."""
    total: int
    """How many there were ever."""


class LeantView(Shape):
    """A summary that stood in a prompt."""

    kind: str
    """``longterm`` or ``recent``."""
    compaction: int
    """Which compaction wrote it, or kept it."""
    first: int
    """First memory that it covers."""
    last: int
    """Last memory that it covers."""
    model: str
    """Who wrote it."""
    text: str
    """The summary."""
    told: tuple[str, ...]
    """Its sentences that share words with the act, in their order."""


class UnderView(Shape):
    """A raw memory under a summary, which shares words with an act."""

    n: int
    """Its number."""
    at: str
    """When."""
    text: str
    """Its words."""
    shared: tuple[str, ...]
    """The words that they share, the most telling first."""
    weight: float
    """How telling these are together; only comparable within one act."""


class PromptCost(Shape):
    """What the thought cost."""

    sections: Mapping[str, int]
    """Tokens of each section of the prompt, by our own count."""
    budget: int
    """Tokens that the prompt might have."""
    counted_by: str
    """Who counted the sections."""
    prompt: int
    """Tokens of the prompt, by the server's count."""
    cached: int
    """Those of them that it had in its cache."""
    completion: int
    """Tokens of the answer."""
    model: str
    """Who answered."""
    seed: int | None
    """The seed of the sampling; None for a random one."""
    temperature: float
    """Of the sampling."""
    wait: float
    """Seconds in the queue."""
    latency: float
    """Seconds from there until the answer."""
    attempt: int
    """Which try it was."""


class WhyView(Shape):
    """``GET …/why?n=``: one act of an agent, and all that led to it."""

    nth: int
    """Which of its last acts: 1 the very last."""
    at: str
    """When it was done."""
    seq: int
    """Number of its event in the log; 0 if the log has none."""
    outcome: str
    """``acted``, or what else came of the thought."""
    command: str
    """What it did; the raw answer if that was refused."""
    reason: str
    """The private reason that it gave."""
    problem: str
    """Why it was refused; empty if it was not."""
    trigger: str
    """What set it off; empty if that is not known."""
    priority: str
    """Its place in the model queue."""
    source: str
    """Who caused it; empty for nobody."""
    cause: MemoryView | None
    """The memory that set it off; None if it cannot be told."""
    act: MemoryView | None
    """The memory of the act; None for none."""
    recalled: tuple[HitView, ...]
    """What was looked up for it, and stood in the prompt."""
    summaries: tuple[LeantView, ...]
    """The summaries that stood in the prompt, long-term first."""
    under: tuple[UnderView, ...]
    """Raw memories under them that share words with the act, the most telling first."""
    window: tuple[int, int] | None
    """First and last memory that stood word for word; None if that is not known."""
    cost: PromptCost | None
    """What it cost; None if that is not known."""
    missing: tuple[str, ...]
    """What cannot be told any more, and why, a sentence each."""


class RoomView(Shape):
    """A room."""

    id: int
    """Its database number."""
    name: str
    """Its name."""


class WayView(Shape):
    """An exit."""

    name: str
    """``north``, ``up`` …"""
    start: int
    """From which room."""
    end: int
    """To which."""


class DayRow(Shape):
    """One agent's day."""

    id: int
    """Its database number."""
    name: str
    """Its name."""
    place: str
    """Where it is now; empty for nowhere."""
    minutes: str
    """A letter for each of its 1,440 minutes: ``z`` asleep, ``t`` thinking, ``s`` talking, ``w``
    walking, ``.`` none of these."""
    places: tuple[tuple[int, str], ...]
    """From which minute on it was in which room, in order; before the first it is not known."""


class WorldView(Shape):
    """``GET /world?day=``: the map, and one day of all agents."""

    day: str
    """Which day, by the world's own time zone."""
    begins: str
    """Its first moment."""
    first: str
    """The first day that anybody remembers."""
    last: str
    """Today."""
    minute: int
    """The minute of the day that it is now; the last one of a day that is over."""
    agents: tuple[DayRow, ...]
    """All agents, by name; the first list, so that a table of the day has a row for each."""
    rooms: tuple[RoomView, ...]
    """All rooms."""
    ways: tuple[WayView, ...]
    """All exits between them."""
    talks: tuple[tuple[int, str, str], ...]
    """Who spoke to whom, with the minute, oldest first: agents to anybody, visitors to agents; at
    most 20,000."""


class TieView(Shape):
    """What one knows of another."""

    who: str
    """Whose knowledge it is: an agent's."""
    whom: str
    """Of whom."""
    meetings: int
    """How often they met."""
    lines: int
    """How many of their sentences and deeds stand on the page."""


class TiesView(Shape):
    """``GET /acquaintances``: who knows whom, from the agents' pages of people."""

    people: tuple[str, ...]
    """All who know or are known, by name."""
    agents: Mapping[str, int]
    """Those of them who are agents, with their numbers."""
    ties: tuple[TieView, ...]
    """At most 5,000."""


class FoundView(Shape):
    """A memory of one of all agents."""

    id: int
    """Whose: the agent's number."""
    agent: str
    """Its name."""
    n: int
    """The memory's number."""
    at: str
    """When."""
    kind: str
    """``perception``, ``act``, ``result``."""
    text: str
    """Its words."""
    place: str
    """Where; empty if not known."""


class FoundOf(Shape):
    """How much of one agent was found."""

    id: int
    """Its number."""
    name: str
    """Its name."""
    found: int
    """Memories with all the words."""


class SearchView(Shape):
    """``GET /search?q=&limit=``: memories of any agent that hold all the words."""

    question: str
    """As it was asked."""
    hits: tuple[FoundView, ...]
    """The newest first."""
    agents: tuple[FoundOf, ...]
    """Who remembers any, those with most first."""
    complete: bool
    """False if so much has been lived that only the newest of it was read."""
    most_each: int
    """As many of one agent are found at most; of one with so many there may be more."""


class PageView(Shape):
    """A page of one of an agent's books."""

    title: str
    """What it is called: a day, a name, a night."""
    at: str | None
    """When it was written last; of a profile, when they met last; of a night, when it began; None
    where the file does not say."""
    text: str
    """Its words, as markdown."""
    facts: Mapping[str, str]
    """What else is said of it, by name."""
    file: str
    """The file that it is from, in the agent's folder."""


class Book(Shape):
    """``GET …/book?of=&limit=&skip=``: what an agent keeps beside its memories."""

    pages: tuple[PageView, ...]
    """The newest first."""
    total: int
    """How many there are."""


class SentRow(Shape):
    """A prompt that was sent."""

    seq: int
    """The number of its thought in the event log."""
    at: str
    """When the thought ended."""
    trigger: str
    """What it was about."""
    outcome: str
    """What came of it."""
    command: str
    """What the agent did; empty if it did nothing."""
    tokens: int
    """What the prompt cost, by our own count."""


class SentPrompts(Shape):
    """``GET …/prompts?before=&limit=``: what was sent for an agent."""

    prompts: tuple[SentRow, ...]
    """The newest first."""
    more: bool
    """Whether there are older ones, as far as the newest part of the event log tells."""
