"""How far a reflection has come: ``reflection.json`` beside the journal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from game.mind.errors import NoteRefused
from game.mind.records import files as vault_files

NAME = "reflection.json"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A memory that speaks to a question."""

    number: int
    text: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Insight:
    """What an agent made of several memories.

    Attributes:
        text: One or two sentences.
        numbers: The memories that it rests on, ascending; two at least.
        who: Keys of the people it is about.
    """

    text: str
    numbers: tuple[int, ...]
    who: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReflectionProgress:
    """One reflection under way, and how far those before it went.

    Attributes:
        through: Id of the newest entry that was reflected on; empty for none.
        gathered: Importance that had gathered when it began.
        questions: What it asks.
        answered: How many of the questions are done with.
        drawn: An insight that may not stand in the journal yet.
    """

    through: str = ""
    gathered: int = 0
    questions: tuple[str, ...] = ()
    answered: int = 0
    drawn: Insight | None = None

    @property
    def open(self) -> tuple[str, ...]:
        """The questions that are left."""
        return self.questions[self.answered :]

    def to_record(self) -> dict[str, Any]:
        """As the file has it."""
        drawn = self.drawn
        return {
            "through": self.through,
            "gathered": self.gathered,
            "questions": list(self.questions),
            "answered": self.answered,
            "drawn": drawn
            and {"text": drawn.text, "memories": list(drawn.numbers), "who": list(drawn.who)},
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> ReflectionProgress:
        """Read it back.

        Raises:
            KeyError, ValueError, TypeError: A field is missing or wrong.
        """
        drawn = record.get("drawn")
        return cls(
            through=str(record["through"]),
            gathered=int(record.get("gathered", 0)),
            questions=tuple(map(str, record.get("questions", ()))),
            answered=int(record.get("answered", 0)),
            drawn=Insight(
                str(drawn["text"]),
                tuple(map(int, drawn["memories"])),
                tuple(map(str, drawn["who"])),
            )
            if drawn
            else None,
        )


def load(path: Path) -> ReflectionProgress:
    """How far it came; the beginning where there is no file.

    Raises:
        NoteRefused: The file cannot be read; it is left as it is.
    """
    try:
        text = vault_files.read(path)
        return (
            ReflectionProgress()
            if text is None
            else ReflectionProgress.from_record(json.loads(text))
        )
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
    text = json.dumps(course.to_record(), ensure_ascii=False, indent=1) + "\n"
    vault_files.change(path, lambda _: text)
