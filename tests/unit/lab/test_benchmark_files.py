"""Benchmarks are read in the form in which they are published; errors name file, item and cure."""

import json
from datetime import UTC, datetime

import pytest

from keepsake.errors import KeepsakeError
from keepsake.lab.benchmarks import read_trials
from keepsake.paths import REPOSITORY

FOLDER = REPOSITORY / "tests" / "data" / "benchmarks"


def test_locomo_is_read_as_it_is_published():
    first, second = read_trials(FOLDER / "locomo.json")
    assert (first.name, second.name) == ("made-up-1", "made-up-2")
    assert [m.number for m in first.memories] == list(range(1, 25))
    assert first.memories[0].time == datetime(2023, 3, 3, 10, 15, tzinfo=UTC)
    assert first.memories[8].time == datetime(2023, 4, 21, 19, 40, tzinfo=UTC)
    assert first.memories[6].text.endswith("[shares a photo of a crooked blue bowl]")
    assert {memory.source for memory in first.memories} == {"Nadia", "Oskar"}
    asked = {q.text: q for q in first.questions}
    earned = asked["How much did Nadia earn with her bowls at the market?"]
    assert (earned.kind, earned.answers, earned.evidence) == ("multi-hop", ("120",), {12, 14})
    # Two ids in one text, and an id with a zero too many, as the data has them.
    assert asked["Which two jobs has Oskar had?"].evidence == {4, 5}
    assert asked["When did Oskar begin at the ferry office?"].evidence == {4}
    assert asked["Would Oskar be a good companion for a long run?"].answers == ("Likely no",)
    trick = asked["What did Oskar sell at the market in Varde?"]
    assert (trick.kind, trick.answerable, trick.answers) == ("adversarial", False, ())
    assert all(q.time == first.memories[-1].time for q in first.questions)


@pytest.mark.parametrize(
    ("name", "spoil", "told"),
    [
        ("locomo.json", lambda d: d[1].pop("qa"), r"\[1\]: qa: Field required"),
        (
            "locomo.json",
            lambda d: d[0]["conversation"].pop("session_2_date_time"),
            r"session_2\.began: Input should be a valid datetime",
        ),
        ("longmemeval.json", lambda d: d[1]["haystack_dates"].pop(), "2 sessions and 1 dates"),
        (
            "longmemeval.json",
            lambda d: d[0]["haystack_sessions"][1][2].pop("content"),
            r"\[0\]: haystack_sessions\[1\]\[2\].content",
        ),
        ("turns.json", lambda d: d["questions"][0]["evidence"].append("z"), "unknown turns"),
    ],
)
def test_what_is_wrong_is_named_with_its_place_and_a_cure(name, spoil, told, tmp_path):
    data, path = json.loads((FOLDER / name).read_text()), tmp_path / "spoilt.json"
    spoil(data)
    path.write_text(json.dumps(data))
    with pytest.raises(KeepsakeError, match=told) as found:
        read_trials(path)
    assert "spoilt.json" in str(found.value)
    assert found.value.cure
