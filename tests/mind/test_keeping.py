"""What a compaction puts back into its summary word for word."""

from __future__ import annotations

from keepsake.compaction import truncation

TRAP = "Tom told you: Never open the eel trap. (memory 17)"
SOUP = "You promised Ada: I will bring you soup, Ada. (memory 18)"


def test_what_is_summarised_is_without_what_was_put_back():
    text = truncation.put_back("I baked bread.", (TRAP, SOUP))
    assert truncation.put_back_in(text) == (TRAP, SOUP)
    assert truncation.without_added(text) == "I baked bread."
    assert truncation.put_back_in("I baked bread.") == ()
    # A person may have left nothing else of a summary; something has to be told of it.
    assert truncation.without_added(f"{truncation.KEPT}{TRAP}") == f"{truncation.KEPT}{TRAP}"
