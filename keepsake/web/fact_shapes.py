"""Answers of the API about the past of all agents: the map, a fact's way, a memory as of a time.

Times in long lists are whole seconds since 1970, so that a page of 50 agents stays small.
"""

from __future__ import annotations

from datetime import datetime

from keepsake.agent.plans.past_plans import PastPlan
from keepsake.archive.line_types import LineType
from keepsake.archive.summaries import Summary, Tier
from keepsake.books.editing import EditableBook
from keepsake.tracing.bases import Link
from keepsake.tracing.facts import Way
from keepsake.tracing.kept import Kept
from keepsake.tracing.paths import Step
from keepsake.tracing.standing import Hold, Standing
from keepsake.web.people.noted import NotedView
from keepsake.web.privacy import Privacy
from keepsake.web.shapes import MemoryView, Shape


class MapExit(Shape):
    """An exit of a room."""

    name: str
    to: int
    """The id of the room behind it."""


class MapRoom(Shape):
    """A room, its place on the map, and who is in it now."""

    id: int
    name: str
    x: int
    """Its column, from 0."""
    y: int
    """Its row, from 0; rows grow southwards."""
    exits: tuple[MapExit, ...]
    agents: tuple[tuple[int, str], ...]
    """Number and name of each agent in the room."""
    players: tuple[str, ...]


class AwayPlayer(Shape):
    """A player whom an agent has met, and who is not in the game now."""

    key: str
    """Their identity."""
    name: str
    place: str
    """The room from which they left; empty if that is not known."""
    last_met: datetime
    """When an agent met them last."""


class MapView(Shape):
    """All rooms that exits connect with an agent."""

    rooms: tuple[MapRoom, ...]
    away: tuple[AwayPlayer, ...] = ()
    """The players who are not in the game, who was met last first; at most 12."""
    complete: bool
    """False if the world has more rooms than a map shows: those nearest to agents are shown."""


type PastTiers = tuple[int, LineType, int, int, int, int]
"""The tiers from one moment on; see :attr:`PastAgent.tiers`."""


class PastAgent(Shape):
    """The past of one agent, for a scrubber: where it was, and how its memory grew and shrank."""

    id: int
    agent: str
    moves: tuple[tuple[int, int], ...]
    """When it came to another place, by its archive and the newest part of the event log, and the
    index of the place in ``places``."""
    counts: tuple[tuple[int, int], ...]
    """When memories were archived, and their numbers; some hundred, evenly spread, the first and
    the last among them."""
    changes: int
    """How often its summaries changed."""
    tiers: tuple[PastTiers, ...]
    """The tiers from some moments on, oldest first; all changes, unless there are very many. Each
    is a time; what changed them; the compaction that made the summaries, 0 for none; the first
    memory in any tier; the last one of the long-term summary, one less than the first without it;
    the last one of the short-term summary, after which the window begins."""


class PastView(Shape):
    """The past of all agents."""

    first: int
    """The time of the oldest memory; the present time if there is none."""
    now: int
    places: tuple[str, ...]
    """The names of places."""
    agents: tuple[PastAgent, ...]
    may_act: bool
    """Whether whoever asks may pin, edit and so on."""


class PastPromise(Shape):
    """A promise that was not kept yet."""

    line: str
    """It in words, as a prompt shows it."""
    memory: int
    """The memory of its being noted."""
    private: Privacy
    """How it is private, in words; empty if anybody may know it."""
    whom: str = ""
    """The name of the person to whom it was promised; empty if that is not known."""
    text: str = ""
    """What was promised, in the agent's own words."""
    plan: int = 0
    """The number of the open plan that was made with it, to keep it; 0 if there was none."""


class AsOfView(Shape):
    """The memory of an agent as it was at some moment."""

    time: datetime
    number: int
    """The newest memory then; 0 if there was none."""
    place: str
    """Where it was, as far as its memories say; empty if they do not."""
    compaction: int
    since: datetime | None
    """From when on prompts had its summaries; null if there were none. A summary's own time is when
    its writing began, or when somebody edited it."""
    longterm: Summary | None
    recent: Summary | None
    window_first: int
    """The first memory of the window; ``number`` + 1 if the window was empty."""
    window: tuple[MemoryView, ...]
    """The newest memories of the window, oldest first; at most 50."""
    plans: tuple[PastPlan, ...]
    """The plans that had not ended, in the order in which they were made."""
    promises: tuple[PastPromise, ...]
    """The promises that it had made by then and not kept, as its archive says."""


class ElsewhereView(Shape):
    """Where else a lost memory stands."""

    book: EditableBook | None
    """The agent's book that has it; null if another agent has it."""
    title: str
    """The name of the person, the title of the note, or the name of the other agent; empty for the
    other books."""
    standing: Standing | None
    """In which tier the other agent has it; null for a book."""


class LossView(Shape):
    """What became of a memory that a compaction summarised."""

    memory: MemoryView
    kept: Kept
    missing: tuple[str, ...]
    """Its telling words that no summary has, in order."""
    told: str
    """The sentences of the summaries that tell it, or perhaps tell it; empty if none does."""
    named: tuple[str, ...]
    """Those of the missing words that are names or figures."""
    elsewhere: tuple[ElsewhereView, ...]
    """Where else it stands, if it is gone; only of the 100 greatest losses."""
    errand: bool = False
    """Whether a promise or a plan of some agent answers it: it asks for something to be done."""


