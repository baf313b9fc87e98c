"""New events for web pages, read from the files of the event log."""

from __future__ import annotations

import pytest

from keepsake.json_lines import line_of
from keepsake.web import history
from keepsake.web.history import new_events

ADA = 7
TOM = 8


def write(folder, first, last, day="2026-05-04"):
    """Write events: Ada's have even numbers, Tom's odd ones."""
    path = folder / f"events-{day}-{first:010d}.jsonl"
    numbers = range(first, last + 1)
    records = ({"seq": n, "kind": "memory", "agent_id": TOM if n % 2 else ADA} for n in numbers)
    path.write_bytes(b"".join(map(line_of, records)))


def answer_to(folder, after, agent=0):
    found = new_events(folder, agent, after, lambda record: {**record, "text": "words"})
    assert all(each["text"] == "words" for each in found.events)
    return [each["seq"] for each in found.events], found.last, found.gap


def test_repeated_requests_miss_no_event(tmp_path):
    assert answer_to(tmp_path, None) == ([], 0, False)
    assert answer_to(tmp_path, 0) == ([], 0, False)
    write(tmp_path, 1, 3)
    assert answer_to(tmp_path, 0) == ([1, 2, 3], 3, False)
    write(tmp_path, 4, 6, "2026-05-05")
    assert answer_to(tmp_path, 3) == ([4, 5, 6], 6, False)
    assert answer_to(tmp_path, 2, TOM) == ([3, 5], 6, False)
    assert answer_to(tmp_path, 6) == ([], 6, False)


def test_the_first_request_gets_the_newest_events(tmp_path):
    write(tmp_path, 1, 300)
    assert answer_to(tmp_path, None) == ([*range(201, 301)], 300, False)
    assert answer_to(tmp_path, None, ADA)[0] == [*range(102, 301, 2)]


@pytest.mark.parametrize("after", [0, 5, 2000])
def test_missing_events_are_reported_as_a_gap(tmp_path, after):
    """More events than one answer holds, deleted files, and a number of another log."""
    write(tmp_path, 700 if after == 5 else 1, 900)
    seen, last, gap = answer_to(tmp_path, after)
    assert (seen[-1], last, gap) == (900, 900, True)
    assert len(seen) <= history.MOST_NEW
