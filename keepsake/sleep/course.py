"""How far a reflection has come: ``reflection.json`` beside the journal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from keepsake.errors import NoteRefused
from keepsake.records import files as vault_files

NAME = "reflection.json"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A memory that speaks to a question."""

    number: int
    text: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Insight:
    """What an agent made of several memories."""

    text: str
    memories: tuple[int, ...]  # numbers of those that it rests on, ascending; two at least
    who: tuple[str, ...] = ()  # keys of the people it is about


@dataclass(frozen=True, slots=True)
class ReflectionProgress:
    """One reflection under way, and how far those before it went; the file has these fields."""

    through: str = ""  # id of the newest entry that was reflected on; empty for none
    gathered: int = 0  # importance that had gathered when it began
    questions: tuple[str, ...] = ()
    answered: int = 0  # how many of the questions are done with
    drawn: Insight | None = None  # an insight that may not stand in the journal yet

    @property
    def open(self) -> tuple[str, ...]:
        """The questions that are left."""
        return self.questions[self.answered :]


def load(path: Path) -> ReflectionProgress:
    """How far it came; the beginning where there is no file.

    Raises:
        NoteRefused: The file cannot be read; it is left as it is.
    """
    try:
        text = vault_files.read(path)
        return ReflectionProgress() if text is None else _course(json.loads(text))
    except (OSError, UnicodeDecodeError) as error:
        raise vault_files.unusable(path, error) from error
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise NoteRefused(
            f"{path} is not what a reflection leaves behind ({error})",
            "Mend it, or remove it to have the agent reflect on everything anew",
        ) from error


def save(path: Path, course: ReflectionProgress) -> None:
    """Write down how far it came.

    Raises:
        NoteRefused: The file cannot be written.
    """
    text = json.dumps(asdict(course), ensure_ascii=False, indent=1) + "\n"
    vault_files.change(path, lambda _: text)


def _course(record: Mapping[str, Any]) -> ReflectionProgress:
    insight = None
    if drawn := record.get("drawn"):
        memories = tuple(map(int, drawn["memories"]))
        insight = Insight(str(drawn["text"]), memories, tuple(map(str, drawn["who"])))
    return ReflectionProgress(
        str(record["through"]),
        int(record.get("gathered", 0)),
        tuple(map(str, record.get("questions", ()))),
        int(record.get("answered", 0)),
        insight,
    )
