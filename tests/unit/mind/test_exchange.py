"""What is going on: who waits, what was promised, and no more than that."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.heard import Utterance, heard
from keepsake.memory.plan import FARTHEST, open_exchange
from tests.sentences import table

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


@pytest.mark.parametrize(("text", "source", "said"), table("who said what"))
def test_who_said_what_to_whom(text, source, said):
    assert heard(Memory(1, START, MemoryKind.PERCEPTION, text, source=source)) == (
        Utterance(*said) if said else None
    )


@pytest.mark.parametrize(("lines", "number"), table("who waits"))
def test_who_waits(lines, number):
    assert open_exchange(life(*lines), "Mira") == number


def test_who_goes_waits_no_more_and_a_promise_holds_the_memory_in_which_it_was_made():
    asked, went = life(asks("Tom"), "Tom| Tom goes north to Pump Square.")
    assert open_exchange([asked, replace(went, event="traverse")], "Mira") is None
    lines = [asks("Tom"), "~say I will bring you soup.", WIND, WIND]
    assert open_exchange(life(*lines), "Mira") is None
    assert open_exchange(life(*lines), "Mira", {2}) == 2
    assert open_exchange(life(*lines), "Mira", {9}) is None
    assert open_exchange(life(*lines, *[WIND] * FARTHEST), "Mira", {2}) is None, "for so long"
