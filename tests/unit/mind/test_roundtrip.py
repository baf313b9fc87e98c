import itertools
from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Memory, MemoryKind
from keepsake.archive.verdicts import Rate, RoundtripQuestion
from keepsake.memory.roundtrip import GAP, answered, draw, rate
from tests.bench.talk import FACTS, talk
from tests.sentences import table

NOW = datetime(2026, 5, 1, tzinfo=UTC)
LISBET = RoundtripQuestion(
    'Tom said to me, "My sister ___ keeps bees at Corran Head."',
    "Lisbet",
    1,  # of before
)
BOATS = RoundtripQuestion("Ada: I counted ___ boats at the breakwater", "19", 2)


def memories(*texts: str, kind: MemoryKind = MemoryKind.PERCEPTION) -> list[Memory]:
    return [Memory(number, NOW, kind, text) for number, text in enumerate(texts, start=1)]


def said(*texts: str, by: str = "Tom") -> list[Memory]:
    return memories(*(f'{by} says to you, "{text}"' for text in texts))


def evening(seed: int, count: int = 128, facts: int = 10) -> list[Memory]:
    random = Random(seed)
    lines = list(itertools.islice(talk(random), count))
    for fact in random.sample(FACTS, facts):
        lines[random.randrange(count)] = fact.line
    return [Memory(n, NOW, line.kind, line.text) for n, line in enumerate(lines, start=1)]


# -- drawing


@pytest.mark.parametrize(("said_line", "question", "answer"), table("gaps"))
def test_a_name_a_number_or_a_rare_word_is_asked_for(said_line, question, answer):
    for lived in (said(said_line), said(*[said_line] * 5)):  # the same sentence once
        assert RoundtripQuestion(question, answer, 1) in [*draw(lived), *draw(lived[:1])]


@pytest.mark.parametrize("text", table("no gaps"))
def test_what_tells_too_little_or_gives_itself_away_is_not_asked(text):
    assert draw(said(text)) == ()


@pytest.mark.parametrize("seed", range(6))
def test_an_evening_gives_eight_spread_over_all_of_it(seed):
    lived = evening(seed)
    questions = draw(lived)
    numbers = [question.number for question in questions]
    assert len(questions) == 8
    assert numbers == sorted(set(numbers))
    assert max(numbers) - min(numbers) > 64
    assert len({question.answer for question in questions}) == 8
    assert draw(lived) == questions
    for question in questions:
        assert question.text.count(GAP) == 1
        assert question.answer.casefold() not in question.text.casefold().split()
        assert answered(question, [lived[question.number - 1].text])


# -- answering


@pytest.mark.parametrize(("about", "text"), table("beside what it is about"))
def test_an_answer_beside_what_it_is_about_counts(about, text):
    assert answered({"LISBET": LISBET, "BOATS": BOATS}[about], ["So.", text])


def test_a_chance_word_does_not():
    for about, question in (("LISBET", LISBET), ("BOATS", BOATS)):
        chance = [text for which, text in table("chance words") if which == about]
        assert chance
        assert not answered(question, chance), "nor do two lines together"


# -- the rate


def test_the_rate_counts_prompt_and_recall_apart():
    searched = []

    def search(text):
        searched.append(text)
        return ["Ada saw 19 boats near the breakwater."]

    found = rate([LISBET, BOATS], ["Tom told me that his sister is called Lisbet."], search)
    assert found == Rate(asked=2, prompt=1, recalled=2)
    assert searched == [BOATS.text]


@given(st.lists(st.text(st.sampled_from('Tom says, "Lisbet twenty 5 a boat. ~>\'"'), max_size=60)))
def test_every_question_is_answered_by_its_own_memory(texts):
    drawn = memories(*(f'Tom says, "{text}"' for text in texts))
    for question in draw(drawn):
        assert answered(question, [drawn[question.number - 1].text])
