"""The events of the log: a dataclass for each kind, a JSON line for each event.

This module explains each field of the log, :mod:`keepsake.events.values` the values that they can
have, and ``docs/events.md`` the rest.

Events must not be changed after they are made. The classes are not frozen, because a frozen
dataclass of 32 fields takes five times as long to make (6 µs instead of 1.2), on the caller's
thread. The caller only makes the event: the thread of :class:`keepsake.events.log.EventLog` turns
it into a line, hashes its prompt and writes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Literal, get_args, get_type_hints

from keepsake.events.values import (
    Assent,
    Author,
    CompactionOutcome,
    CompactReason,
    Consented,
    FaultLevel,
    GuardOp,
    MemoryOp,
    RecalledKind,
    RecallPurpose,
    SleepOp,
    ThoughtOutcome,
    Urgency,
    WorldOp,
    known,
)

VERSION = 1
"""The version of the format. It rises if a field changes its meaning or is removed, not if a field
or a kind is added."""


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class AgentEvent:
    """The fields that all events of one agent have."""

    agent: str  #: The agent's name.
    #: The agent's number in the database, which stays after a renaming; 0 if it is not known.
    agent_id: int = 0


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Recalled:
    """A memory, summary or note that was recalled and was in the prompt."""

    kind: RecalledKind  #: What it is; in older logs also ``called back``.
    n: int = 0  #: The memory's number, or the number of the summary's compaction; 0 for a note.
    title: str = ""  #: The note's title; empty for other kinds.
    #: How well it matches; only comparable within one thought.
    score: float = 0.0
    why: str = ""  #: The parts of the score: ``words: brass, key; meaning 0.71`` …


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Thought(AgentEvent):
    """One thought of an agent: the prompt, the model's answer and the outcome."""

    kind: ClassVar[str] = "thought"
    #: The cause of the thought: ``addressed``, ``named``, ``given``, ``arrival``, ``heard``,
    #: ``other``, ``idle``; in older logs also ``departure``.
    trigger: str
    priority: Urgency  #: Its priority in the model queue.
    outcome: ThoughtOutcome  #: How it ended.
    source: str = ""  #: The name of the character that caused it; empty for none.
    cause: int = 0  #: Number of the memory that set it off; 0 if there is none or it is not known.
    attempt: int = 1  #: The number of the try at the same thought, from 1.
    #: In older logs, whether this try was for what is planned and promised, from a prompt without
    #: private words, because the try before made it private.
    openly: bool = False
    prompt: str = ""  #: The text that was sent; in the log its hash. Empty if none was sent.
    #: Tokens of each section of the prompt, by our own count.
    sections: Mapping[str, int] = field(default_factory=dict)
    budget: int = 0  #: The most tokens that the prompt may have; 0 if no prompt was built.
    #: Tokens of the whole prompt, by the server's count; 0 if the server does not say.
    prompt_tokens: int = 0
    #: The prompt's tokens that were in the server's cache; None if the server does not say. Logs
    #: from before that have 0.
    cached_tokens: int | None = None
    completion_tokens: int = 0  #: Tokens of the answer.
    wait: float = 0.0  #: Seconds in the queue, until the prompt was built.
    latency: float = 0.0  #: Seconds from the end of ``wait`` until the answer came.
    model: str = ""  #: The model that answered; empty if none did.
    seed: int | None = None  #: The fixed seed of the sampling; None for a random one.
    temperature: float = 0.0  #: The temperature of the sampling.
    answer: str = ""  #: The raw answer.
    command: str | None = None  #: The command read from the answer; None for none.
    reason: str = ""  #: The private reason that the agent gave.
    problem: str = ""  #: Why the answer was refused, or why there was none.
    #: Number of the memory of the act. It is 0 if the act was refused, had to wait, or could not
    #: be written to the disk.
    memory: int = 0
    #: Numbers of the memories of all its acts: an answer may hold several.
    memories: Sequence[int] = ()
    recalled: Sequence[Recalled] = ()  #: What was recalled and was in the prompt.
    #: Last memory that the long-term summary covered when the prompt was built; 0 if there was
    #: none.
    longterm: int = 0
    #: Last memory that the summaries covered; 0 if there was none. The window began after it.
    recent: int = 0
    total: int = 0  #: Last memory of the window; 0 if there was none.
    #: Number of the compaction whose summaries were in the prompt; 0 for none.
    compaction: int = 0


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Guard(AgentEvent):
    """A part of a model's answer was changed, refused or dropped."""

    kind: ClassVar[str] = "guard"
    task: str  #: The task of the model call: ``talk``, ``act``, ``summarise`` …
    op: GuardOp  #: What was done with it; in older logs also ``replaced``.
    before: str  #: The part of the answer as the model wrote it.
    reason: str  #: Why it was changed, refused or dropped.
    cause: int = 0  #: Number of the memory that set the answer off; 0 for none.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class MemoryChange(AgentEvent):
    """An agent's memory changed. The texts themselves are only in its archive and files."""

    kind: ClassVar[str] = "memory"
    op: MemoryOp  #: What changed.
    #: The memory's number. For a promise its source; for a journal entry its first source; for
    #: ``undo`` and ``edit`` the compaction's number; 0 if there is none.
    n: int
    #: The kind of memory: ``perception``, ``act``, ``result``. For ``edit`` the summary:
    #: ``longterm``, ``recent``. For ``noticed`` and ``closed``: ``promise``, ``rule``. For a page
    #: ``person``, for an entry ``journal``.
    of: str = ""
    size: int = 0  #: Characters of the memory or of the text.
    #: How often in a row it has happened; how many memories were added to a page; how many
    #: entries were merged or folded.
    times: int = 1
    problem: str = ""  #: Why the change failed, or why it was necessary; empty if neither.
    by: Author | Literal[""] = ""  #: Who did it; empty for what simply happened, such as a memory.
    title: str = ""  #: The note's title.
    #: The name of the person whom a page is about; for a renamed agent its old name.
    about: str = ""


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Recall(AgentEvent):
    """An agent's memory was searched."""

    kind: ClassVar[str] = "recall"
    by: RecallPurpose  #: What the search was for.
    question: str  #: The query.
    searched: bool = True  #: Whether the index could be searched in time.
    found: int = 0  #: How many memories, summaries and notes were found.
    best: float = 0.0  #: The best score; only comparable within one search. 0 if nothing was found.
    seconds: float = 0.0  #: How long the search took.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Compaction(AgentEvent):
    """A compaction was made, or failed."""

    kind: ClassVar[str] = "compaction"
    reason: CompactReason  #: Why it was made; in older logs also ``agent``.
    #: How it ended; in older logs also ``all in one summary``.
    outcome: CompactionOutcome
    number: int = 0  #: The compaction's number in the archive; 0 if none was made.
    first: int = 0  #: First memory newly summarised; 0 if none was.
    last: int = 0  #: Last memory newly summarised; 0 if none was.
    kept: int = 0  #: Memories that stay verbatim.
    tokens_before: int = 0  #: Tokens of summaries and window before it.
    tokens_after: int = 0  #: Tokens of summaries and window after it.
    seconds: float = 0.0  #: How long it took.
    calls: int = 0  #: The number of model calls.
    prompt_tokens: int = 0  #: Tokens that were sent to the model.
    completion_tokens: int = 0  #: Tokens that the model wrote.
    model: str = ""  #: The model that wrote the summaries.
    problem: str = ""  #: Why it failed.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Health:
    """A model server became ready, failed, or fails for another reason than before."""

    kind: ClassVar[str] = "health"
    provider: str  #: ``embedded``, ``ollama``, ``openai``.
    host: str  #: The server's address.
    ready: bool  #: Whether it answers.
    problem: str = ""  #: What is wrong with it; empty if it is ready.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Fault:
    """An error or a warning, for a person to look at."""

    kind: ClassVar[str] = "error"
    level: FaultLevel  #: How bad it is; in older logs also ``config`` (a file of settings).
    text: str  #: What is wrong, and the cure.
    #: The part of the library that failed (:class:`keepsake.logs.Subsystem`); empty in older logs.
    subsystem: str = ""
    agent: str = ""  #: The name of the agent that it concerns; empty for none.
    #: That agent's number in the database, which stays after a renaming; 0 if it is not known.
    agent_id: int = 0


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Sleep(AgentEvent):
    """An agent's night began or ended, or a step of its work was done."""

    kind: ClassVar[str] = "sleep"
    op: SleepOp  #: What happened.
    why: str = ""  #: Why the agent fell asleep, or who woke it.
    step: str = ""  #: Which step: ``consolidate``, ``reflect`` or ``profiles``; empty for no step.
    seconds: float = 0.0  #: How long the step took.
    calls: int = 0  #: The number of model calls.
    prompt_tokens: int = 0  #: Tokens that were sent to the model; 0 if its server does not say.
    completion_tokens: int = 0  #: Tokens that the model wrote; 0 if its server does not say.
    figures: Mapping[str, int | float] = field(default_factory=dict)  #: The results, by name.
    problem: str = ""  #: Why the step failed; empty if it did not.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Move(AgentEvent):
    """An agent is in another room: it walked there, its ordinary day led it, or it was moved."""

    kind: ClassVar[str] = "move"
    origin: str = ""  #: The name of the room that it left; empty for none.
    place: str = ""  #: The name of the room where it is now; empty for none.
    #: Whether the way was announced where another agent was awake: then memories tell of it.
    seen: bool = False
    #: Whether it walked by itself, as its ordinary day has it: then nobody is told, or remembers.
    usual: bool = False


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class World:
    """The world started or stopped, or the log lost events."""

    kind: ClassVar[str] = "world"
    op: WorldOp  #: What happened.
    n: int = 0  #: How many events were lost.
    text: str = ""  #: How many events were lost, in words.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class PairTalk(AgentEvent):
    """A model was asked for a talk of two agents; ``agent`` began it."""

    kind: ClassVar[str] = "pair_talk"
    other: str  #: The name of the other one.
    lines: int = 0  #: How many lines the talk has; 0 if they had nothing to say, or it failed.
    calls: int = 0  #: The number of model calls.
    prompt_tokens: int = 0  #: Tokens that were sent to the model.
    completion_tokens: int = 0  #: Tokens that the model wrote.
    seconds: float = 0.0  #: How long the model took.
    model: str = ""  #: The model that wrote it.
    problem: str = ""  #: Why an answer was refused, or why there was none.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Agreement(AgentEvent):
    """A small model was asked whether an answer agreed to a deed."""

    kind: ClassVar[str] = "agreement"
    deed: str  #: The deed that was asked about: ``give jar of honey to Tom``.
    found: Assent  #: What the model said that the answer did.
    hint: str = ""  #: What the partner was told to do, as the agent cannot do the deed itself.
    seconds: float = 0.0  #: How long it took, with the wait in the queue.
    cause: int = 0  #: Number of the memory that set the answer off; 0 for none.


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class Consent(AgentEvent):
    """A model was asked whether words may reach somebody who does not know what was whispered."""

    kind: ClassVar[str] = "consent"
    to: str  #: The name of the person to whom they are.
    words: str  #: The words.
    found: Consented  #: What the model said.
    of: tuple[str, ...] = ()  #: The names of those whose private words the prompt held.
    #: The numbers of the memories that were shown; the first is the one that asks for it, if any.
    memories: tuple[int, ...] = ()
    seconds: float = 0.0  #: How long it took, with the wait in the queue.
    cause: int = 0  #: Number of the memory that set the answer off; 0 for none.
    #: Why the model was not asked, or gave no answer; empty if it answered. Then it is "no".
    unasked: str = ""


