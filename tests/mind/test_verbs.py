"""The words that lead to a verb, or to an exit."""

import pytest

from keepsake.prompt.verbs import SYNONYMS, VERBS, find_exit, find_verb


@pytest.mark.parametrize(
    ("word", "verb"),
    [
        *(("SAY", "say"), ("go", "go"), ("walk", "go"), ("take", "get"), ("remember", "remember")),
        *(("fly", None), ("sa", None), ("rem", None), ("py", None), ("quit", None), ("", None)),
    ],
)
def test_a_verb_is_found_by_its_name_or_a_synonym(word, verb):
    found = find_verb(word, VERBS)
    assert (found.name if found else None) == verb


def test_only_the_verbs_handed_in_exist():
    only = [verb for verb in VERBS if verb.name in ("look", "go")]
    assert find_verb("say", only) is None
    assert find_verb("take", only) is None
    assert find_verb("look", only) is only[0]


def test_synonyms_lead_to_verbs():
    names = {verb.name for verb in VERBS}
    assert set(SYNONYMS.values()) <= names
    assert not set(SYNONYMS) & names


def test_find_exit():
    assert find_exit("n", ["North"]) == "North"
    assert find_exit("north", ["n"]) == "n"
    assert find_exit("no", ["north", "northwest"]) is None
    assert find_exit("", ["north"]) is None
