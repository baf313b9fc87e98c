"""A life as an archive tells of it, read without a lock: the world may go on meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import frontmatter
import yaml

from game.lab.replays.weighing import Weighed, weighed
from keepsake.archive.records import Memory, MemoryKind
from keepsake.errors import KeepsakeError, refusing
from keepsake.index import tail
from keepsake.index.tail import Mark
from keepsake.json_lines import Record
from keepsake.sleep.log import SleepLog

FOLDER = "archive"
"""Where the archive is in an agent's folder."""


@dataclass(frozen=True, slots=True)
class ArchivedLife:
    """What one agent lived through, in order."""

    name: str  # the agent's name, as its prompts have it
    steps: tuple[Memory, ...]  # what happened, oldest first; what happened again stands there again
    cleared: frozenset[int] = frozenset()  # after how many steps somebody emptied its prompt
    # when it fell asleep and when it woke, oldest first
    nights: tuple[tuple[datetime, datetime], ...] = ()
    unreadable: int = 0  # lines of the archive that could not be read
    # what its journal says of how much memories matter, by their numbers
    weights: Mapping[int, Weighed] = field(default_factory=dict)

    @property
    def acts(self) -> int:
        """How often the agent did something: each time it had thought."""
        return sum(step.kind is MemoryKind.ACT for step in self.steps)

    @property
    def memories(self) -> int:
        """How many memories it became, repeats folded."""
        return len({step.number for step in self.steps})

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody and every place that is named as a source or a place, in order."""
        found = {self.name, *(s.source for s in self.steps), *(s.place for s in self.steps)}
        return tuple(sorted(found - {""}))


def read_life(folder: Path, name: str) -> ArchivedLife:
    """Read what stands in an agent's archive now, up to its last whole line.

    Raises:
        KeepsakeError: There is no such archive, it cannot be read, or nothing is in it.
    """
    steps: list[Memory] = []
    cleared: set[int] = set()
    unreadable = 0
    for record in _records(folder / FOLDER):
        try:
            if (step := _step(record, steps)) is not None:
                steps.append(step)
            elif record is None:
                unreadable += 1
            elif record.get("type") == "clear":
                cleared.add(len(steps))
        except (KeyError, ValueError, TypeError):
            unreadable += 1  # written by hand, or by a later version
    if not steps:
        raise KeepsakeError(
            f"{name} has lived through nothing yet: {folder / FOLDER} holds no memories",
            "Let the world run for a while, or name another agent",
        )
    nights = _nights(folder, steps[-1].time)
    return ArchivedLife(name, tuple(steps), frozenset(cleared), nights, unreadable, weighed(folder))


def _records(archive: Path) -> Iterator[Record | None]:
    with refusing(f"The archive {archive} cannot be read", "Look at who may read it"):
        for _, record in tail.read(archive, Mark()):
            yield record


def _nights(folder: Path, end: datetime) -> tuple[tuple[datetime, datetime], ...]:
    nights = SleepLog(folder).nights()
    # One that the server's end broke off was over when the next memory came; nobody knows when.
    return tuple((n.fell_asleep, n.woke) for n in nights if n.woke and n.fell_asleep <= end)


def _step(record: Record | None, before: list[Memory]) -> Memory | None:
    """What a line says has happened; None if it says something else."""
    if record is None:
        return None
    if record.get("type") == "memory":
        return Memory.from_record(record)
    if record.get("type") == "repeat" and before:
        return replace(before[-1], time=datetime.fromisoformat(record["t"]))
    return None


def beginnings(agents: Path) -> list[datetime]:
    """When the first memory of each agent was made, in no order; blocks.

    Raises:
        KeepsakeError: They cannot be read.
    """
    found = []
    for folder in _folders(agents):
        for record in _records(folder / FOLDER) if (folder / FOLDER).is_dir() else ():
            with contextlib.suppress(KeyError, ValueError, TypeError):  # not one of ours
                if (step := _step(record, [])) is not None:
                    found.append(step.time)
                    break
    return found


def find_agent(agents: Path, wanted: str) -> tuple[Path, str]:
    """The folder and the name of an agent, whatever the case of the name.

    Raises:
        KeepsakeError: There is none of that name; says which there are.
    """
    there = sorted(each for each in _folders(agents) if (each / FOLDER).is_dir())
    for folder in there:
        if wanted.casefold().strip() in (folder.name.casefold(), name_of(folder).casefold()):
            return folder, name_of(folder)
    known = ", ".join(map(name_of, there)) or "none"
    raise KeepsakeError(f"There is no agent {wanted!r} in {agents}", f"There are: {known}")


def _folders(agents: Path) -> list[Path]:
    cure = "Start the world once, or set KEEPSAKE_VAULT to the folder of one that has been"
    with refusing(f"{agents} cannot be read", cure):
        return [each for each in agents.iterdir() if each.is_dir()]


def name_of(folder: Path) -> str:
    """The name of the agent in a folder, as its profile has it; the folder's own without one."""
    try:
        post = frontmatter.loads((folder / "profile.md").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return folder.name
    return str(post.get("name") or folder.name)
