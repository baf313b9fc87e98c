"""What is going on: who waits, what was promised, and no more than that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.archive.records import Memory, MemoryKind
from keepsake.language.heard import Utterance, heard
from keepsake.memory.plan import FARTHEST, open_exchange
from tests.sentences import table
from tests.unit.mind.lives import EVENING, lived


def asks(who: str, words: str = "Is there soup?") -> str:
    return f'{who}| {who} says to you, "{words}"'


WIND = "The wind rattles the shutters."


@pytest.mark.parametrize(("text", "source", "said"), table("who said what"))
def test_who_said_what_to_whom(text, source, said):
    memory = Memory(1, EVENING, MemoryKind.PERCEPTION, text, source=source)
    assert heard(memory) == (Utterance(*said) if said else None)
    assert not source or memory.line.count('"') in (0, 2), "nobody speaks within another's words"


@pytest.mark.parametrize(("lines", "number"), table("who waits"))
def test_who_waits(lines, number):
    assert open_exchange(lived(*lines), "Mira") == number


def test_who_goes_waits_no_more_and_a_promise_holds_the_memory_in_which_it_was_made():
    asked, went = lived(asks("Tom"), "Tom| Tom goes north to Pump Square.")
    assert open_exchange([asked, replace(went, event="traverse")], "Mira") is None
    lines = [asks("Tom"), "~say I will bring you soup.", WIND, WIND]
    assert open_exchange(lived(*lines), "Mira") is None
    assert open_exchange(lived(*lines), "Mira", {2}) == 2
    assert open_exchange(lived(*lines), "Mira", {9}) is None
    assert open_exchange(lived(*lines, *[WIND] * FARTHEST), "Mira", {2}) is None, "for so long"
