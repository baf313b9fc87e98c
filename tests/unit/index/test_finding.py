"""What a search for a plan finds outside the window, with a real index."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keepsake.archive.privacy import NO_PRIVATE_WORDS, PrivateWords
from keepsake.archive.records import Memory
from keepsake.happening import ME, Manner, Person, Speech
from keepsake.ports import FixedClock
from keepsake.recall.documents import Hit, memory_document
from keepsake.recall.finding import Finder, SearchResult, Wanted
from tests.fakes.embedder import BagOfWords
from tests.unit.index.conftest import DAWN, AgentFolder, Opener, sync

ERRAND = "go to the quay and look how the tide stands; look whether the ferry lies at the stage"
LIKE_IT = (
    'Tom says to Nell, "Go to the quay and look how high the tide stands, then tell me."',
    'Tom says to Joss, "Look whether the ferry lies at the stage, and ask when it goes."',
)
KEY = 'Tom says, "I lost a brass key at the old mill."'


@pytest.fixture
def find(agent: AgentFolder, reopen: Opener):
    """Adds lines, the last of them the window; returns a function that finds what bears."""

    def find(text: str, *lines: str) -> list[str]:
        agent.add_many(12)
        agent.add(*lines)
        index = reopen()
        sync(index)
        finder = Finder(
            "Mira",
            index,
            BagOfWords(),
            names=lambda: ["Tom", "Nell", "Joss"],
            private=PrivateWords,
            clock=FixedClock(DAWN + timedelta(days=1)),
            complain=lambda problem: pytest.fail(str(problem)),
        )
        wanted = Wanted(
            memories=18,
            summaries=0,
            notes=0,
            before=agent.archive.last_number,
            wants_answer=True,
            seconds=10.0,
        )
        found = finder.find(text, wanted, audience=NO_PRIVATE_WORDS)
        assert found is not None
        return [hit.document.text for hit in found.hits if hit.bears]

    return find


def test_other_errands_do_not_bear_on_one_whose_request_is_in_the_window(find):
    assert find(ERRAND, *LIKE_IT, f'Tom says to you, "Please {ERRAND}, and tell me both."') == []


def test_what_a_plan_needs_to_know_is_found(find):
    assert find("look for the brass key", *LIKE_IT, KEY, 'Tom says to you, "Do it."') == [KEY]


def test_without_its_request_in_the_window_what_is_like_a_plan_is_the_best_there_is(find):
    assert find(ERRAND, *LIKE_IT, 'Tom says to you, "Do it."')


def test_what_was_found_for_one_audience_is_not_shown_to_another():
    dorte = Person("Dorte", "74-1")
    words = "I call it Pilchard."
    shown = f'Dorte whispers to you, "{words}"'
    whisper = Speech(speaker=dorte, words=words, to=(ME,), manner=Manner.WHISPER, shown=shown)
    memory = Memory(5, DAWN, whisper, place="The Kettle", witnesses=(dorte.id,))
    private = PrivateWords()
    private.add(memory)
    found = SearchResult((Hit(memory_document(memory, "Joss"), 1.0),), (memory,))
    assert found.heard_by(private, frozenset({dorte.id})) == found
    others = found.heard_by(private, frozenset({"75-1"}))
    assert others.hits == ()
    assert words not in str(others.around)


def test_a_line_that_the_prompt_leaves_out_is_found_and_one_that_it_shows_is_not(agent, reopen):
    aside = 'Tom says to Nell, "My brother Edwin mends nets in Ostrey."'
    shown = 'Tom says to you, "Edwin is my brother, and mends nets."'
    agent.add_many(12)
    agent.add(aside, shown)
    agent.add_many(12)
    index = reopen()
    sync(index)
    finder = Finder(
        "Mira",
        index,
        None,
        names=lambda: ["Tom", "Nell", "Edwin"],
        private=PrivateWords,
        clock=FixedClock(DAWN + timedelta(days=1)),
        complain=lambda problem: pytest.fail(str(problem)),
    )
    for sought in (False, True):
        wanted = Wanted(
            memories=18,
            summaries=0,
            notes=0,
            before=20,
            shown=frozenset({14}),
            excerpts=True,
            wants_answer=sought,
            seconds=10.0,
        )
        found = finder.find("Where does Edwin mend nets?", wanted, audience=NO_PRIVATE_WORDS)
        numbers = {hit.document.first for hit in found.hits}
        assert 13 in numbers
        assert 14 not in numbers
        assert 14 not in {each.number for each in found.around}
