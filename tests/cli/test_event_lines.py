"""Each kind of event is one line of `keepsake logs`; what could move the cursor is not in it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from game.cli.logs.event_lines import as_line
from keepsake.events.types import OPERATIONS, MemoryChange, to_record

NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)


def line_of(op, **more):
    change = MemoryChange(**{"agent": "Mira", "op": op, "n": 0} | more)
    return as_line(to_record(change, NOW, 17)).plain


WORDS = """\
append n=4 of=act size=6: 4: act, 6 characters
repeat n=4 of=act size=6 times=3: 4: act, 6 characters (3×)
undo n=3 problem=none: undo n=3 times=1  none
edit n=2 of=recent: edit n=2 of='recent' times=1
met of=person about=T\x1b[2Jom: met of='person' times=1 about='T\\x1b[2Jom'"""


@pytest.mark.parametrize("line", WORDS.splitlines())
def test_an_operation_on_a_memory_is_told(line):
    change, _, end = line.partition(": ")
    op, *fields = change.split()
    given = dict(field.split("=") for field in fields)
    more = {key: int(value) if value.isdigit() else value for key, value in given.items()}
    assert line_of(op, **more).endswith(f"  Mira  {end}")


@pytest.mark.parametrize("op", OPERATIONS)
def test_every_operation_is_named(op):
    assert op in line_of(op) or op in ("append", "repeat")
