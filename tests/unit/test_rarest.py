"""Lines with the rarest of typed words are found first, whatever else they have."""

from __future__ import annotations

import pytest

from keepsake.tracing.typed import rarest
from keepsake.tracing.typed.rarest import with_rarest
from keepsake.tracing.wording import Wording
from tests.unit.made_archives import Village


@pytest.fixture
def village(tmp_path):
    made = Village(tmp_path, "Mira", "Oswin", "Nell")
    for _ in range(3):
        made.said("Bob", "The postman has something for you.", to=["Nell"])
    return made


def found(village, words, most=9):
    return [*with_rarest(village.read(), Wording.of(words), most)]


def test_a_line_with_the_rarest_word_is_before_those_with_more_common_ones(village):
    told = village.said("Bob", "There is a shadow on my lung.", "Oswin", to=["Mira"])
    first, *rest = found(village, "the postman has something on his lung")
    assert first == ("Mira", told["Mira"]), "and it is there once, though two heard it"
    assert {key for key, _ in rest} == {"Nell"}
    assert found(village, "the postman has something on his lung", most=1) == [first]


def test_what_nobody_said_has_no_lines(village):
    assert not found(village, "zeppelin")
    assert not with_rarest({}, Wording.of("postman"), 3)


def test_lines_of_everyday_words_are_not_read(village, monkeypatch):
    monkeypatch.setattr(rarest, "_MOST_READ", 2)
    assert not found(village, "postman")
    village.said("Bob", "My lung hurts.", to=["Mira"])
    assert [key for key, _ in found(village, "a postman's lung")] == ["Mira"]
