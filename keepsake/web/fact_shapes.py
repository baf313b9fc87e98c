"""Answers of the API about the map, and about a fact's way."""

from __future__ import annotations

from datetime import datetime

from keepsake.tracing.bases import Link
from keepsake.tracing.facts import Way
from keepsake.tracing.kept import Kept
from keepsake.tracing.paths import Step
from keepsake.tracing.standing import Standing
from keepsake.web.pasts.who_shapes import WhoView
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
    asks: bool = False
    """Whether it only asks about it, and tells nothing of it."""
    gift: bool = False
    """Whether somebody gives the thing that it is about."""


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
    """Whether it counts: a line has all of the words in one sentence, or was chosen."""
    refused: bool
    """Whether it was asked to leave it out. Then it is not followed, and not ``likely``."""
    written: bool
    """Whether one of its lines has the words side by side, as they were typed. Else they may be
    meant in another sense, or a name is only that of who speaks."""
    tellings: int
    """How many lines belong together."""
    happenings: tuple[str, ...]
    """Those lines, as ``tellings`` has them: only those that are followed are there."""
    chosen: tuple[str, ...] = ()
    """Those of the lines in ``also`` that are of it, as they stand there: ``48-27``."""
    knowers: tuple[StrandKnower, ...]


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
    """Of typed words: what was said with them, as facts of their own; at most 30. All that are
    likely are followed together."""
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
