"""Names of agents, and the names of their folders."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.errors import NameRefused
from keepsake.names import LONGEST, check_agent_name, check_player_name, folder_name, name_within
from tests.sentences import table
from world.vocabulary import world_words


@pytest.mark.parametrize(("typed", "kept"), table("good names"))
def test_a_good_name_is_kept_in_its_plain_form(typed, kept):
    assert check_agent_name(typed) == kept


@pytest.mark.parametrize("typed", [*table("refused names"), "x" * 10_000])
def test_a_bad_name_is_refused_with_a_cure(typed):
    with pytest.raises(NameRefused) as refused:
        check_agent_name(typed)
    assert "Choose" in refused.value.cure
    assert len(str(refused.value)) < 300
    assert "|r" not in str(refused.value)
    str(refused.value).encode()


@pytest.mark.parametrize(("typed", "other"), table("names alike"))
def test_a_name_that_looks_like_a_taken_one_is_refused(typed, other):
    with pytest.raises(NameRefused, match="looks like"):
        check_agent_name(typed, taken=["Zed", other])


@pytest.mark.parametrize("name", ["Will", "WILL", "Soup", "Mother", "The Quay", "My Soup"])
def test_a_player_has_no_word_of_the_world_as_a_name(name):
    with pytest.raises(NameRefused, match="is a word that people here use"):
        check_player_name(name, words=world_words())


@pytest.mark.parametrize("name", ["Tom", "Rose", "May", "Raven", "Luna", "Will Harrow", "Old Tom"])
def test_a_player_may_have_any_other_name_and_a_word_beside_a_name(name):
    assert check_player_name(name, words=world_words()) == name


@pytest.mark.parametrize("name", ["Old Mira", "Mira the Second", "Mira's", "Mira's Tom"])
def test_a_name_that_holds_another_is_known(name):
    assert name_within(name, taken=["Zed", "Mira"]) == "Mira"


@pytest.mark.parametrize("name", ["Mirabelle", "O'Mira", "Anne-Lise", "Tom"])
def test_a_name_that_only_begins_like_another_is_no_matter(name):
    assert name_within(name, taken=["Zed", "Mira"]) == ""


@given(st.text(max_size=200))
def test_any_accepted_name_is_plain_and_its_folder_is_safe(typed):
    folder = folder_name(typed)
    assert 0 < len(folder) <= 80
    assert folder.isascii()
    assert all(c.isalnum() or c in "-_" for c in folder)
    try:
        name = check_agent_name(typed)
    except NameRefused:
        return
    assert 2 <= len(name) <= LONGEST
    assert unicodedata.is_normalized("NFC", name)
    assert all(c.isalpha() or c in " -'" for c in name)
    assert check_agent_name(name) == name
    with pytest.raises(NameRefused):
        check_agent_name(name, taken=[name.upper()])
