"""What happens in the agents' minds, as events: one frozen dataclass a kind, one JSON line each.

``docs/events.md`` tells what each field means to whoever reads the log; the JSON schema
beside it is made from the classes below (:mod:`game.mind.events.schema`).

Making an event is all that a caller pays for: turning it into a line, hashing its prompt and
writing it is the work of :class:`game.mind.events.log.EventLog`'s thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import Any, ClassVar, Protocol

VERSION = 1
"""Raised when a field changes its meaning or goes; a new field or kind does not raise it."""

type Counts = Mapping[str, int]
"""Whole numbers by name, such as tokens by section of the prompt."""

type Numbers = Mapping[str, int | float]
"""Numbers by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """Something that was looked up and stood in a prompt.

    Attributes:
        kind: ``memory``, ``summary``, ``note``, or ``called back``: a memory that the agent had
            asked for by its number.
        n: The memory's number; of a summary that of its compaction; 0 for a note.
        title: Of a note; empty for all else.
        score: How well it answered; only comparable within one thought. 0 if it was called back.
        why: What led to it: ``words: brass, key; meaning 0.71`` …
    """

    kind: str
    n: int = 0
    title: str = ""
    score: float = 0.0
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """One thought of an agent: what it was asked, what it answered, what came of it.

    Attributes:
        agent: Who thought.
        agent_id: Its number in the database, which no renaming changes; 0 where it is not known.
        trigger: What made it think: ``addressed``, ``named``, ``given``, ``arrival``,
            ``departure``, ``heard``, ``other``, ``idle``.
        priority: Its place in the model queue: ``player``, ``event``, ``idle``.
        source: Who caused it, by name; empty for nobody.
        cause: Number of the memory that set it off; 0 where that is none, or not known.
        attempt: Which try at the same thought it is, from 1 on.
        lead: The verb that the answer was made to begin with; ``deed`` where a deed was chosen
            after a reply (``wait`` is none of them); empty when it was free.
        prompt: The text that was sent; in the log its hash. Empty when none was sent.
        sections: Tokens of each section of the prompt, by our own count.
        budget: Tokens that the prompt might have, 0 when none was built.
        counted_by: Who counted the sections: ``model server``, ``tiktoken``, ``heuristic``.
        prompt_tokens: Tokens of the whole prompt, by the server's count; 0 if it does not say.
        cached_tokens: Those of them that the server had in its cache.
        completion_tokens: Tokens of the answer.
        wait: Seconds in the queue, until the prompt was built.
        latency: Seconds from there until the answer came.
        model: Who answered; empty for nobody.
        seed: The fixed seed of the sampling; None for a random one.
        temperature: The temperature of the sampling.
        answer: The raw answer.
        command: The line that it was read as; None for none.
        reason: The private reason that it gave.
        outcome: ``acted``, ``refused`` (no command), ``no answer``, ``too large``, ``dropped``
            (nobody needed it any more) or ``broke off`` (a fault of this program).
        problem: Why it was refused, or why there was no answer.
        memory: Number of the memory of the act; 0 for none, as of what was refused, of waiting,
            and of what the disk could not take.
        recalled: What was looked up and stood in the prompt.
        longterm: Last memory that the long-term summary covered when the prompt was built; 0 if
            there was none.
        recent: Last memory that the summaries covered; 0 if there was none. The window began
            behind it.
        total: Last memory of the window; 0 if there was none.
        compaction: Number of the compaction whose summaries stood in the prompt; 0 for none.
    """

    kind: ClassVar[str] = "thought"
    agent: str
    agent_id: int = 0
    trigger: str
    priority: str
    outcome: str
    source: str = ""
    cause: int = 0
    attempt: int = 1
    lead: str = ""
    prompt: str = ""
    sections: Counts = field(default_factory=dict)
    budget: int = 0
    counted_by: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    wait: float = 0.0
    latency: float = 0.0
    model: str = ""
    seed: int | None = None
    temperature: float = 0.0
    answer: str = ""
    command: str | None = None
    reason: str = ""
    problem: str = ""
    memory: int = 0
    recalled: Sequence[Recalled] = ()
    longterm: int = 0
    recent: int = 0
    total: int = 0
    compaction: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange:
    """Something was done to an agent's memory; the words stay in its archive and its files.

    Attributes:
        agent: Whose memory.
        agent_id: Its number in the database, which no renaming changes; 0 where it is not known.
        op: What was done; a table in docs/events.md has all operations.
        n: The memory's number: the first one called back, the last one before a clearing, the
            one in which something was noticed or learned, the first one that a journal entry or
            a conclusion rests on. Of an undoing, a rate or an edit of a summary the
            compaction's; 0 where there is none.
        of: What kind of memory: ``perception``, ``act``, ``result``; of an edit the summary:
            ``longterm``, ``recent``; of what was noticed its kind; of a profile whose it is:
            ``person``, ``place``, ``thing``; of what was learned what it is about: ``work``,
            ``home``, ``favourite`` …, or ``conclusion``; of an entry ``journal``; empty for none.
        size: Characters of the memory, or of what was written; bytes of a torn line.
        times: How often in a row it has happened; how many memories were called back, lost or
            worked into a profile, how many entries were merged or folded.
        problem: Why it could not be done, or why it had to be; empty if neither.
        by: Who did it: ``agent``, ``builder``, ``rules``, ``night`` or ``hand`` (in its files);
            empty where nobody in particular did.
        title: Of a note.
        about: Whom or what a profile is about, by name; of an agent that was renamed what it was
            called before.
        asked: Questions that were asked after a compaction; 0 for all else.
        answered: Those of them that the prompt alone could still answer.
        found: Those that prompt and recall together could; None where recall was not asked.
    """

    kind: ClassVar[str] = "memory"
    agent: str
    agent_id: int = 0
    op: str
    n: int
    of: str = ""
    size: int = 0
    times: int = 1
    problem: str = ""
    by: str = ""
    title: str = ""
    about: str = ""
    asked: int = 0
    answered: int = 0
    found: int | None = None


