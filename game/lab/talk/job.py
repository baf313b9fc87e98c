"""What a worker is to play, written beside its world as ``job.json``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from game.lab.talk.talk_set import ALL, TalkSet, chosen, read_talks

FILE = "job.json"


def kept_log(folder: Path) -> Path:
    """Where the worker's log is kept when a talk breaks off; its own folder is gone by then."""
    return folder.parent / "talk.log"


@dataclass(frozen=True, slots=True)
class Job:
    """What is asked for."""

    path: str  # a file of talks, or a folder of them
    part: str = ALL  # ``tuning``, ``held-out`` or ``all``
    agent: str = ""  # only this agent; empty for all
    limit: int = 0  # at most so many questions; 0 for all
    seed: int = 1  # where chance comes from

    def sets(self) -> tuple[TalkSet, ...]:
        """The sets with only what is asked for.

        Raises:
            KeepsakeError: They cannot be read.
        """
        return chosen(read_talks(Path(self.path)), self.part, self.agent, self.limit)

    def write(self, folder: Path) -> None:
        """Write it into that folder."""
        (folder / FILE).write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Job:
        """The job of that folder."""
        return cls(**json.loads((folder / FILE).read_text(encoding="utf-8")))
