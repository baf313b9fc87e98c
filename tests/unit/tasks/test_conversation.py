"""The window as a conversation."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.forgetting import FORGOTTEN
from keepsake.archive.records import Memory, MemoryKind
from keepsake.memory.summary_text import numbered
from keepsake.tasks.conversation import turns_of

START = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
HEARD, ACT, RESULT = MemoryKind.PERCEPTION, MemoryKind.ACT, MemoryKind.RESULT


def window(*lines: tuple[MemoryKind, str], minutes: int = 1) -> list[Memory]:
    step = timedelta(minutes=minutes)
    return [
        Memory(n, START + n * step, kind, text, place="The Kettle")
        for n, (kind, text) in enumerate(lines, start=1)
    ]


def test_what_happened_is_the_users_and_what_it_did_the_assistants():
    turns = turns_of(
        window(
            (HEARD, "Jonas comes in from the quay."),
            (HEARD, 'Jonas says to you, "The tide took two of my planks."'),
            (ACT, "say Then it owes you two planks, Jonas."),
            (ACT, "say Sit down."),  # its sentences came apart
            (ACT, "emote fills a bowl"),
            (ACT, "give bowl to Jonas"),
            (ACT, "wait"),
            (RESULT, "You give the bowl to Jonas."),
        )
    )
    assert [turn.role for turn in turns] == ["user", "assistant", "user"]
    assert turns[0].lines[0].endswith("The Kettle]")
    assert turns[0].lines[1:] == [
        "Jonas comes in from the quay.",
        'Jonas says to you, "The tide took two of my planks."',
    ]
    assert turns[1].lines == [
        "Then it owes you two planks, Jonas. Sit down.",
        "*fills a bowl*",
        "> give bowl to Jonas",
        "> wait",
    ]
    assert turns[2].lines == ["You give the bowl to Jonas."]


def test_what_was_forgotten_stands_neither_in_the_window_nor_before_a_summary():
    gone = replace(window((ACT, FORGOTTEN))[0], number=9, event=FORGOTTEN)
    lived = window((HEARD, "Rain."), (ACT, "say Dry enough in here."))
    assert turns_of([*lived, gone]) == turns_of(lived)
    assert numbered([gone, *lived]) == numbered(lived)
    assert numbered([gone])


@given(
    st.lists(st.tuples(st.sampled_from([HEARD, ACT, RESULT]), st.sampled_from("abc")), max_size=20)
)
def test_roles_alternate_and_a_longer_window_begins_with_the_shorter(lines):
    life = window(*((kind, f"say {text}" if kind is ACT else text) for kind, text in lines))
    turns = turns_of(life)
    roles = [turn.role for turn in turns]
    assert roles == [("user", "assistant")[at % 2] for at in range(len(roles))]
    for length in range(len(life)):
        if before := turns_of(life[:length]):
            assert turns[: len(before) - 1] == before[:-1], "all but the turn that goes on"
            last, longer = ("\n".join(each.lines) for each in (before[-1], turns[len(before) - 1]))
            assert longer.startswith(last)
