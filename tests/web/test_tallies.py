"""What agents did, added up from an event log, whatever happens while it is read."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest

from game.web.recorded import tallies
from game.web.recorded.tallies import Tallies
from keepsake.events.log import EventLog
from keepsake.events.types import Thought


def thought(log: EventLog) -> None:
    log.emit(Thought(agent="Mira", agent_id=7, trigger="idle", priority="idle", outcome="acted"))


def test_a_reading_that_broke_off_counts_nothing_twice(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    thought(log)
    log.close()
    found = Tallies(tmp_path)
    with (
        patch.object(tallies, "EventFollower", side_effect=OSError("a disk")),
        pytest.raises(OSError, match="a disk"),
    ):
        found.of(7, "Mira")
    assert found.of(7, "Mira").ended == 1


def test_a_line_that_somebody_has_edited_hides_no_other(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    thought(log)
    thought(log)
    log.close()
    (file,) = tmp_path.glob("*.jsonl")
    first, *rest = file.read_text().splitlines()
    spoilt = json.dumps(json.loads(first) | {"sections": [1]}, separators=(",", ":"))
    file.write_text("\n".join([spoilt, *rest]) + "\n")
    assert Tallies(tmp_path).of(7, "Mira").act == ""
    assert Tallies(tmp_path).of(7, "Mira").ended == 2