@dataclass(slots=True, kw_only=True, unsafe_hash=True)
class ServiceCall(AgentEvent):
    """A program asked the service (``keepsake serve``) for something of an agent: the audit."""

    kind: ClassVar[str] = "call"
    verb: str  #: What was asked for: ``POST perceive``; for MCP the name of the tool.
    token: str  #: The id of the token; empty if there was none, or an unknown one.
    status: int = 0  #: The HTTP status of the answer; 0 for a tool of MCP that succeeded.
    seconds: float = 0.0  #: How long it took.
    problem: str = ""  #: Why it was refused or failed.


type Event = (
    Thought
    | Guard
    | MemoryChange
    | Recall
    | Compaction
    | Health
    | Fault
    | Sleep
    | Move
    | World
    | PairTalk
    | Agreement
    | Consent
    | ServiceCall
)

KINDS: Mapping[str, type[Event]] = {
    each.kind: each
    for each in (
        Thought,
        Guard,
        MemoryChange,
        Recall,
        Compaction,
        Health,
        Fault,
        Sleep,
        Move,
        World,
        PairTalk,
        Agreement,
        Consent,
        ServiceCall,
    )
}
"""The classes by the ``kind`` of their lines."""


_FIELDS = {each: tuple(each_field.name for each_field in fields(each)) for each in KINDS.values()}


