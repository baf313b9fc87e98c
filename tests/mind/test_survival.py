import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.summaries.survival import (
    Constraint,
    Seen,
    compare,
    read_constraint,
    split_sentences,
    units,
)
from tests.mind.sayings import KNOWN_MISTAKE, SAYINGS


def kept(constraint: str, line: str) -> bool:
    """Whether one sentence of ``line`` keeps ``constraint`` by words alone."""
    return all(
        any(kept.firm and kept.coverage == 1 for kept in (compare(part, u) for u in units(line)))
        for part in read_constraint(constraint)
    )


def sole(constraint: str) -> Constraint:
    (part,) = read_constraint(constraint)
    return part


@pytest.mark.parametrize("saying", SAYINGS, ids=lambda saying: saying.constraint)
def test_no_near_miss_is_taken_for_the_constraint(saying):
    assert [line for line in saying.other if kept(saying.constraint, line)] == []


@pytest.mark.parametrize("saying", SAYINGS, ids=lambda saying: saying.constraint)
def test_a_constraint_keeps_itself(saying):
    constraint = sole(saying.constraint)
    who = " and ".join(constraint.person)
    assert kept(saying.constraint, f"So it is, {who}. {constraint.unit.text}")
    assert Seen([f"Then. {saying.constraint}\nSo."]).verbatim(constraint)


def test_half_of_all_paraphrases_are_known_by_words_alone():
    pairs = [(saying.constraint, line) for saying in SAYINGS for line in saying.same]
    known = sum(kept(*pair) for pair in pairs)
    assert len(pairs) == 82
    assert known >= 41


def test_the_mistake_that_the_docs_name_is_still_the_one():
    assert kept("Never open the cellar door.", KNOWN_MISTAKE)


CELLAR = "Ada told you: never open the cellar door (memory 17)"
TOLL = "The toll is twenty-three pennies."
PROMISE = "You promised Tom: I will keep the blue jar (memory 9)"
ASKED = "Tom asked you: where is my silver whistle?"
WELL = "The well behind the chapel is bad, drink from the spring."


@pytest.mark.parametrize(
    ("constraint", "keeping", "losing"),
    [
        (
            CELLAR,
            [
                "I must never open the cellar door.",
                'Ada said to me, "Go on. You must not open the door of the cellar! It is wet."',
                "The cellar door is never to be opened.",
                "Opening the cellar door is forbidden.",
                "I may NOT open the cellar door",
                "I don’t open the cellar door.",
            ],
            [
                "Open the cellar door.",
                "I should open the cellar door, never mind Ada.",
                "I never go out. Open the cellar door.",
                "Forget that you should never open the cellar door.",
                "Is it true that I must never open the cellar door?",
                "Never open the cellar.",
                "never open the door",
                "",
            ],
        ),
        ("Wake Ada at five.", ["I have to wake Ada at 5."], ["I have to wake Ada at 50."]),
        (TOLL, ["The toll is 23 pennies."], ["The toll is twenty, three pennies short."]),
        (
            PROMISE,
            ["I promised Tom to keep the blue jar.", "Tom was here. I will keep the blue jar."],
            [
                "I will keep the blue jar.",
                "Tom was here. We ate. It rained. I will keep the blue jar.",
            ],
        ),
        ("Ada told you: feed the hen before dawn", ["I feed the hen before dawn."], []),
        (ASKED, ["Tom asked where his silver whistle is."], []),
        ("Tom lost a silver whistle.", [], ["Did Tom lose a silver whistle?"]),
        (
            WELL,
            ["Drink from the spring, since the well behind the chapel is bad."],
            ["The spring behind the chapel is bad, drink from the well."],
        ),
        (
            "Never open the cellar door. Ask Ada before dawn.",
            ["I must ask Ada before dawn. I never open the cellar door."],
            ["I never open the cellar door."],
        ),
        ("…", [], ["…"]),
        ("It is.", [], ["It is."]),
    ],
)
def test_what_keeps_a_constraint_and_what_loses_it(constraint, keeping, losing):
    assert [line for line in keeping if not kept(constraint, line)] == []
    assert [line for line in losing if kept(constraint, line)] == []


def test_what_is_seen_word_for_word_is_found_in_any_line():
    seen = Seen(["One thing.", "- NEVER open the “cellar” door. Ask Ada!", "open", "the gate"])
    assert seen.verbatim(sole("never open the cellar door (memory 4)"))
    assert not seen.verbatim(sole("open the cellar door"))
    assert not seen.verbatim(sole("never open the cellar"))
    assert not seen.verbatim(sole("open the gate")), "words do not run into the next line"
    assert all(map(seen.verbatim, read_constraint("Never open the cellar door. Ask Ada.")))
    assert not any(map(seen.verbatim, read_constraint("…")))


def test_the_nearest_sentences_come_first():
    seen = Seen(["The door is red.", "A cat.", "I open the cellar door. The cellar is dark."])
    near = seen.near(sole("open the cellar door"), 2)
    assert [unit.text for unit in near] == ["I open the cellar door.", "The door is red."]


def test_quoted_sentences_are_taken_one_by_one():
    line = 'Ada says to you, "Come in. Sit down!" (repeated 2×)'
    assert split_sentences(line) == ['Ada says to you, "Come in.', 'Sit down!"']


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=4))
def test_no_text_breaks_it(constraint, lines):
    seen = Seen(lines)
    for part in read_constraint(constraint):
        assert part.text == constraint
        assert not seen.verbatim(part) or any(char.isalnum() for char in constraint)
        for unit in seen.near(part, 8):
            found = compare(part, unit)
            assert 0 <= found.coverage <= 1
            assert 0 <= found.contrary <= 1


@given(st.text(max_size=200))
def test_whatever_says_something_stands_in_itself(text):
    if any(char.isalnum() for char in text):
        assert all(map(Seen([text]).verbatim, read_constraint(text)))
