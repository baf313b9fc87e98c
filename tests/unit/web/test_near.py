"""Lines that may say the same as a chosen one in other words."""

from __future__ import annotations

import pytest

from keepsake.happening import Manner
from keepsake.web.pasts.near import lines_like
from tests.unit.made_archives import Village


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, "Mira", "Oswin", "Bram", "Nell")


def like(village, name, number):
    found = lines_like((), village.read(), [(name, number)])
    return [each.lead[1].words for each in found]


def test_what_was_told_on_in_another_language_is_offered_by_what_it_rests_on(village):
    told = village.said("Bob", "There is a leak in the boat.", to=["Mira"])
    rests = (told["Mira"],)
    village.said("Mira", "Poor you!", to=["Bob"], rests_on=rests)
    village.said("Mira", "Zijn schuit is lek.", to=["Oswin"], rests_on=rests)
    village.said("Nell", "Het regent.", to=["Oswin"])
    assert like(village, "Mira", told["Mira"]) == ["Zijn schuit is lek."]


def test_lines_with_its_names_and_numbers_are_offered(village):
    told = village.said("Bob", "They hid Patience, with 340 on board.", to=["Mira"])
    village.said("Anneke", "De Patience? Die ligt stil.", to=["Nell"])
    village.said("Anneke", "Ze tellen 340 man.", to=["Bram"])
    village.said("Anneke", "They hid the bread.", to=["Bram"])
    found = like(village, "Mira", told["Mira"])
    assert sorted(found) == ["De Patience? Die ligt stil.", "Ze tellen 340 man."]


def test_who_only_saw_a_whisper_has_nothing_to_tell(village):
    told = village.said(
        "Bob", "There is a leak.", to=["Mira"], manner=Manner.WHISPER, seen_by=["Nell"]
    )
    village.said("Nell", "Bob has secrets.", to=["Bram"], rests_on=(told["Nell"],))
    assert not like(village, "Mira", told["Mira"])


def test_of_a_line_that_is_not_there_nothing_is_offered(village):
    village.said("Bob", "There is a leak.", to=["Mira"])
    assert not like(village, "Mira", 99)
    assert not like(village, "Joss", 1)
