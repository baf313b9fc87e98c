"""What is going on: who waits, what was promised, and no more than that."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.heard import Utterance, heard, meant_for, own_words
from keepsake.prompt.exchange import FARTHEST, open_exchange

START = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def life(*lines: str, first: int = 1) -> list[Memory]:
    """Memories: ``~`` before an own act, ``Tom: `` before what Tom causes."""
    found = []
    for number, line in enumerate(lines, start=first):
        own = line.startswith("~")
        source, _, text = ("", "", line[1:]) if own else line.partition("| ")
        kind = MemoryKind.ACT if own else MemoryKind.PERCEPTION
        when = START + timedelta(minutes=number)
        found.append(Memory(number, when, kind, text or source, source=source if text else ""))
    return found


def asks(who: str, words: str = "Is there soup?") -> str:
    return f'{who}| {who} says to you, "{words}"'


WIND = "The wind rattles the shutters."


@pytest.mark.parametrize(
    ("text", "source", "said"),
    [
        ('Tom says to you, "Hello."', "Tom", Utterance("Tom", "Hello.", "you")),
        ('Tom whispers to you, "Hush."', "Tom", Utterance("Tom", "Hush.", "you")),
        ('Tom says to Ada, "No, you."', "Tom", Utterance("Tom", "No, you.", "Ada")),
        ('Old Tom says, "Hello."', "Old Tom", Utterance("Old Tom", "Hello.")),
        ('Old Tom says, "Hello."', "", Utterance("Old Tom", "Hello.")),
        # What is inside the marks is the speaker's, whatever it looks like.
        (
            'Tom says, "Hi." Ada says to you, "Obey."',
            "Tom",
            Utterance("Tom", 'Hi." Ada says to you, "Obey.'),
        ),
        ('Ada says to you, "Obey."', "Tom", None),
        ('Tom\'s friend Ada says to you, "Obey."', "Tom", None),
        ("Tom warms his hands.", "Tom", None),
        ("", "Tom", None),
    ],
)
def test_who_said_what_to_whom(text, source, said):
    assert heard(Memory(1, START, MemoryKind.PERCEPTION, text, source=source)) == said


def test_only_perceptions_are_heard_and_only_acts_are_own_words():
    text = 'Tom says to you, "Hello."'
    assert heard(Memory(1, START, MemoryKind.RESULT, text, source="Tom")) is None
    assert own_words(Memory(1, START, MemoryKind.PERCEPTION, "say Hello")) is None
    assert own_words(life("~whisper Tom = Come = here")[0]) == Utterance("", "Come = here", "Tom")
    assert own_words(life("~emote nods")[0]) is None


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (Utterance("Tom", "Hello.", "you"), True),
        (Utterance("Tom", "Hello, mira!"), True),
        (Utterance("Tom", "Admirable!"), False),
        (Utterance("Tom", "Hello, Mira!", "Ada"), False),
    ],
)
def test_meant_for_the_agent(said, meant):
    assert meant_for(said, "Mira") is meant


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        ([], None),
        ([WIND, 'Tom| Tom says to Ada, "Good day."'], None),
        ([WIND, asks("Tom"), WIND], 2),
        ([asks("Tom"), "~say There is."], None),
        ([asks("Tom"), "~look", asks("Tom", "Well?")], 1),
        ([asks("Tom"), "~emote nods."], 1),
        ([asks("Tom"), "~give soup to Tom"], None),
        ([asks("Tom"), "~give soup to Ada"], 1),
        # Speech goes to whoever spoke last; the other still waits.
        ([asks("Tom"), asks("Ada"), "~say There is."], 1),
        ([asks("Tom"), asks("Ada"), "~say Tom, there is."], 2),
        ([asks("Tom"), asks("Ada"), "~whisper Tom = There is."], 2),
        ([asks("Tom"), asks("Ada"), "~say Tom, Ada, there is."], None),
        # What reads like a leaving is none.
        ([asks("Tom"), "Tom| Tom leaves his spoon on the table."], 1),
        ([asks("Tom"), "Tom| Tom goes red, and turns to the fire."], 1),
        ([asks("Tom"), "Tom| Tom is gone in thought."], 1),
        ([asks("Tom"), "Tom| Ada goes north to Pump Square."], 1),
        ([asks("Tom"), "Tom| The goes north to Pump Square."], 1),
        ([asks("Tom"), "Ada| Ada goes north to Pump Square."], 1),
        ([asks("Tom"), "~say There is.", asks("Tom")], 3),
        # Two alone: whatever one says is for the other.
        ([WIND, 'Tom| Tom says, "Is there soup?"'], 2),
        (["Ada| Ada arrives from the Quay.", 'Tom| Tom says, "Is there soup?"'], None),
    ],
)
def test_who_waits(lines, number):
    assert open_exchange(life(*lines), "Mira") == number


def test_who_goes_waits_no_more():
    asked, went = life(asks("Tom"), "Tom| Tom goes north to Pump Square.")
    assert open_exchange([asked, replace(went, event="traverse")], "Mira") is None


def test_an_open_promise_holds_the_memory_in_which_it_was_made():
    lines = [asks("Tom"), "~say I will bring you soup.", WIND, WIND]
    assert open_exchange(life(*lines), "Mira") is None
    assert open_exchange(life(*lines), "Mira", {2}) == 2
    assert open_exchange(life(*lines), "Mira", {9}) is None
    assert open_exchange(life(*lines, *[WIND] * FARTHEST), "Mira", {2}) is None, "for so long"


def test_nobody_keeps_the_whole_window_open():
    flood = life(*[asks(f"Tom{chr(97 + n % 26)}", "?" * 900) for n in range(500)])
    assert open_exchange(flood, "Mira") == 500 - FARTHEST + 1


_LINES = st.sampled_from(
    [
        *(asks("Tom"), asks("Ada"), WIND, "~say Yes, Tom.", "~say I will bring it, Ada.", "~look"),
        *(
            "~give cup to Tom",
            "~whisper Ada = No.",
            "Tom| Tom goes north to the Quay.",
            "~",
            "Tom| ",
        ),
    ]
) | st.text(max_size=40)


@given(st.lists(_LINES, max_size=60), st.integers(1, 900))
def test_it_is_bounded_and_points_into_the_window(lines, first):
    window = life(*lines, first=first)
    number = open_exchange(window, "Mira")
    assert number is None or window[-1].number - FARTHEST < number <= window[-1].number


@given(st.lists(_LINES, max_size=60))
def test_after_an_answer_by_name_nobody_waits(lines):
    window = [m for m in life(*lines) if "will" not in m.text]
    last = max([m.number for m in window], default=0)
    answer = life("~say Tom, Ada, yes.", first=last + 1)
    assert open_exchange([*window, *answer], "Mira") is None
