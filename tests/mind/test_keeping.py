"""What is put back into a summary word for word, and how much of it."""

from keepsake.compaction import truncation
from keepsake.prompt.tokens import estimate_tokens

TRAP = "Tom told you: Never open the eel trap. (memory 17)"
SOUP = "You promised Ada: I will bring you soup, Ada. (memory 18)"


def test_nobody_fills_the_prompt_with_it():
    rules = [f"Tom told you: Never open door {n}, nor the window beside it." for n in range(99)]
    found = truncation.fitting(rules)
    assert found == tuple(rules[: len(found)]), "the first ones stay"
    assert truncation.LIMIT - 30 < sum(map(estimate_tokens, found)) <= truncation.LIMIT


def test_what_is_summarised_is_without_what_was_put_back():
    text = truncation.put_back("I baked bread.", (TRAP, SOUP))
    assert truncation.put_back_in(text) == (TRAP, SOUP)
    assert truncation.without_added(text) == "I baked bread."
    assert truncation.put_back_in("I baked bread.") == ()
    # A person may have left nothing else of a summary; something has to be told of it.
    assert truncation.without_added(f"{truncation.KEPT}{TRAP}") == f"{truncation.KEPT}{TRAP}"
