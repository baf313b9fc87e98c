"""Who said what to whom, and who waits for an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.archive.records import MemoryKind
from keepsake.memory.plan import open_exchange
from tests.memories import old_memory
from tests.sentences import table
from tests.unit.mind.fake_agent import EVENING, memories_of


def asks(who: str, words: str = "Is there soup?") -> str:
    return f'{who}| {who} says to you, "{words}"'


@pytest.mark.parametrize(("text", "source", "said"), table("who said what"))
def test_the_speaker_words_and_addressee_are_parsed(text, source, said):
    memory = old_memory(1, EVENING, MemoryKind.PERCEPTION, text, source=source)
    read = memory.heard and (memory.heard.speaker.name, memory.heard.words, memory.heard.to_name)
    assert read == ((*said, "")[:3] if said else None)
    assert not source or memory.line.count('"') in (0, 2), "quotes forge no speaker"


@pytest.mark.parametrize(("lines", "number"), table("open questions"))
def test_the_oldest_open_question_is_found(lines, number):
    assert open_exchange(memories_of(*lines), "Mira") == number


def test_a_question_is_closed_when_the_asker_leaves():
    asked, went = memories_of(asks("Tom"), "Tom| Tom goes north to Pump Square.")
    assert open_exchange([asked, replace(went, event="traverse")], "Mira") is None
