"""What a question says about itself, in the languages whose words are known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from keepsake.archive.records import MemoryKind
from keepsake.happening import Person
from keepsake.lab.memories.plain import LineIndex
from keepsake.language.languages import number_of_words, telling_terms
from keepsake.language.questions import asks_of_oneself, asks_when, names_a_day
from keepsake.ports import FixedClock
from keepsake.recall.documents import memory_document
from keepsake.recall.index.words import WordIndex
from keepsake.recall.search import MemorySearch
from keepsake.recall.times import mentions_time
from tests.fakes.embedder import BagOfWords
from tests.memories import old_memory

NOON = datetime(2026, 5, 14, 12, 0, tzinfo=UTC)
TOM = Person("Tom", "41-1")
OWN = {
    "en": "What do I like for breakfast?",
    "de": "Was esse ich zum Frühstück?",
    "es": "¿Qué me gusta para el desayuno?",
    "fr": "Qu'est-ce que j'aime au petit déjeuner ?",
    "it": "Che cosa mi piace per la colazione?",
    "nl": "Wat eet ik graag bij het ontbijt?",
    "pt": "O que é que eu gosto de comer?",
    "ja": "私は朝ごはんに何を食べますか？",
}
OF_OTHERS = {
    "en": "What does the miller like for breakfast?",
    "de": "Was isst der Müller zum Frühstück?",
    "es": "¿Qué desayuna el molinero de la aldea?",
    "fr": "Que mange le meunier dans son moulin ?",
    "it": "Dove sono i cani della vecchia?",
    "nl": "Wat eet de molenaar bij het ontbijt?",
    "pt": "O que é que o moleiro come?",
    "ja": "粉屋は朝ごはんに何を食べますか？",
}
WHEN = {
    "en": "When did the ferry come?",
    "de": "Wann kam die Fähre an?",
    "es": "¿Cuándo llegó el barco a la isla?",
    "fr": "Quel jour est-ce que le bac est arrivé ?",
    "it": "In che giorno è arrivata la barca?",
    "nl": "Wanneer is de boot gekomen?",
    "pt": "Em que dia o barco chegou?",
    "ja": "船はいつ着きましたか？",
}
TIMES = {
    "de": "Die Fähre kam am Dienstag.",
    "es": "El barco llegó el martes.",
    "fr": "Le bac est arrivé hier.",
    "it": "La barca è arrivata martedì.",
    "nl": "De boot is gisteren gekomen.",
    "pt": "O barco já chegou ontem.",
    "ja": "船は昨日着きました。",
}
NO_TIMES = {
    "de": "Die Fähre kam an.",
    "es": "El barco llegó a la isla.",
    "fr": "Le bac est arrivé.",
    "ja": "船は着きました。",
}
NAMED = {
    "de": ("Was mag ich?", "Ich mag Pflaumen.", "Ich mag Birnen."),
    "es": ("¿Qué me gusta?", "Me gustan las ciruelas.", "Me gustan las peras."),
    "ja": ("私は何が好きですか？", "すももが好きです。", "なしが好きです。"),
}


@pytest.mark.parametrize("language", OWN)
def test_a_question_about_oneself_is_told_from_one_about_others(language):
    assert asks_of_oneself(OWN[language])
    assert not asks_of_oneself(OF_OTHERS[language])


@pytest.mark.parametrize("language", WHEN)
def test_a_question_for_a_time_is_told_from_others(language):
    assert asks_when(WHEN[language])
    assert not asks_when(OWN[language])


@pytest.mark.parametrize("language", TIMES)
def test_an_answer_that_says_when_is_told_from_others(language):
    assert mentions_time(TIMES[language])
    assert not names_a_day(NO_TIMES.get(language, OWN[language]))


def test_an_english_clause_with_when_asks_for_no_time():
    assert not asks_when("What did you say when the bell rang?")


@pytest.mark.parametrize("language", NAMED)
def test_what_the_asker_told_of_themselves_is_found_first(language):
    question, own, of_another = NAMED[language]
    words = WordIndex()
    embedder = BagOfWords()
    index = LineIndex(embedder, words.add)
    for number, (who, said) in enumerate((("Tom", own), ("Ann", of_another)), 1):
        line = f'{who} says to you, "{said}"'
        time = NOON + timedelta(minutes=number)
        memory = old_memory(number, time, MemoryKind.PERCEPTION, line, source=who, event="talk")
        index.add(memory_document(memory, "Mira"))
    index.flush()
    clock = FixedClock(NOON + timedelta(days=2))
    search = MemorySearch(words, index, embedder, names=lambda: ["Tom", "Ann"], clock=clock)
    hits = search.search(question, asker=TOM)
    assert hits is not None
    assert [hit.document.speaker for hit in hits] == ["Tom", "Ann"]


def test_words_of_a_script_without_spaces_are_counted_as_such():
    japanese = telling_terms("昨日の夜は市場で買った魚を焼きました")
    english = telling_terms("Yesterday night grilled fish, bought market")
    assert number_of_words(english) == 6.0
    assert 5.0 < number_of_words(japanese) < 10.0
    assert not telling_terms("昨日の夜").difference(japanese)
