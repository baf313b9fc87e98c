"""Answers of the API about one agent; as in :mod:`keepsake.web.shapes`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from keepsake.agent.plans.past_plans import PastPlan
from keepsake.agent.why.basis import SummaryBasis
from keepsake.archive.summaries import Summary, Tier
from keepsake.events.types import Agreement, Consent, Guard, Thought
from keepsake.web.privacy import Privacy
from keepsake.web.questions.motive import MotiveKind
from keepsake.web.shapes import MemoryView, PlanRow, Shape, SourceView


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
    begun: bool = False
    """Whether something was done for the plan."""
    private: Privacy = ""
    """How a plan is private, in words: ``keeps it for Bob``; empty if anybody may know of it."""


class OwnPlan(PlanRow):
    """A plan of an agent, with why it was made."""

    cause: MemoryView | None
    """What somebody said or did that led to it; null if that is not known."""
    sender: str = ""
    """Who asked for it, if an agent who said it only carried it on."""
    sender_id: str = ""
    """Their identity."""


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
    place: str
    """The name of the place where it is now; empty if it is nowhere."""
    due: tuple[DayPart, ...]
    """The plans whose time has come and that have not ended, in the order of their times."""
    now: DayPart | None
    """What it usually does by itself at this hour; null if the game sets nothing."""
    next: DayPart | None
    """What begins next; null if nothing is known of today and tomorrow."""
    dates: tuple[DateView, ...]
    """Today and tomorrow."""
    said: tuple[MemoryView, ...] = ()
    """What it said itself about tomorrow, the newest first; at most 8. It may not be planned."""
    said_today: tuple[MemoryView, ...] = ()
    """What it said about today on earlier days; so too."""


class GroundView(Shape):
    """A line of a prompt from which an act has words."""

    text: str
    memory: MemoryView | None
    """The memory that it is; null if it is of a summary, or of another part of the prompt."""
    summary: bool
    """Whether a summary says it."""
    shared: tuple[str, ...]
    """The words of the act that it has, as written there."""
    known: bool
    """Whether the archive says that the act rests on it."""


class MotiveView(Shape):
    """What an agent had reason to think of when it acted."""

    kind: MotiveKind
    text: str
    """What it was told, promised, planned or had said, or what is a secret of who it is."""
    part: str
    """The part of it that bears most on the act."""
    memory: MemoryView | None
    """The memory that it is; null for a plan, and for a secret of who it is."""
    masked: bool
    """Whether its prompt had only that somebody whispered, and not the words."""
    private: Privacy
    """How it is private, in words; empty if anybody may know of it."""


class UntoldView(Shape):
    """A line that an agent heard, and that has words of an act which its prompt did not have."""

    id: int
    agent: str
    """The agent that heard it; it may be the one that acts, long before."""
    memory: MemoryView
    shared: tuple[str, ...]


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
    """The memory that set it off, or what was said since that it answers; null if none did, or if
    it is not known."""
    act: MemoryView
    recalled: tuple[SourceView, ...]
    """What was recalled for it. What has words of the act that ``cause`` does not have comes
    first."""
    explaining: int = 0
    """How much of ``recalled`` has such words."""
    summaries: tuple[SummaryBasis, ...]
    window: tuple[int, int] | None
    """The first and the last memory of the window; null if that is not known."""
    masked: tuple[int, ...] | None
    """Whispers of the window of which its prompt had only that they were whispered: most because
    not all who heard the act may know them; null if its prompt is not known."""
    unheld: tuple[str, ...]
    """Telling words of the act that stand nowhere in its prompt; at most five."""
    rests: tuple[MemoryView, ...] = ()
    """What else the act rests on, oldest first: its prompt showed it because it bears on it. What
    was recalled is in ``recalled``."""
    promises: tuple[MemoryView, ...] = ()
    """Promises that stood in its prompt: those to the people whom the act answers, and those that
    share words with it; the newest first."""
    quoted: tuple[MemoryView, ...] = ()
    """What its prompt quoted of the pages about the people whom the act answers, from before the
    window, and shares words with the act; the likeliest first."""
    before: tuple[MemoryView, ...] = ()
    """The newest memories of the window, oldest first, without what set the act off."""
    bearing: tuple[MemoryView, ...] = ()
    """A guess: those other memories of the window that share most words with the act and with what
    set it off, the likeliest first; at most three."""
    goes_on: tuple[MemoryView, ...] = ()
    """Its own last words in the talk from which it goes on, oldest first; at most two."""
    grounds: tuple[GroundView, ...] = ()
    """The few lines of its prompt that together have most of its words, what has most first. A
    guess, but where ``known`` says so."""
    nowhere: tuple[str, ...] = ()
    """The words of the act that stand neither in its prompt nor in what it answers; empty if the
    prompt is not known."""
    elsewhere: UntoldView | None = None
    """Where words are that its prompt did not have; null if it had them, or nobody heard them."""
    motive: MotiveView | None = None
    """What it had reason to think of; null if nothing that it keeps bears on the act."""
    thought: Thought | None
    guards: tuple[Guard, ...]
    agreements: tuple[Agreement, ...]
    consents: tuple[Consent, ...] = ()
    """What the model was asked about words to somebody who did not know what was whispered."""
    missing: tuple[str, ...]
    """What is no longer known, and why; a sentence each."""
    by_rule: bool
    """Whether a rule did it: there was no prompt, and no model was asked."""
    plans: tuple[PastPlan, ...] | None
    """The plans that stood in its prompt; null if that is not known."""
    plan: PastPlan | None
    """The plan that the act belongs to; null if it belongs to none."""


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
    since: datetime | None
    """From when on prompts had them; null if there are none. A summary's own time is when its
    writing began, or when somebody edited it."""
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
