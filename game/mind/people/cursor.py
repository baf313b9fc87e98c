"""How far memories are worked in, on the disk: after the profiles, so that nothing is skipped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from game.mind import vault_files


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a book has come.

    Attributes:
        through: Number of the last memory that is worked in.
        behind: For each key whose file could not be read then, the last that is in that one.
    """

    through: int = 0
    behind: Mapping[str, int] = field(default_factory=dict)


def read_cursor(path: Path) -> Cursor:
    """The cursor in a file; at the beginning if there is none that can be read.

    To begin anew does no harm: each profile knows what is in it already.
    """
    try:
        data = json.loads(vault_files.read(path) or "{}")
        behind = {str(key): int(number) for key, number in data.get("behind", {}).items()}
        return Cursor(max(int(data.get("through", 0)), 0), behind)
    except (OSError, ValueError, TypeError, AttributeError):
        return Cursor()


def write_cursor(path: Path, cursor: Cursor) -> None:
    """Put the cursor on the disk.

    Raises:
        NoteRefused: It cannot be written.
    """
    text = json.dumps({"through": cursor.through, "behind": dict(cursor.behind)})
    vault_files.change(path, lambda _: text + "\n")