class SentenceLossView(Shape):
    """What became of a sentence of a summary that a compaction wrote anew."""

    tier: Tier
    """The summary in which it stood before."""
    text: str
    kept: Kept
    missing: tuple[str, ...]
    """Its telling words that the new summary does not have, in order."""
    told: str
    """The sentences of the new summary that tell it, or perhaps tell it."""


class UnfoundedView(Shape):
    """A sentence of a new summary that says more than the memories of which it was made."""

    text: str
    missing: tuple[str, ...]
    """Its telling words that none of them has, in order."""
    languages: tuple[str, ...] = ()
    """The other languages of memories that may have these words, such as ``dutch``: then it may say
    no more than they do."""


class LossesView(Shape):
    """What a compaction kept and lost."""

    losses: tuple[LossView, ...]
    """The memories that it summarised, the greatest loss first; at most 1,000."""
    sentences: tuple[SentenceLossView, ...]
    """The sentences of the summaries before that it wrote anew, the greatest loss first; at most
    1,000."""
    unfounded: tuple[UnfoundedView, ...]
    """The sentences of the new short-term summary that say more than the memories tell."""
    named: bool
    """Whether the writer of the summary said which memories each sentence tells. If not, their
    words are compared."""
    complete: bool
    """False if there are more of either."""


class HearingView(Shape):
    """An agent's memory of a telling."""

    id: int
    """The agent's number."""
    n: int
    """The number of its memory."""
    way: Way


class TellingView(Shape):
    """A happening in which a fact was said, or shown."""

    happening: str
    time: datetime
    place: str
    speaker: str
    """The name of who said it; empty if nobody did."""
    id: int | None
    """The number of the agent who said it; null if it was no agent."""
    to: tuple[str, ...]
    """The names of those to whom it was said; empty if it was for all who were there."""
    manner: str
    """How it was said; empty if nobody spoke."""
    text: str
    private: Privacy
    """How it was private: ``whispered``, ``alone with Bob``; empty if all present perceived it."""
    hearings: tuple[HearingView, ...]
    """Who remembers it, the speaker included."""
    rests_on: int
    """The speaker's memory from which it has it; 0 if it has it from nobody."""
    link: Link | None
    """How that is known."""
    came_from: str
    """The happening in which the speaker was told it, or told it before; empty if that is not
    known."""


class StepView(Shape):
    """A step of the path by which an agent came to know a fact."""

    id: int
    n: int
    """The number of the agent's memory."""
    time: datetime
    step: Step


class SpellView(Shape):
    """From when on an agent had a fact in another way."""

    time: datetime
    standing: Standing
    kept: Kept
    """How much of it it has there. With typed words: of a sentence in which it heard them."""
    has: str
    """What it has there: the newest memory of it, or what the summary says of it."""
    compaction: int
    """The compaction that changed it; 0 if none did."""
    n: int
    """The memory of which ``has`` is the words; 0 for a summary, or for nothing."""


class KnowerView(Shape):
    """An agent that knows a fact."""

    id: int
    agent: str
    source: str
    """From whom it has it first; empty if from nobody."""
    heard: str
    """What it heard, saw or said when it came to know it."""
    path: tuple[StepView, ...]
    memories: tuple[int, ...]
    """The numbers of its memories of it, the newest 200."""
    spells: tuple[SpellView, ...]
    """How it had the fact from then on; the last one is now."""
    acts: tuple[MemoryView, ...]
    """What it did later because of it, without saying it; the newest, 50 of all agents together or
    one of each."""


class OutsiderView(Shape):
    """Somebody who knows a fact and is no agent, such as a player: as agents' memories tell."""

    key: str
    """Their identity."""
    name: str
    way: Way
    """How they came to know it first."""
    source: str
    """Who told it; empty if they said it themselves."""
    time: datetime
    happening: str
    """The telling."""
    private: Privacy
    """How they told it, or were told it: ``whispered``; empty for aloud."""


class EchoView(Shape):
    """An agent whose summary says a fact though no memory of its has it, or has these words."""

    id: int
    agent: str
    standing: Standing
    """Which summary."""
    said: str
    """The sentence that says it."""
    compaction: int
    """The compaction that made the summary."""
    memories: tuple[int, ...] = ()
    """The memories that the sentence tells in other words, as its writer said."""


class WordCount(Shape):
    """A word of a sentence, and how many other memories have it."""

    word: str
    count: int


class StrandKnower(Shape):
    """An agent that knows what was said of typed words, and how it came to know it first."""

    id: int
    agent: str
    n: int
    """The number of its memory of it."""
    way: Way
    source: str
    """From whom it has it; empty if it said it itself."""


