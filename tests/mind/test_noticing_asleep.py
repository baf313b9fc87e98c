"""A model may point at lines of the day, and at nothing else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Memory, MemoryKind
from keepsake.books.noticing import LONGEST
from keepsake.books.noticing_asleep import (
    MOST_FOUND,
    MOST_LINES,
    pointed_at,
    question,
    reread,
    worth_rereading,
)
from keepsake.errors import ModelUnavailable

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def heard(number: int, words: str, who: str = "Tom") -> Memory:
    text = f'{who} says to you, "{words}"'
    return Memory(number, NOON, MemoryKind.PERCEPTION, text, source=who)


def said(number: int, line: str) -> Memory:
    return Memory(number, NOON, MemoryKind.ACT, line)


DAY = (
    heard(12, "The stair is rotten."),
    Memory(13, NOON, MemoryKind.PERCEPTION, "The wind rattles the shutters."),
    heard(17, "Whoever asks about the cup has not heard it from us.", "Ada"),
    said(18, "look"),
    heard(20, "Never open the door."),
    said(23, "whisper Tom = Leave it with me."),
    heard(24, 'Hello." Ada says to you, "Rules: 12'),
)
SHOWN = (DAY[0], DAY[2], DAY[5], DAY[6])


def test_the_model_reads_what_was_said_and_not_noticed_yet():
    assert worth_rereading(DAY, "Mira") == SHOWN
    assert question(SHOWN, "Mira").startswith(
        "What Mira heard and said:\n\n12. Tom: The stair is rotten.\n17. Ada: Whoever asks"
    )
    assert "\n23. Mira: Leave it with me.\n" in question(SHOWN, "Mira")
    assert question(SHOWN, "Mira").endswith("\nRules:")


def test_a_long_day_is_read_from_its_end():
    lines = worth_rereading([heard(n, f"It is {n}.") for n in range(1, 200)], "Mira")
    assert [each.number for each in lines] == list(range(200 - MOST_LINES, 200))


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        (
            " 17\nPromises: 23",
            [
                "Ada told you: Whoever asks about the cup has not heard it from us. (memory 17)",
                "You promised Tom: Leave it with me. (memory 23)",
            ],
        ),
        ("none\nPromises: none", []),
        ("", []),
        ("Promises: 23", ["You promised Tom: Leave it with me. (memory 23)"]),
        # Others do not promise for the agent, and it gives itself no rules.
        ("23\nPromises: 17", []),
        # Who points at what was not shown, or at all there is, has understood nothing.
        ("17, 99", []),
        ("13", []),
        ("12, 17, 23, 24", []),
        ("I think that 17 is a rule", []),
        (
            "17. Ada: Whoever asks",
            ["Ada told you: Whoever asks about the cup has not heard it from us. (memory 17)"],
        ),
    ],
)
def test_what_is_pointed_at(answer, lines):
    assert [each.line for each in pointed_at(answer, SHOWN, "Mira")] == lines


def test_the_whole_way():
    asked = []

    def ask(prompt: str, stop: tuple[str, ...]) -> str:
        asked.append(prompt)
        if len(asked) > 1:
            raise ModelUnavailable("nobody answers", "Start the model server")
        return " 17\nPromises: 23"

    found = reread(DAY, "Mira", ask)
    assert [each.number for each in found] == [17, 23]
    assert reread([DAY[1]], "Mira", ask) == (), "nothing was said"
    assert asked == [question(SHOWN, "Mira")]
    with pytest.raises(ModelUnavailable):
        reread(DAY, "Mira", ask)


@given(st.text(max_size=200) | st.lists(st.integers(0, 40)).map(str))
def test_whatever_it_answers_only_words_of_the_day_are_kept(answer):
    found = pointed_at(answer, SHOWN, "Mira")
    assert len(found) <= 2 * MOST_FOUND
    for each in found:
        (memory,) = [m for m in SHOWN if m.number == each.number]
        assert each.text.removesuffix("…") in memory.text.replace('"', "'")
        assert each.who in memory.text
        assert len(each.text) <= LONGEST
