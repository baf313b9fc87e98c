"""Which lines about typed words mean them, as somebody says who read them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keepsake.archive.records import Memory, MemoryKind
from keepsake.tracing.typed.choice import AS_FOUND, LineChoice
from keepsake.tracing.typed.strands import Strand
from keepsake.tracing.wording import Wording
from tests.memories import old_memory

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def line(number: int) -> Memory:
    return old_memory(number, NOON, MemoryKind.PERCEPTION, f'Tom says, "Line {number}."')


def strand(key: str, *numbers: int, likely: bool) -> Strand:
    memories = [line(each) for each in numbers]
    return Strand({key: memories}, likely=likely, lead=(key, memories[0]))


def test_a_strand_is_chosen_by_any_of_its_lines():
    about = [
        strand("1", 3, 4, likely=True),
        strand("1", 7, likely=False),
        strand("2", 4, likely=True),
    ]
    chosen = LineChoice(meant=[("1", 7)], other=[("1", 4)]).of(about)
    assert [(each.likely, each.refused) for each in chosen] == [
        (False, True),
        (True, False),
        (True, False),
    ]
    assert AS_FOUND.of(about) == about


def test_what_is_left_out_is_not_taken_in_as_well():
    (chosen,) = LineChoice(meant=[("1", 3)], other=[("1", 3)]).of([strand("1", 3, likely=True)])
    assert (chosen.likely, chosen.refused) == (False, True)


@pytest.mark.parametrize(
    ("typed", "text", "speaker", "written"),
    [
        ("Bob's watch", "Who has Bob's watch?", "Ann", True),
        ("Bob's watch", "Bob pays you to keep watch.", "Ann", False),
        ("Bob's watch", "Wren is on watch.", "Bob", False),
        ("Piet's 212 keys", "I have 212 keys.", "Piet", True),
        ("Piet's 212 keys", "I have 212 keys.", "Ann", False),
        ("watch", "My watches stand still.", "Bob", True),
        ("spoon | 212 keys", "Here are 212 keys.", "Ann", True),
    ],
)
def test_words_are_written_as_they_were_typed(typed, text, speaker, written):
    assert Wording.of(typed).is_written_in(text, speaker) is written