class StrandView(Shape):
    """What was said of typed words: lines that rest on each other, or say the same."""

    id: int
    n: int
    """The agent and its memory of the line that is shown: by it the sentence can be followed."""
    time: datetime
    speaker: str
    """The name of who said it; empty if nobody did."""
    to: tuple[str, ...]
    """The names of those to whom it was said; empty if it was for all who were there."""
    text: str
    private: Privacy
    """As in :class:`TellingView`."""
    likely: bool
    """Whether it is about all of the words. What has only a part of them is not followed."""
    refused: bool
    """Whether it was asked to leave it out. Then it is not followed, and not ``likely``."""
    perhaps: bool
    """Whether it perhaps tells what was typed, as far as its lines were judged: it is not
    ``likely``."""
    judged: bool
    """Whether its lines were judged by words and meaning. Else the words alone decide."""
    written: bool
    """Whether one of its lines has the words side by side, as they were typed. Else they may be
    meant in another sense, or a name is only that of who speaks."""
    tellings: int
    """How many lines belong together."""
    happenings: tuple[str, ...]
    """Those lines, as ``tellings`` has them: only those that are followed are there."""
    knowers: tuple[StrandKnower, ...]


class KnowingView(Shape):
    """How an agent came to know a fact first, and what it has of it now."""

    id: int
    agent: str
    n: int
    """The memory by which it came to know it."""
    time: datetime
    way: Way | None
    """Null if that is not known."""
    source: str
    """From whom it has it; empty if it said it itself, or from nobody."""
    heard: str
    private: Privacy
    """How it is private, in words; empty if anybody may know it."""
    happening: str
    """The telling; empty if it is not among those that are shown."""
    doubtful: bool
    """Whether it heard only lines in which the typed words may mean something else."""
    hold: Hold
    now: str
    """What it has of it now, in words: ``has it in its short-term summary``."""


class PersonOfFact(Shape):
    """Somebody who came to know a fact."""

    id: int | None
    """The number of the agent; null if it is none."""
    key: str
    """The identity of somebody who is no agent; else empty."""
    name: str


class FirstTellingView(Shape):
    """A telling by which some came to know a fact."""

    source: str
    """Who told it; empty if those who know it said it themselves, or nobody did."""
    source_id: int | None
    """The number of the agent who told it; null if it was none."""
    to: tuple[PersonOfFact, ...]
    """Who came to know it so."""
    way: Way | None
    """As of the first of them; ``overheard`` only if all of them did."""
    time: datetime
    happening: str
    private: Privacy
    """How it is private, in words; empty if anybody may know it."""
    doubtful: bool
    """Whether it perhaps tells something else, or perhaps tells it and is not counted."""
    counted: bool
    """Whether those who heard it count as knowing the fact."""
    text: str


class NewsView(Shape):
    """A later line about a fact: it was told again, or something was said that is near to it."""

    id: int
    n: int
    """An agent, and its memory of the line: by it the sentence can be followed."""
    time: datetime
    speaker: str
    to: tuple[str, ...]
    text: str
    private: Privacy
    """How it is private, in words; empty if anybody may know it."""
    told: bool
    """Whether it tells the fact. Else it is only near to what tells it, and may be of another."""


class WhoView(Shape):
    """Who knows a fact, and from whom: the short answer."""

    answer: str
    """In a sentence or two; empty if nothing is known of it."""
    knowing: tuple[KnowingView, ...]
    """As ``knowers`` of the fact, in the same order."""
    sources: tuple[FirstTellingView, ...]
    """Who told whom first, the earliest first; those in doubt are last."""
    news: tuple[NewsView, ...]
    """What was said of it later, in order."""


class FactView(Shape):
    """Where a fact went."""

    words: str
    """The words that were followed: ``bell | drowned sister``; empty if the memory was."""
    memory: MemoryView | None
    """The memory that was followed, or from which the words are; null if only words were given."""
    suggested: tuple[WordCount, ...]
    """Words of that memory by which it can be followed, the best first."""
    complete: bool
    """Whether all tellings are followed and shown; if there are too many, only the newest are."""
    tellings: tuple[TellingView, ...]
    """At most 300, the newest."""
    knowers: tuple[KnowerView, ...]
    """The agents that know it."""
    outsiders: tuple[OutsiderView, ...]
    """Who else knows it, by when they came to know it."""
    noted: tuple[NotedView, ...]
    """Where the books of agents have it: they know it from there, whatever their summaries say. The
    agents need not have heard it."""
    echoes: tuple[EchoView, ...]
    """Whose summary says it though no memory of theirs does: it knows too much."""
    strands: tuple[StrandView, ...] = ()
    """Of typed words: what was said of them, as facts of their own, the likeliest first; at most
    30. All that are likely are followed together."""
    who: WhoView | None = None
    """The short answer; null before it is made."""
    reader: bool = False
    """Whether a model may be asked which of ``strands`` mean the words: ``POST fact/meant``."""


class LineOfAgent(Shape):
    """A line, by a memory of an agent."""

    id: int
    n: int


class MeantView(Shape):
    """Which of the things that were said with typed words mean them, by a model that read them."""

    meant: tuple[LineOfAgent, ...]
    other: tuple[LineOfAgent, ...]
    """Those that mean something else. What had no room in the prompt is in neither."""
    model: str
