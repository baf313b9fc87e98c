"""Which memories of the window bear on an act."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.agent.why.basis import PromptSource
from keepsake.agent.why.why import Why
from keepsake.archive.log import Archive
from keepsake.archive.records import MemoryKind
from keepsake.events.values import RecalledKind
from keepsake.happening import ME, Deed, KnownVerb, Person, Sight, Speech
from keepsake.web.questions.bearing import (
    BEFORE,
    MOST,
    bearing_on,
    just_before,
    promises_in,
    quoted_in,
    recalled_for,
    resting_on,
)
from tests.memories import old_memory

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
SAID = (
    "Anneke whispers to you, Bob must not know where I am going.",
    "The rain stops.",
    "Bob asks after Anneke and the ferry.",
    "Wren sorts her sea glass.",
    "Bob says to you, Where is Anneke going?",
    *("The fire crackles." for _ in range(BEFORE)),
)
LAST = len(SAID)


@pytest.fixture
def archive(tmp_path):
    """An archive with what Mira heard, and her act after it."""
    made = Archive(tmp_path)
    for number, text in enumerate(SAID, 1):
        at = NOW + timedelta(seconds=number)
        made.append(old_memory(number, at, MemoryKind.PERCEPTION, text).to_record())
    yield made
    made.close()


def why(archive, text="say Ask her yourself, Bob.", window=(1, LAST), **facts):
    """Return what led to an act of Mira's after all that she heard."""
    act = replace(old_memory(6, NOW, MemoryKind.ACT, text), **facts)
    (cause,) = archive.read(5, 5)
    return Why(
        agent="Mira", nth=1, time=NOW, command=text, reason="", act=act, cause=cause, window=window
    )


def numbers(found):
    return [each.number for each in found]


def test_the_likeliest_guess_shares_most_words_and_comes_first(archive):
    assert numbers(bearing_on(archive, why(archive))) == [3, 1]


def test_a_single_word_is_no_reason_to_guess(archive):
    act = why(archive, text="say Wren, look.")
    assert numbers(bearing_on(archive, replace(act, cause=None))) == []


def test_who_comes_and_goes_is_no_reason(archive):
    coming = old_memory(LAST + 1, NOW, MemoryKind.PERCEPTION, "Bob arrives with Anneke.")
    archive.append(replace(coming, event="move").to_record())
    assert LAST + 1 not in numbers(bearing_on(archive, why(archive, window=(1, LAST + 1))))


def test_what_the_act_rests_on_is_known_and_no_guess(archive):
    act = why(archive, rests_on=(1, 4, 5))
    assert numbers(resting_on(archive, act)) == [1, 4]  # what set it off stands by itself
    assert numbers(bearing_on(archive, act)) == [3]


def test_rare_words_count_more_than_those_that_many_share(archive):
    for number in range(LAST + 1, 40):
        line = old_memory(number, NOW, MemoryKind.PERCEPTION, f"Bob asks for pebble {number}.")
        archive.append(line.to_record())
    found = numbers(bearing_on(archive, why(archive, "say Ask her, Bob.", window=(1, 39))))
    assert len(found) == MOST
    assert found[:2] == [3, 1]


def test_what_was_recalled_is_not_named_again(archive):
    act = why(archive, rests_on=(1, 3, 5, LAST))
    assert numbers(just_before(archive, act)) == [*range(LAST - BEFORE + 1, LAST + 1)]
    (told,) = archive.read(1, 1)
    source = PromptSource(kind=RecalledKind.MEMORY, n=1, score=0.0, why="", memory=told)
    assert numbers(resting_on(archive, replace(act, recalled=(source,)))) == [3, LAST]


def test_what_set_it_off_stands_by_itself(archive):
    assert numbers(just_before(archive, why(archive, window=(1, 5)))) == [1, 2, 3, 4]


def test_an_act_without_a_prompt_has_no_window(archive):
    assert bearing_on(archive, why(archive, window=None)) == ()


def promise(archive, number, who, what):
    """Mira promises somebody something."""
    deed = Deed(
        actor=ME,
        verb=KnownVerb.PROMISE,
        objects=(what,),
        to=(Person(who, f"{who}-1"),),
        shown=f"promise {who}: {what}",
    )
    made = replace(old_memory(number, NOW, MemoryKind.ACT, deed.shown), what=deed)
    archive.append(made.to_record())


def test_a_promise_of_the_prompt_to_whom_it_answers_bears_on_the_act(archive):
    promise(archive, LAST + 1, "Bob", "keep him a bed")
    promise(archive, LAST + 2, "Wren", "find her a green glass")
    promise(archive, LAST + 3, "Anneke", "hide that the ferry takes her to Harlen")
    promise(archive, LAST + 4, "Bob", "wake him at six")
    act = why(archive, "say The ferry does not go to Harlen.")
    done = replace(act.act, number=LAST + 5)
    cause = replace(act.cause, what=Sight(source=Person("Bob", "Bob-1"), shown=act.cause.text))
    act = replace(act, act=done, cause=cause)
    prompt = (
        "promise to Bob: keep him a bed\npromise to Anneke: hide that the ferry takes her to Harlen"
    )
    assert numbers(promises_in(archive, act, prompt)) == [LAST + 3, LAST + 1]
    assert numbers(promises_in(archive, act, "")) == []


def test_what_the_prompt_quoted_of_whom_it_answers_is_known_from_the_prompt(archive):
    words = (
        "The money is in a blue sock, over the third bed.",
        "Nobody may sleep in it.",
        "I had a dog called Admiraal.",
    )
    anneke = Person("Anneke", "a-1")
    for number, said in enumerate(words, LAST + 1):
        speech = Speech(speaker=anneke, words=said, to=(ME,), shown=f'Anneke says, "{said}"')
        line = replace(old_memory(number, NOW, MemoryKind.PERCEPTION, speech.shown), what=speech)
        archive.append(line.to_record())
    first = LAST + len(words) + 1
    answer = Speech(speaker=ME, words="In a blue sock, over the bed.", to=(anneke,))
    act = why(archive, window=(first, first))
    act = replace(act, act=replace(act.act, number=first + 1, what=answer))
    page = f"Anneke told you: {words[0]} {words[2]}"
    assert numbers(quoted_in(archive, act, page)) == [LAST + 1]  # the dog has nothing to do with it
    assert quoted_in(archive, act, "") == ()
    assert quoted_in(archive, replace(act, window=(LAST + 1, first)), page) == []


def test_what_was_recalled_and_has_words_of_the_answer_comes_first(archive):
    words = (
        "Bob asks where Anneke goes.",
        "The ferry is late.",
        "Anneke goes to Harwich by the ferry.",
    )
    sources = tuple(
        PromptSource(kind=RecalledKind.MEMORY, n=n, score=9 - n, why="words", text=text)
        for n, text in enumerate(words, 1)
    )
    act = replace(why(archive, text="say To Harwich, Bob, by the ferry."), recalled=sources)
    found, explaining = recalled_for(act)
    assert ([each.n for each in found], explaining) == ([3, 2, 1], 2)