OPERATIONS: Mapping[str, str] = {
    "append": "something was remembered",
    "repeat": "the same happened once more, and the memory counts it",
    "lost": "what found no room while the disk could not be written",
    "mended": "a torn line at the end of the archive was set aside, after a crash",
    "undo": "a compaction was taken back",
    "rate": "the questions of a compaction were asked",
    "edit": "somebody changed the file of a summary, or what no other operation tells of that of a "
    "profile; with a problem: it came too late, and was set aside",
    "clear": "the prompt was emptied",
    "called back": "raw memories stand in the prompt again, by number",
    "reindex": "the recall index was thrown away and is made anew",
    "note": "a note was written, gone on with or changed",
    "unnote": "a note was put away",
    "pin": "a line was pinned",
    "unpin": "a pinned line was taken out",
    "noticed": "a rule, a promise or a question was noticed",
    "closed": "one of these holds no longer, or gave way",
    "journal": "an entry was written, gone on with or changed",
    "unjournal": "an entry was taken out",
    "weighed": "an entry was thought over, and matters more or less now",
    "merged": "entries that say the same became one; of a person: whoever was known by name alone "
    "turned out to be that one",
    "folded": "entries of a day for which there is no room became one line",
    "met": "a profile was begun",
    "profile": "what was lived through was worked into a profile; older observations may have "
    "given way there",
    "learned": "a fact",
    "superseded": "a fact holds no longer, or another conclusion took the place of one",
    "concluded": "something was made of what is known",
    "forgotten": "a fact or a conclusion, for want of room or by hand; a whole profile",
    "renamed": "whoever a profile is about goes by another name; an agent does",
    "begins": "an agent was made, and has these memories from an earlier life",
    "ends": "an agent was deleted; its archive and its files stay",
}
"""What may be done to a memory. A compaction, a night and a search are kinds of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """An agent's memory was searched.

    Attributes:
        agent: Whose memory.
        agent_id: Its number in the database, which no renaming changes; 0 where it is not known.
        by: For whom: ``thought``, ``agent`` (its own verb), ``builder``, ``examiner`` (who asks
            the questions of a compaction) or ``night``.
        question: What was searched for.
        searched: Whether it could be, in time.
        found: How many memories, summaries and notes were found.
        best: The best score; only comparable within one search. 0 if nothing was found.
        seconds: How long it took.
        window_first: The window's first memory, from which on nothing is searched; 0 where all
            was.
    """

    kind: ClassVar[str] = "recall"
    agent: str
    agent_id: int = 0
    by: str
    question: str
    searched: bool = True
    found: int = 0
    best: float = 0.0
    seconds: float = 0.0
    window_first: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """A compaction was made, or failed.

    Attributes:
        agent: Whose memory.
        agent_id: Its number in the database, which no renaming changes; 0 where it is not known.
        reason: Why: ``count``, ``high``, ``sleep``, ``emergency``, ``manual``, ``agent``.
        outcome: ``first summary``, ``waterfall``, ``all in one summary``, ``summaries
            shortened``, ``nothing to compact`` or ``failed``.
        number: The compaction's number in the archive, 0 if none was made.
        first: First memory newly summarised, 0 if none was.
        last: Last memory newly summarised, 0 if none was.
        kept: Memories that stay verbatim.
        tokens_before: Tokens of summaries and window before it.
        tokens_after: The same afterwards.
        seconds: How long it took.
        calls: Model calls that it took.
        prompt_tokens: Tokens that were sent to the model.
        completion_tokens: Tokens that it wrote.
        model: Who wrote the summaries.
        rungs: Tokens that each rung of the ladder saved, by its name.
        good: Whether its check found the summaries good; None where none was made.
        wanted: Constraints and open loops that had to survive.
        put_back: How many of them had not, and were put back word for word.
        details: Names, places and numbers in what was summarised.
        vanished: How many of them the agent no longer sees.
        invented: Names and numbers in the summaries that nothing before them held.
        tries: How often summaries were written until these were taken.
        problem: Why it failed, or what is wrong with the summaries.
    """

    kind: ClassVar[str] = "compaction"
    agent: str
    agent_id: int = 0
    reason: str
    outcome: str
    number: int = 0
    first: int = 0
    last: int = 0
    kept: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    seconds: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str = ""
    rungs: Counts = field(default_factory=dict)
    good: bool | None = None
    wanted: int = 0
    put_back: int = 0
    details: int = 0
    vanished: int = 0
    invented: int = 0
    tries: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """A model server came, went, or fails in another way than before.

    Attributes:
        provider: ``embedded``, ``ollama``, ``openai``.
        host: Its address.
        ready: Whether it answers.
        problem: What is wrong with it; empty when it is ready.
    """

    kind: ClassVar[str] = "health"
    provider: str
    host: str
    ready: bool
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something went wrong, or somebody should look at it.

    Attributes:
        level: ``warning``, ``error`` or ``config`` (a file in ``vault/config``).
        text: What is wrong, and the cure.
        agent: Whom it concerns; empty for nobody in particular.
        agent_id: Its number in the database, which no renaming changes; 0 where it is not known.
    """

    kind: ClassVar[str] = "error"
    level: str
    text: str
    agent: str = ""
    agent_id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sleep:
    """A night began or ended, or a step of its work was done.

    Attributes:
        agent: Who sleeps.
        agent_id: Its number in the database, which no renaming changes; 0 where it is not known.
        op: ``falls asleep``, ``wakes`` or ``step``.
        why: Why it fell asleep, or who woke it.
        step: Which step: ``journal``, ``profiles``, ``compact`` …; empty for no step.
        seconds: How long the step took.
        calls: Model calls that it took.
        figures: What came of it, by name.
        problem: Why it failed; empty if it did not.
    """

    kind: ClassVar[str] = "sleep"
    agent: str
    agent_id: int = 0
    op: str
    why: str = ""
    step: str = ""
    seconds: float = 0.0
    calls: int = 0
    figures: Numbers = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The world started or stopped, or the log itself has something to say.

    Attributes:
        op: ``starts``, ``stops``, ``reloads``, ``lost`` (events found no room while the log
            could not be written) or ``mended`` (a torn last line was cut off).
        n: How many events were lost, or bytes cut off.
        text: The same in words.
    """

    kind: ClassVar[str] = "world"
    op: str
    n: int = 0
    text: str = ""


type Event = Thought | MemoryChange | Recall | Compaction | Health | Fault | Sleep | World

KINDS: Mapping[str, type[Event]] = {
    each.kind: each
    for each in (Thought, MemoryChange, Recall, Compaction, Health, Fault, Sleep, World)
}
"""The classes by the ``kind`` of their lines."""


def _reading(kind: type[Any]) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    """The names of its fields, and what gives their values all at once."""
    names = tuple(f.name for f in fields(kind))
    return names, attrgetter(*names)


_FIELDS = {each: _reading(each) for each in KINDS.values()}
_RECALLED = _reading(Recalled)


class Events(Protocol):
    """Takes events, from any thread, and never waits or fails."""

    def emit(self, event: Event) -> None:
        """Take one."""
        ...

    def close(self) -> None:
        """Take no more, and let go of what is held."""
        ...


class Nowhere:
    """Takes events and forgets them, for worlds without a log."""

    def emit(self, event: Event) -> None:
        """Forget it."""

    def close(self) -> None:
        """Hold nothing, so let go of nothing."""


def to_record(event: Event, time: datetime, number: int) -> dict[str, Any]:
    """The event as the log has it, but that a prompt stands there with its hash alone."""
    record: dict[str, Any] = {
        "v": VERSION,
        "seq": number,
        "t": time.isoformat(timespec="microseconds"),
        "kind": event.kind,
    }
    names, values = _FIELDS[type(event)]
    record |= zip(names, values(event), strict=True)
    if isinstance(event, Thought):
        names, values = _RECALLED
        found = event.recalled
        record["recalled"] = [dict(zip(names, values(each), strict=True)) for each in found]
    return record
