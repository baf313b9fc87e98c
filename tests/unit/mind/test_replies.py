"""What was answered to a line, in a room where others talk, too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from keepsake.agent.memory.search_results import results_to_show
from keepsake.agent.memory.telling import tells
from keepsake.agent.settings import RecallConfig
from keepsake.agent.turns.prompts.excerpts import excerpts_of
from keepsake.archive.message_types import MessageType
from keepsake.archive.records import Memory
from keepsake.archive.replies import REACH, goes_on, replies_to
from keepsake.happening import ME, Person, Sight, Speech
from keepsake.language.tokens import estimate_tokens
from keepsake.memory.types import MemoryContext
from keepsake.recall.documents import Hit, memory_document
from keepsake.recall.finding import SearchResult
from keepsake.tasks.forms.form import PromptLimits

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
TOM = Person("Tom", "41-1")
ANN = Person("Ann", "42-1")
NELL = Person("Nell", "43-1")


def said(number: int, speaker: Person, to: Person | None, words: str) -> Memory:
    what = Speech(speaker=speaker, words=words, to=(to,) if to else ())
    return Memory(number, NOON + timedelta(seconds=5 * number), what, place="The Inn")


def numbered(*memories: Memory) -> dict[int, Memory]:
    return {each.number: each for each in memories}


ASKED = said(1, TOM, ME, "Who has the dog now?")
OF_OTHERS = said(2, ANN, NELL, "Is there soup?")
ARRIVAL = Memory(3, NOON, Sight(shown="Ann arrives."), place="The Inn", event=MessageType.LOGIN)
ANSWER = said(4, ME, TOM, "Fenna has it.")
MORE = said(5, ME, TOM, "In Farmsum.")
ROOM = numbered(ASKED, OF_OTHERS, ARRIVAL, ANSWER, MORE)


def test_the_answer_is_the_next_words_of_who_was_asked_to_who_asked() -> None:
    assert replies_to(ASKED, ROOM) == (4, 5)
    assert replies_to(OF_OTHERS, ROOM) == ()


def test_an_answer_ends_where_who_asked_speaks_again() -> None:
    again = said(5, TOM, ME, "And where?")
    later = said(6, ME, TOM, "In Farmsum.")
    assert replies_to(ASKED, ROOM | numbered(again, later)) == (4,)


def test_what_was_said_to_all_is_answered_by_anybody() -> None:
    asked = said(1, TOM, None, "Who has the dog now?")
    assert replies_to(asked, numbered(asked, said(2, ANN, TOM, "Fenna."))) == (2,)


def test_what_comes_much_later_is_no_answer() -> None:
    late = said(REACH + 2, ME, TOM, "Fenna has it.")
    assert replies_to(ASKED, numbered(late)) == ()


def test_a_speech_of_two_lines_goes_on() -> None:
    assert goes_on(ANSWER, ROOM) == (5,)
    assert goes_on(ASKED, ROOM) == ()


def test_a_question_tells_something_if_it_was_answered_some_lines_later() -> None:
    assert tells(ASKED, ROOM, "Mira")
    assert not tells(OF_OTHERS, ROOM, "Mira")


def test_an_excerpt_has_the_answer_behind_the_talk_of_others_and_no_arrivals() -> None:
    hit = Hit(memory_document(ASKED, "Mira"), 9.0)
    shown = results_to_show(
        SearchResult((hit,), tuple(ROOM.values())),
        MemoryContext(None, None, ()),
        RecallConfig(),
        limits=PromptLimits(shows_excerpts=True),
        beside=(),
        agent="Mira",
        count=estimate_tokens,
        now=NOON,
    )
    (excerpt,) = excerpts_of(shown, lambda person: person.name, NOON)
    told = 'Tom: "Who has the dog now?" / … / you: "Fenna has it." / you: "In Farmsum."'
    assert excerpt.text.endswith(told)
    assert excerpt.numbers == (1, 4, 5)
