"""What a simulation has left in its folder: its plan, its agents, their archives, its event log.

Everything is read from files, so a simulation can be measured at any time after its run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter

from keepsake.archive.line_types import LineType
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, memories_in
from keepsake.errors import KeepsakeError, refusing
from keepsake.events.files import events, time_of
from keepsake.events.types import Thought
from keepsake.files import replace_file
from keepsake.happening import PersonId
from keepsake.json_lines import Record, ended_lines, parsed
from keepsake.lab.simulations.plan import BEGINS, HOUR, PLAN, PROGRESS, SimulationPlan
from keepsake.tracing.bases import PromptBasis

CAST = "cast.json"
PRESENCE = "presence.jsonl"
INTERVIEW = "interview.jsonl"
"""Files in a simulation's folder: its agents, who stood in the place of an invitation, and what the
agents answered at the end."""
EVENTS = Path("home/logs/events")
AGENTS = Path("vault/agents")
"""Folders of its world."""


class CastMember(BaseModel):
    """An agent of a simulation.

    Attributes:
        identity: Its permanent identity, by which the others' archives know it.
        folder: The name of its folder.
        home: The id of the room where it lives.
        knows: The names of the agents of whom its persona says something.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    identity: PersonId
    folder: str
    home: str = ""
    knows: tuple[str, ...] = ()


_CAST = TypeAdapter(tuple[CastMember, ...])


def read_cast(folder: Path) -> tuple[CastMember, ...]:
    """Return the agents of a simulation; none if it has not been run.

    Raises:
        OSError, ValueError: The file cannot be read.
    """
    path = folder / CAST
    return _CAST.validate_json(path.read_text("utf-8")) if path.exists() else ()


def write_cast(folder: Path, cast: Sequence[CastMember]) -> None:
    """Store who the agents of a simulation are. Raise OSError if the disk refuses."""
    replace_file(folder / CAST, _CAST.dump_json(tuple(cast), indent=2).decode() + "\n")


@dataclass(frozen=True)
class SimulationRecord:
    """A simulation's files, read.

    Attributes:
        folder: The simulation's folder.
        plan: Its plan.
        hours: The hours that were simulated.
        cast: Its agents, by name.
        memories: Their memories, by name, in order.
        plan_lines: The lines about plans in their archives, by name, in order.
        log: The events of its log, in order.
        presence: The lines of :data:`PRESENCE`.
        answers: The lines of :data:`INTERVIEW`.
    """

    folder: Path
    plan: SimulationPlan
    hours: float
    cast: Mapping[str, CastMember]
    memories: Mapping[str, Sequence[Memory]]
    plan_lines: Mapping[str, Sequence[Record]] = field(default_factory=dict)
    log: Sequence[Record] = ()
    presence: Sequence[Record] = ()
    answers: Sequence[Record] = ()

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read a simulation; blocks.

        Raises:
            KeepsakeError: It has not been run, or a file cannot be read.
        """
        name = folder.name
        cure = f"Run it: keepsake simulate {name} --measure"
        with refusing(f"The simulation {name!r} cannot be measured", cure, ValueError):
            plan = SimulationPlan.model_validate_json((folder / PLAN).read_text("utf-8"))
            cast = read_cast(folder)
            progress = parsed((folder / PROGRESS).read_text("utf-8"))
        if not cast:
            raise KeepsakeError(f"The simulation {name!r} has not been run with this version", cure)
        memories: dict[str, Sequence[Memory]] = {}
        plan_lines: dict[str, Sequence[Record]] = {}
        for member in cast:
            memories[member.name], plan_lines[member.name] = _archive_of(folder, member)
        with refusing(f"The event log of {name!r} cannot be read", "Check its permissions"):
            log = list(events(folder / EVENTS))
            presence = list(lines_of(folder / PRESENCE))
            answers = list(lines_of(folder / INTERVIEW))
        return cls(
            folder=folder,
            plan=plan,
            hours=_seconds_done(progress, log) / HOUR,
            cast={member.name: member for member in cast},
            memories=memories,
            plan_lines=plan_lines,
            log=log,
            presence=presence,
            answers=answers,
        )

    @property
    def names(self) -> Sequence[str]:
        """The agents' names, in the order of the cast."""
        return tuple(self.cast)

    @cached_property
    def name_of(self) -> Mapping[PersonId, str]:
        """The agents' names by identity."""
        return {member.identity: name for name, member in self.cast.items()}

    def lacks(self, part: str) -> bool:
        """Return whether that part was taken away from the agents."""
        return part in self.plan.without

    def events(self, *kinds: str) -> Iterator[Record]:
        """Yield the events of some kinds about the agents of the cast."""
        for event in self.log:
            if event.get("kind") in kinds and event.get("agent") in self.cast:
                yield event

    @cached_property
    def bases(self) -> Mapping[str, Mapping[int, PromptBasis]]:
        """By agent and number of an own act: what its prompt showed."""
        found: dict[str, dict[int, PromptBasis]] = defaultdict(dict)
        for thought in self.events(Thought.kind):
            basis = PromptBasis.of(thought)
            for number in thought.get("memories", ()):
                found[thought["agent"]][int(number)] = basis
        return found


def _seconds_done(progress: Record, log: Sequence[Record]) -> float:
    """Return the simulated seconds. After a kill the log is ahead of the file of progress."""
    last = time_of(log[-1].get("t")) if log else None
    logged = (last - BEGINS).total_seconds() if last is not None else 0.0
    return max(float(progress.get("seconds", 0.0)), logged)


def _archive_of(folder: Path, member: CastMember) -> tuple[Sequence[Memory], Sequence[Record]]:
    """Return the memories of an agent, and the lines about its plans."""
    path = folder / AGENTS / member.folder / "archive"
    with closing(Archive(path, read_only=True)) as archive:
        records = [record for _, record in archive.forwards() if record is not None]
    memories = tuple(memories_in(records))
    return memories, tuple(each for each in records if each.get("type") == LineType.PLAN)


def lines_of(path: Path) -> Iterator[Record]:
    """Yield the lines of a file of JSON lines; none if the file does not exist."""
    for line in ended_lines(path.read_bytes()) if path.exists() else ():
        if record := parsed(line):
            yield record


def text_of(record: Mapping[str, Any], key: str) -> str:
    """Return a text field of a line; empty if it is missing or no text."""
    value = record.get(key, "")
    return value if isinstance(value, str) else ""
