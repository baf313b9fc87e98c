"""The events of the log: a dataclass for each kind, a JSON line for each event.

Who reads the log finds here what each field means; ``docs/events.md`` tells the rest.

Nobody changes an event once it is made. It is not frozen, as a frozen dataclass of 32 fields takes
five times as long to make (6 µs in place of 1.2), on the thread in which it happens.

Making an event is all that a caller pays for: turning it into a line, hashing its prompt and
writing it is the work of :class:`keepsake.events.log.EventLog`'s thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any, ClassVar

VERSION = 1
"""Raised when a field changes its meaning or goes; a new field or kind does not raise it."""


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class AgentEvent:
    """What the events of one agent have in common."""

    agent: str  #: Whose event it is.
    #: Its number in the database, which no renaming changes; 0 where it is not known.
    agent_id: int = 0


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Recalled:
    """Something that was looked up and stood in a prompt."""

    #: ``memory``, ``summary`` or ``note``; in older logs also ``called back``.
    kind: str
    n: int = 0  #: The memory's number; of a summary that of its compaction; 0 for a note.
    title: str = ""  #: Of a note; empty for all else.
    #: How well it answered; only comparable within one thought.
    score: float = 0.0
    why: str = ""  #: What led to it: ``words: brass, key; meaning 0.71`` …


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Thought(AgentEvent):
    """One thought of an agent: what it was asked, what it answered, what came of it."""

    kind: ClassVar[str] = "thought"
    #: What made it think: ``addressed``, ``named``, ``given``, ``arrival``, ``heard``, ``other``,
    #: ``idle``; in older logs also ``departure``.
    trigger: str
    priority: str  #: Its place in the model queue: ``player``, ``event``, ``idle``.
    #: ``acted``, ``refused`` (no command), ``no answer``, ``too large``, ``dropped`` (nobody needed
    #: it any more) or ``broke off`` (a fault of this program).
    outcome: str
    source: str = ""  #: Who caused it, by name; empty for nobody.
    cause: int = 0  #: Number of the memory that set it off; 0 where that is none, or not known.
    attempt: int = 1  #: Which try at the same thought it is, from 1 on.
    prompt: str = ""  #: The text that was sent; in the log its hash. Empty when none was sent.
    #: Tokens of each section of the prompt, by our own count.
    sections: Mapping[str, int] = field(default_factory=dict)
    budget: int = 0  #: Tokens that the prompt might have, 0 when none was built.
    #: Tokens of the whole prompt, by the server's count; 0 if it does not say.
    prompt_tokens: int = 0
    cached_tokens: int = 0  #: Those of them that the server had in its cache.
    completion_tokens: int = 0  #: Tokens of the answer.
    wait: float = 0.0  #: Seconds in the queue, until the prompt was built.
    latency: float = 0.0  #: Seconds from there until the answer came.
    model: str = ""  #: Who answered; empty for nobody.
    seed: int | None = None  #: The fixed seed of the sampling; None for a random one.
    temperature: float = 0.0  #: The temperature of the sampling.
    answer: str = ""  #: The raw answer.
    command: str | None = None  #: The line that it was read as; None for none.
    reason: str = ""  #: The private reason that it gave.
    problem: str = ""  #: Why it was refused, or why there was no answer.
    #: Number of the memory of the act. It is 0 if the act was refused, was to wait, or could not
    #: be written to the disk.
    memory: int = 0
    #: Numbers of the memories of all its acts: an answer may hold several.
    memories: Sequence[int] = ()
    recalled: Sequence[Recalled] = ()  #: What was looked up and stood in the prompt.
    #: Last memory that the long-term summary covered when the prompt was built; 0 if there was
    #: none.
    longterm: int = 0
    #: Last memory that the summaries covered; 0 if there was none. The window began behind it.
    recent: int = 0
    total: int = 0  #: Last memory of the window; 0 if there was none.
    #: Number of the compaction whose summaries stood in the prompt; 0 for none.
    compaction: int = 0


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Guard(AgentEvent):
    """An answer of a model was not spoken as it was written."""

    kind: ClassVar[str] = "guard"
    task: str  #: What was asked: ``talk``, ``act``, ``summarise`` …
    #: ``altered`` (labels or marks were taken off), ``refused`` (asked for once more) or
    #: ``dropped`` (the rest was spoken); in older logs also ``replaced``.
    op: str
    before: str  #: The part of the answer as the model wrote it.
    reason: str  #: Why.
    cause: int = 0  #: Number of the memory that set the answer off; 0 for none.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class MemoryChange(AgentEvent):
    """Something was done to an agent's memory; the words stay in its archive and its files."""

    kind: ClassVar[str] = "memory"
    #: What was done: a memory was archived (``append``) or happened again (``repeat``); ``undo`` of
    #: a compaction; ``edit`` of a summary by a person, with a problem if it came too late;
    #: ``reindex``; ``note``, ``unnote``; ``pin``, ``unpin``; a promise was ``noticed`` or
    #: ``closed``; ``journal``; somebody was ``met``; their ``profile`` got lines, their portrait
    #: was ``concluded``; a person or the agent was ``renamed``; an agent ``begins`` or ``ends``.
    op: str
    #: The memory's number: the one on which a promise rests, the first one that a journal entry
    #: rests on. Of an undoing or an edit of a summary the compaction's; 0 where there is none.
    n: int
    #: The kind of memory: ``perception``, ``act``, ``result``; of ``edit`` the summary:
    #: ``longterm``, ``recent``; of ``noticed`` and ``closed``: ``promise``, ``rule``; of a page
    #: ``person``; of an entry ``journal``.
    of: str = ""
    size: int = 0  #: Characters of the memory or of the text.
    #: How often in a row it has happened; how many memories were worked into a page,
    #: how many entries were merged or folded.
    times: int = 1
    problem: str = ""  #: Why it could not be done, or why it had to be; empty if neither.
    #: Who did it: ``agent``, ``builder``, ``rules``, ``night`` or ``hand`` (in the file); empty
    #: where nobody in particular did.
    by: str = ""
    title: str = ""  #: Of a note.
    #: Whom a page is about, by name; of an agent that was renamed what it was called
    #: before.
    about: str = ""


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Recall(AgentEvent):
    """An agent's memory was searched."""

    kind: ClassVar[str] = "recall"
    #: For what: ``talk``, ``thought``, ``agent`` (its own verb) or ``builder``.
    by: str
    question: str  #: What was searched for.
    searched: bool = True  #: Whether it could be, in time.
    found: int = 0  #: How many memories, summaries and notes were found.
    best: float = 0.0  #: The best score; only comparable within one search. 0 if nothing was found.
    seconds: float = 0.0  #: How long it took.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Compaction(AgentEvent):
    """A compaction was made, or failed."""

    kind: ClassVar[str] = "compaction"
    reason: str  #: Why: ``count``, ``high``, ``sleep``, ``emergency``, ``manual``, ``agent``.
    #: ``first summary``, ``waterfall``, ``all in one summary``, ``summaries shortened``, ``nothing
    #: to compact`` or ``failed``.
    outcome: str
    number: int = 0  #: The compaction's number in the archive, 0 if none was made.
    first: int = 0  #: First memory newly summarised, 0 if none was.
    last: int = 0  #: Last memory newly summarised, 0 if none was.
    kept: int = 0  #: Memories that stay verbatim.
    tokens_before: int = 0  #: Tokens of summaries and window before it.
    tokens_after: int = 0  #: The same afterwards.
    seconds: float = 0.0  #: How long it took.
    calls: int = 0  #: Model calls that it took.
    prompt_tokens: int = 0  #: Tokens that were sent to the model.
    completion_tokens: int = 0  #: Tokens that it wrote.
    model: str = ""  #: Who wrote the summaries.
    problem: str = ""  #: Why it failed.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Health:
    """A model server came, went, or fails in another way than before."""

    kind: ClassVar[str] = "health"
    provider: str  #: ``embedded``, ``ollama``, ``openai``.
    host: str  #: Its address.
    ready: bool  #: Whether it answers.
    problem: str = ""  #: What is wrong with it; empty when it is ready.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Fault:
    """Something went wrong, or somebody should look at it."""

    kind: ClassVar[str] = "error"
    level: str  #: ``warning``, ``error`` or ``config`` (a file in ``vault/config``).
    text: str  #: What is wrong, and the cure.
    agent: str = ""  #: Whom it concerns; empty for nobody in particular.
    #: Its number in the database, which no renaming changes; 0 where it is not known.
    agent_id: int = 0


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Sleep(AgentEvent):
    """A night began or ended, or a step of its work was done."""

    kind: ClassVar[str] = "sleep"
    op: str  #: ``falls asleep``, ``wakes`` or ``step``.
    why: str = ""  #: Why it fell asleep, or who woke it.
    step: str = ""  #: Which step: ``consolidate``, ``reflect`` or ``profiles``; empty for no step.
    seconds: float = 0.0  #: How long the step took.
    calls: int = 0  #: Model calls that it took.
    figures: Mapping[str, int | float] = field(default_factory=dict)  #: What came of it, by name.
    problem: str = ""  #: Why it failed; empty if it did not.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class World:
    """The world started or stopped, or the log itself has something to say."""

    kind: ClassVar[str] = "world"
    #: ``starts``, ``stops``, ``reloads`` or ``lost`` (events found no room while the log could not
    #: be written).
    op: str
    n: int = 0  #: How many events were lost.
    text: str = ""  #: The same in words.


type Event = Thought | Guard | MemoryChange | Recall | Compaction | Health | Fault | Sleep | World

KINDS: Mapping[str, type[Event]] = {
    each.kind: each
    for each in (Thought, Guard, MemoryChange, Recall, Compaction, Health, Fault, Sleep, World)
}
"""The classes by the ``kind`` of their lines."""


_FIELDS = {each: tuple(each_field.name for each_field in fields(each)) for each in KINDS.values()}


class Events:
    """Takes events, from any thread, and never waits or fails. This one forgets them."""

    def emit(self, event: Event) -> None:
        """Take one."""

    def close(self) -> None:
        """Take no more, and let go of what is held."""


def to_record(event: Event, time: datetime, number: int) -> dict[str, Any]:
    """The event as the log has it, but that a prompt stands there with its hash alone."""
    record: dict[str, Any] = {
        "v": VERSION,
        "seq": number,
        "t": time.isoformat(timespec="microseconds"),
        "kind": event.kind,
    }
    record |= {name: getattr(event, name) for name in _FIELDS[type(event)]}
    if isinstance(event, Thought):
        record["recalled"] = [asdict(each) for each in event.recalled]
    return record
