"""What the event log tells of one agent's life: each prompt, restart, night and compaction.

The archive has what was lived through; only the log has when the agent thought without doing
anything, what else stood in its prompts, and when its mind was opened anew.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from keepsake.events.agent_names import id_of
from keepsake.events.reader import events, newest_first
from keepsake.json_lines import Record
from keepsake.memory import CompactReason
from keepsake.prompt.tokens import HEURISTIC
from keepsake.sleep.steps import Step

ASSUMED = 900
"""Tokens beside summaries and window where no log tells: what the shipped world has."""
MOST_OFF = 0.25
"""The share by which a server's count may raise ours, as when a prompt is fitted in the game."""
_OF_THE_MEMORY = ("window", "long-term summary", "short-term summary")
"""Sections of a prompt that the replay counts itself."""
_BEFORE_COMPACTING = (Step.REFLECT.value, Step.COMPACT.value)
"""The step of a night after which its compaction is next, and that one itself: by the time it
is told of it has been asked for, which is done once more then and finds nothing to do."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory was archived."""

    number: int  # its number
    times: int  # how often in a row it had happened by then


@dataclass(frozen=True, slots=True)
class Prompted:
    """A prompt was built for a thought, whatever came of it."""

    time: datetime
    total: int  # the last memory in it; 0 for none
    memory: int  # the memory of the act that came of it; 0 for none
    beside: int  # its tokens that are neither summaries nor window
    used: int  # all its tokens, by the game's count
    budget: int  # what it might have
    window: int  # memories in its window


class Turn(StrEnum):
    """What happened at a moment, beside what has figures of its own."""

    OPENED = "opened"  # the mind, as at a start or a reload: what it had in RAM alone is gone
    DOZING = "dozing"  # it sleeps, and its night has come to where its memory is compacted
    AWAKE = "awake"
    ENDED = "ended"  # what somebody's thought led to immediately; what it set off begins now
    THINKS = "thinks"  # of which no log tells what stood in the prompt
    CLEARED = "cleared"  # somebody emptied the prompt


@dataclass(frozen=True, slots=True)
class Moment:
    """A turn."""

    what: Turn
    time: datetime = datetime.min  # without one it is at the time of the step beside it


@dataclass(frozen=True, slots=True)
class AskedFor:
    """Somebody asked for a compaction: the agent itself, or a builder."""

    time: datetime
    reason: CompactReason


@dataclass(frozen=True, slots=True)
class Counted:
    """A model server has counted a prompt: of this agent, or of anybody."""

    time: datetime
    ours: int  # what the game had counted
    tokens: int  # what the server counted
    own: bool  # whether it was a prompt of this agent
    teaches: bool  # whether the estimate of all prompts is better from then on

    @property
    def off(self) -> int:
        """Tokens by which the next prompts are taken for larger than they are counted."""
        return min(max(self.tokens - self.ours, 0), int(self.ours * MOST_OFF))


type Told = Remembered | Prompted | Moment | AskedFor | Counted


@dataclass(frozen=True, slots=True)
class Log:
    """What the event log tells of a life."""

    told: tuple[Told, ...] = ()  # in its order
    compactions: tuple[Record, ...] = ()  # the events of those that were made, or tried
    # the time of its first event; None if it tells nothing of this agent
    since: datetime | None = None
    # who counted its prompts: ``heuristic``, ``model server`` …
    counters: frozenset[str] = frozenset()

    @property
    def prompts(self) -> tuple[Prompted, ...]:
        """Its prompts alone."""
        return tuple(each for each in self.told if isinstance(each, Prompted))

    @property
    def made(self) -> tuple[Record, ...]:
        """The compactions that came off, those that were taken back later too."""
        return tuple(each for each in self.compactions if each["number"])

    @property
    def overhead(self) -> int:
        """The median of what stood beside the memory; what is assumed where none was built."""
        beside = [each.beside for each in self.prompts]
        return round(statistics.median(beside)) if beside else ASSUMED

    @property
    def estimated(self) -> bool:
        """Whether all its tokens are by the estimate that a replay counts with too."""
        return self.counters <= {HEURISTIC}


