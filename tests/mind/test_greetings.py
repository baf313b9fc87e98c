"""What is a greeting and no news."""

import pytest

from keepsake.language.heard import LONGEST_GREETING, is_greeting


@pytest.mark.parametrize(
    "words",
    [
        "Here I am again, Mira!",
        "I'm back!",
        "Hello, Mira. It's me, Tom.",
        "Good evening, Mira! How are you today?",
        "Long time no see, Mira.",
        "Thank you very much, Mira!",
        "Goodbye, Mira. See you tomorrow!",
        "hi",
    ],
)
def test_greetings(words):
    assert is_greeting(words)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Mira!",
        "Hello, the mill burned down!",
        "I'm back from the mill, and it is gone.",
        "The cup is found.",
        "Here I am again, and I have left my wife.",
        "Thank you for the blue cup, it was my mother's.",
    ],
)
def test_news(words):
    assert not is_greeting(words)


@pytest.mark.parametrize("again", ["hi ", "thanks you ", "good day ", "here I am ", "me again "])
def test_whoever_says_it_again_and_again_holds_nobody_up(again):
    # By backtracking this would never end.
    for count in range(1, 400):
        assert not is_greeting(f"{again * count}a b c d e f " + "g " * count)
        is_greeting((again * count)[:LONGEST_GREETING])
