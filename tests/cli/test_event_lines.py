"""Each operation on a memory has words of its own in `keepsake logs`."""

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
learned n=4 of=work size=6 about=Tom: learned of memory 4 (work) about Tom (6 characters)
met n=4 of=person about=Tom by=rules: profile of Tom begun (person)  by rules
profile n=9 times=3 of=place about=Inn: 3 memories up to 9 worked into the profile of Inn (place)
edit of=person about=Tom by=hand: profile of Tom edited  by hand
edit n=2 of=recent: recent summary of compaction 2 edited
renamed n=7 of=person about=Thomas: profile goes on under the name Thomas (person)
renamed of=agent about=Nora: renamed, was Nora
merged of=person about=Tom: Tom, known by name so far, is known (person)
merged of=journal times=2: 2 entries of the journal merged into another
folded of=journal times=5: 5 entries of the journal folded into one
mended n=7 size=12: 12 bytes of a torn line set aside
reindex problem=damaged: recall index made anew  damaged
begins n=1200: begins, with 1,200 memories
ends n=1200: ends, with 1,200 memories
note title=\x1b[2Jcups size=9: note '\\x1b[2Jcups' (9 characters)
met of=person about=T\x1b[2Jom: profile of T·[2Jom begun (person)"""


@pytest.mark.parametrize("line", WORDS.splitlines())
def test_an_operation_has_its_own_words(line):
    change, _, end = line.partition(": ")
    op, *fields = change.split()
    given = dict(field.split("=") for field in fields)
    more = {key: int(value) if value.isdigit() else value for key, value in given.items()}
    assert line_of(op, **more).endswith(f"  Mira  {end}")


@pytest.mark.parametrize("op", OPERATIONS)
def test_every_operation_can_be_told(op):
    assert "'op'" not in line_of(op), "shown as what no reader knows"
