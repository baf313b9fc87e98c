"""The words that lead to a verb, or to an exit."""

import pytest

from keepsake.prompt.verbs import FORBIDDEN, SYNONYMS, VERBS, find_exit, find_verb


@pytest.mark.parametrize(
    ("word", "verb"),
    [
        *(("sa", "say"), ("SAY", "say"), ("says", "say"), ("goes", "go"), ("exmaine", "examine")),
        *(("loook", "look"), ("whsiper", "whisper"), ("walk", "go"), ("take", "get")),
        *(("fly", None), ("sat", None), ("rem", None), ("notse", None), ("", None)),
    ],
)
def test_a_verb_is_found_by_its_forms_synonyms_and_typos_but_a_private_one_only_whole(word, verb):
    found = find_verb(word, VERBS)
    assert (found.name if found else None) == verb


def test_only_the_verbs_handed_in_exist():
    only = [verb for verb in VERBS if verb.name in ("look", "go")]
    assert find_verb("say", only) is None
    assert find_verb("look", only) is only[0]


def test_no_admin_word_is_corrected_into_a_verb():
    for word in FORBIDDEN:
        assert find_verb(word, VERBS) is None


def test_synonyms_lead_to_verbs():
    assert set(SYNONYMS.values()) <= {verb.name for verb in VERBS}
    assert not set(SYNONYMS) & FORBIDDEN


def test_find_exit():
    assert find_exit("n", ["North"]) == "North"
    assert find_exit("north", ["n"]) == "n"
    assert find_exit("no", ["north", "northwest"]) is None
    assert find_exit("", ["north"]) is None
