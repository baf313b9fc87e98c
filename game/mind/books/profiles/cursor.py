"""How far memories are worked in, on the disk: after the profiles, so that nothing is skipped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from game.mind.books.profiles.sorting import SortingContext
from game.mind.records import files as vault_files


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a book has come.

    Attributes:
        through: Number of the last memory that is worked in.
        behind: For each key whose file could not be read then, the last that is in that one.
        scene: What the next memories are understood by.
    """

    through: int = 0
    behind: Mapping[str, int] = field(default_factory=dict)
    scene: SortingContext = field(default_factory=SortingContext)


def read_cursor(path: Path) -> Cursor:
    """The cursor in a file; at the beginning if there is none that can be read.

    To begin anew does no harm: each profile knows what is in it already.
    """
    try:
        data = json.loads(vault_files.read(path) or "{}")
        behind = {str(key): int(number) for key, number in data.get("behind", {}).items()}
        return Cursor(max(int(data.get("through", 0)), 0), behind, _scene(data.get("scene", {})))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Cursor()


def write_cursor(path: Path, cursor: Cursor) -> None:
    """Put the cursor on the disk.

    Raises:
        NoteRefused: It cannot be written.
    """
    scene = cursor.scene
    data = {
        "through": cursor.through,
        "behind": dict(cursor.behind),
        "scene": {
            "present": [[key, name, at.isoformat()] for key, name, at in scene.present],
            "speaker": [scene.speaker[0], scene.speaker[1].isoformat()] if scene.speaker else None,
            "looked_at": scene.looked_at,
        },
    }
    vault_files.change(path, lambda _: json.dumps(data, ensure_ascii=False) + "\n")


def _scene(data: Mapping[str, Any]) -> SortingContext:
    present = tuple(
        (str(key), str(name), datetime.fromisoformat(at))
        for key, name, at in data.get("present") or ()
    )
    speaker = data.get("speaker")
    return SortingContext(
        present,
        (str(speaker[0]), datetime.fromisoformat(speaker[1])) if speaker else None,
        str(data.get("looked_at", "")),
    )