def read_log(folder: Path, agent: str) -> Log:
    """Everything that the log tells of one agent; blocks.

    A log that is not there, or that this user may not read, tells nothing: figures are missing,
    no more.
    """
    told: list[Told] = []
    made: list[Record] = []
    since: datetime | None = None
    counters: set[str] = set()
    try:
        agent_id = _id_of(folder, agent)
        needles = (_names(agent), f'"agent_id":{agent_id},', '"kind":"world"', '"kind":"thought"')
        for record in events(folder, any_of=needles if agent_id else (needles[0], *needles[2:])):
            try:
                own = _is_own(record, agent, agent_id)
                if own or record["kind"] == "world":
                    told += _told(record)
                    made += [_made(record)] if record["kind"] == "compaction" else []
                    since = since or datetime.fromisoformat(record["t"])
                    counters |= {str(record["counted_by"])} if record.get("sections") else set()
                told += _thought(record, own)
            except (KeyError, ValueError, TypeError):
                continue  # written by a later version, or by hand
    except OSError:
        return Log()
    if not any(isinstance(each, Remembered | Prompted) for each in told):
        return Log()
    return Log(tuple(told), tuple(made), since, frozenset(counters))


def _names(agent: str) -> str:
    """What stands in the lines that name an agent."""
    return f'"agent":{json.dumps(agent, ensure_ascii=False)}'


def _id_of(folder: Path, agent: str) -> int:
    """The id of whoever bore that name last; 0 if the log has none."""
    found = newest_first(folder, holding=[_names(agent), '"agent_id":'])
    return next((id_of(each) for each in found if each.get("agent") == agent), 0)


def _is_own(record: Record, agent: str, agent_id: int) -> bool:
    """Whether it is an event of the agent: by its id, and by its name in a line without one."""
    return id_of(record) == agent_id if id_of(record) else record.get("agent") == agent


def _made(record: Record) -> Record:
    """A compaction's event; KeyError or ValueError where it lacks what is told of it."""
    numbers = ("number", "prompt_tokens", "completion_tokens", "put_back")
    words = ("outcome", "model")
    return (
        record
        | {name: int(record[name]) for name in numbers}
        | {name: str(record[name]) for name in words}
    )


def _told(record: Record) -> Iterable[Told]:
    time = datetime.fromisoformat(record["t"])
    match record["kind"], record.get("op"):
        case "memory", ("append" | "repeat"):
            return [Remembered(int(record["n"]), int(record["times"]))]
        case "thought", _:
            return [_prompted(record, time)] if record["sections"] else []
        case "world", "starts":
            return [Moment(Turn.OPENED, time)]
        case "sleep", "wakes":
            return [Moment(Turn.AWAKE, time)]
        case "sleep", "step":
            return [Moment(Turn.DOZING, time)] * (record["step"] in _BEFORE_COMPACTING)
        case "compaction", _:
            reason = CompactReason(record["reason"])
            return [AskedFor(time, reason)] if reason.asked else []
    return []


def _thought(record: Record, own: bool) -> Iterable[Told]:
    """What anybody's thought means for this agent, beside its prompt."""
    if record["kind"] != "thought":
        return []
    time = datetime.fromisoformat(record["t"])
    ours, tokens = sum(map(int, record["sections"].values())), int(record["prompt_tokens"])
    teaches = record["counted_by"] == HEURISTIC
    if ours <= 0 or tokens <= 0 or not (own or teaches):
        return [Moment(Turn.ENDED, time)]
    return [Counted(time, ours, tokens, own, teaches), Moment(Turn.ENDED, time)]


def _prompted(record: Record, time: datetime) -> Prompted:
    sections = {str(name): int(tokens) for name, tokens in record["sections"].items()}
    total, recent = int(record["total"]), int(record["recent"])
    return Prompted(
        time=time - timedelta(seconds=float(record["latency"])),
        total=total,
        memory=int(record["memory"]),
        beside=sum(n for name, n in sections.items() if name not in _OF_THE_MEMORY),
        used=sum(sections.values()),
        budget=int(record["budget"]),
        window=total - recent,
    )