class Events:
    """Takes events from any thread, and never waits or fails. This base class discards them."""

    def emit(self, event: Event) -> None:
        """Take an event."""

    def close(self) -> None:
        """Take no more events, and release resources."""


def _enums_of(kind: type) -> dict[str, type[StrEnum]]:
    """Return the fields of a dataclass whose values are members of an enum."""
    found = {}
    for name, hint in get_type_hints(kind).items():
        for each in (hint, *get_args(hint)):
            if isinstance(each, type) and issubclass(each, StrEnum):
                found[name] = each
    return found


_ENUMS: Mapping[type, Mapping[str, type[StrEnum]]] = {
    each: _enums_of(each) for each in (*KINDS.values(), Recalled)
}


def from_record[T](kind: type[T], record: Mapping[str, Any]) -> T | None:
    """Return the event of a log's line, or None if this version of Keepsake cannot read it.

    Fields that this version does not know are ignored. A value that it does not know, such as an
    outcome of another version, makes the line unreadable.
    """
    enums = _ENUMS[kind]
    values = dict[str, Any]()
    for each in fields(kind):  # type: ignore[arg-type]  # a dataclass
        if each.name not in record:
            continue
        value = record[each.name]
        if each.name in enums and value != "":
            value = known(enums[each.name], value)
            if value is None:
                return None
        values[each.name] = value
    try:
        return kind(**values)
    except TypeError:  # a field is missing
        return None


def to_record(event: Event, time: datetime, number: int) -> dict[str, Any]:
    """Return the event's line as a dict, still with the prompt's text; the log has its hash."""
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
