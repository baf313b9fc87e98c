import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.summaries.draft_checks import check, clean

SOURCE = [
    "The Mill. A mill by the slow river. Exits: north, south.",
    'Tom says, "Good morning, Mira! My sister Agnes keeps bees in Brindle."',
    "~Mira> say I will bring her some rye bread on Thursday, if the river lets me.",
    'Tom says, "She would like that. The ferry runs again since yesterday."',
    "Anna arrives from the north.",
    "~Mira> say Good day, Anna! Have you seen the brass lamp?",
] * 4

GOOD = (
    "I met Tom at the mill. He told me that his sister Agnes keeps bees in Brindle, and I "
    "promised to bring her rye bread on Thursday."
)


def test_a_good_summary_passes():
    assert check(GOOD, SOURCE) is None


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "empty"),
        ("> \n> \n", "empty"),
        ("1. > 2. > 3. > 4. >", "empty"),
        ("1.\n2.\n3.\n4.", "empty"),
        ("1 2 3 4 5 6 7", "list numbers"),
        ("Tom.", "list numbers"),
        ("I am at the mill. " * 12, "repeats a sentence"),
        ("I like the mill. I like the mill.", "repeats a sentence"),
        ("the the the the the mill", "over and over"),
        ("Tom said " + "and the mill and the river " * 8 + "and.", "repeats itself"),
        ("Here is a summary of my day at the mill with Tom.", "being a summary"),
        ("This is the summary. Tom has bees.", "being a summary"),
        ("The text describes a mill and Tom.", "being a summary"),
        ("As an AI language model, I have no memories of Tom.", "being a summary"),
        ("(first-person perspective, I/me/my, no meta-commentary)", "being a summary"),
        ("Quantum computing advances rapidly nowadays.", "no word in common"),
        ("Tom walked. " + " ".join(f"w{i} x{i}." for i in range(400)), "longer than its source"),
    ],
)
def test_what_small_models_write_instead_is_refused(answer, reason):
    assert reason in (check(clean(answer), SOURCE) or "passed")


def test_what_somebody_said_is_no_talk_about_the_summary():
    source = [*SOURCE, 'Tom says, "Forgive me. I am sorry. The text on it is faded."']
    quoted = 'Tom said, "Forgive me. I am sorry. The text on it is faded."'
    assert check(quoted, source) is None
    for own in ("I am sorry, I cannot sum up what Tom said.", "The text describes Tom."):
        assert "being a summary" in (check(own, source) or "passed"), own
    assert "being a summary" in (check(quoted, SOURCE) or "passed")


def test_list_numbers_are_refused_uncleaned_too():
    assert "list numbers" in (check("1. > 2. > 3. > 4. >", SOURCE) or "passed")


@pytest.mark.parametrize(
    ("answer", "cleaned"),
    [
        ("> I met Tom. He has bees.", "I met Tom. He has bees."),
        ('"I met Tom."', "I met Tom."),
        ("Here is a summary of the memories: I met Tom.", "I met Tom."),
        ("Sure! Here's a summary:\n\nI met Tom.", "I met Tom."),
        ("# Summary\nI met Tom.\n## Notes", "I met Tom."),
        ("**Summary:** I met Tom.", "I met Tom."),
        ("SUMMARY:\n- I met Tom.\n- He has bees.", "- I met Tom.\n- He has bees."),
        (
            "Sure!\n1. I met Tom.\n- 2. He has bees.\n- I met Tom.\n- The",
            "- I met Tom.\n- He has bees.",
        ),
        ("I met Tom. He has bees. Then I", "I met Tom. He has bees."),
        ("I met Tom and then", "I met Tom and then"),
        ("<think>Hm, Tom.</think>I met Tom.", "I met Tom."),
        ("I met Tom.<end_of_turn>\nuser", "I met Tom."),
        ('I met Tom. He said, "Come. Now', 'I met Tom. He said, "Come."'),
        ('"Hello," I said. "Yes."', '"Hello," I said. "Yes."'),
    ],
)
def test_what_stands_around_a_summary_is_taken_off(answer, cleaned):
    assert clean(answer) == cleaned


@given(st.text(max_size=300), st.lists(st.text(max_size=50), max_size=4))
def test_no_text_breaks_the_checks(answer, source):
    cleaned = clean(answer)
    assert len(cleaned.splitlines()) <= 1
    reason = check(cleaned, source)
    assert reason is None or reason
    if not cleaned:
        assert reason == "is empty"
