"""What is carried from one compaction to the next, and until when."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keepsake.archive.records import Memory, MemoryKind, Summary, Tier
from keepsake.compaction import truncation
from keepsake.compaction.carried_over import LIMIT, carried_over
from keepsake.memory import MemoryContext
from keepsake.prompt.tokens import estimate_tokens

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
TRAP = "Tom told you: Never open the eel trap. (memory 17)"
SOUP = "You promised Ada: I will bring you soup, Ada. (memory 18)"
PINNED = "The key hangs in the cellar"


def context(*put_back: str, longterm: tuple[str, ...] = (), window: tuple[Memory, ...] = ()):
    older = truncation.put_back("I sat by the fire.", longterm)
    newer = truncation.put_back("I baked bread.", put_back)
    return MemoryContext(
        Summary(Tier.LONGTERM, 1, 10, older, "m", NOON),
        Summary(Tier.RECENT, 11, 20, newer, "m", NOON),
        window,
    )


def says(number: int, who: str, words: str) -> Memory:
    text = f'{who} says to you, "{words}"'
    return Memory(number, NOON, MemoryKind.PERCEPTION, text, source=who)


def test_what_was_put_back_comes_first_and_each_line_once():
    found = carried_over(context(SOUP, TRAP, longterm=(PINNED,)), [TRAP, "New"], "Mira")
    assert found == (PINNED, SOUP, TRAP, "New")


def test_without_summaries_there_is_what_found_no_room():
    assert carried_over(MemoryContext(None, None, ()), [TRAP], "Mira") == (TRAP,)


@pytest.mark.parametrize(
    ("line", "memory", "left"),
    [
        (TRAP, says(30, "Tom", "You may open the eel trap again."), False),
        (TRAP, says(30, "Ada", "You may open the eel trap again."), True),
        (TRAP, says(30, "Tom", "Never open the eel trap."), True),
        # What was said before it was told once more.
        (TRAP, says(16, "Tom", "You may open the eel trap again."), True),
        (SOUP, Memory(30, NOON, MemoryKind.ACT, "give soup to Ada"), False),
        (SOUP, Memory(30, NOON, MemoryKind.ACT, "give soup to Tom"), True),
        (PINNED, says(30, "Tom", "Forget about the key in the cellar."), True),
    ],
)
def test_it_goes_when_whoever_it_comes_from_lets_it_go(line, memory, left):
    assert carried_over(context(line, window=(memory,)), (), "Mira") == ((line,) if left else ())


def test_nobody_fills_the_prompt_with_it():
    rules = [f"Tom told you: Never open door {n}, nor the window beside it." for n in range(99)]
    found = carried_over(context(*rules[:40]), rules[40:], "Mira")
    assert found == tuple(rules[: len(found)]), "the first ones stay"
    assert LIMIT - 30 < sum(map(estimate_tokens, found)) <= LIMIT


def test_what_is_summarised_is_without_what_was_put_back():
    text = truncation.put_back("I baked bread.", (TRAP, SOUP))
    assert truncation.put_back_in(text) == (TRAP, SOUP)
    assert truncation.without_added(text) == "I baked bread."
    assert truncation.put_back_in("I baked bread.") == ()
    # A person may have left nothing else of a summary; something has to be told of it.
    assert truncation.without_added(f"{truncation.KEPT}{TRAP}") == f"{truncation.KEPT}{TRAP}"
