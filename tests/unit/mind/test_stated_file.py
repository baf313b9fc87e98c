"""The file with the facts that stand in an agent's conversation."""

from __future__ import annotations

import pytest

from keepsake.tasks.stated import NOTHING_STATED, Confided, Stated, Statement
from keepsake.tasks.stated_file import STATED, keep_stated, read_stated

FACTS = Stated(
    (
        Statement(3, "surroundings: The Kettle", (("[The Kettle.]", "place"),), "The Kettle"),
        Statement(
            5,
            "surroundings: The Kettle",
            (("[The Kettle. It rains.]", "place"),),
            "The Kettle",
            whole=(("[The Kettle. A low room. It rains.]", "place"),),
        ),
        Statement(7, "person: Tom", (("[Tom]", "people"),), parts=frozenset({"'A'", "'Ö\u2028'"})),
    ),
    seen=9,
    confided=(Confided(8, (6, 8)), Confided(9, (9,))),
    asides_through=(5, 2),
)


def test_what_is_kept_is_read_again(tmp_path):
    keep_stated(tmp_path, FACTS)
    assert read_stated(tmp_path) == FACTS
    keep_stated(tmp_path, NOTHING_STATED)
    assert read_stated(tmp_path) == NOTHING_STATED


def test_a_file_of_an_earlier_version_has_no_private_words(tmp_path):
    (tmp_path / STATED).write_text('{"statements": [], "seen": 4}')
    assert read_stated(tmp_path) == Stated(seen=4)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"statements": 3, "seen": 1}', '{"statements": [{}], "seen": 1}'],
)
def test_a_damaged_file_is_as_none(tmp_path, text):
    assert read_stated(tmp_path) == NOTHING_STATED
    (tmp_path / STATED).write_text(text)
    assert read_stated(tmp_path) == NOTHING_STATED
