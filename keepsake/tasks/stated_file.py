"""The facts that stand in an agent's conversation, kept in a file for the next start.

Without it, the first prompt after a restart tells all facts anew at its end and lacks them further
up, so a model server reads the whole window again. The same holds for asides that the window
left out. The file is only a cache: if it is missing, old or damaged, that is all that happens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keepsake.files import replace_file
from keepsake.json_lines import in_json, parsed
from keepsake.regular_files import read_text
from keepsake.tasks.stated import NOTHING_STATED, Confided, Stated, Statement

STATED = ".stated.json"
"""The file, in the agent's folder."""


def read_stated(folder: Path) -> Stated:
    """Return the facts that were kept; none if the file cannot be used; blocks."""
    try:
        record = parsed(read_text(folder / STATED))
        return Stated(
            tuple(
                Statement(
                    int(each["after"]),
                    str(each["about"]),
                    tuple((str(line), str(section)) for line, section in each["lines"]),
                    str(each["place"]),
                    frozenset(map(str, each["parts"])),
                    tuple((str(line), str(section)) for line, section in each["whole"]),
                )
                for each in record["statements"]
            ),
            int(record["seen"]),
            tuple(
                Confided(int(each["after"]), tuple(map(int, each["numbers"])))
                for each in record.get("confided", ())
            ),
            _pair(*record.get("asides_through", (0, 0))),
        )
    except (OSError, ValueError, TypeError, KeyError):
        return NOTHING_STATED


def _pair(through: Any, compaction: Any) -> tuple[int, int]:
    return int(through), int(compaction)


def keep_stated(folder: Path, stated: Stated) -> None:
    """Write the facts; blocks.

    Raises:
        OSError: The file cannot be written.
    """
    statements = [
        {
            "after": each.after,
            "about": each.about,
            "lines": each.lines,
            "place": each.place,
            "parts": sorted(each.parts),
            "whole": each.whole,
        }
        for each in stated.statements
    ]
    confided = [{"after": each.after, "numbers": each.numbers} for each in stated.confided]
    record = {
        "seen": stated.seen,
        "statements": statements,
        "confided": confided,
        "asides_through": stated.asides_through,
    }
    replace_file(folder / STATED, f"{in_json(record)}\n")
