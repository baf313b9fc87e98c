"""Words are found in any form of their language, and not where they say nothing."""

from datetime import UTC, datetime

import pytest

from keepsake.language.languages import (
    forms_to_index,
    is_english,
    language_of,
    length_in_words,
    stem,
    stems_in,
    stop_words,
)
from keepsake.ports import FixedClock
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.index.words import WordIndex
from keepsake.recall.query import query_of, terms_in, terms_of
from keepsake.recall.search import MemorySearch

NOW = datetime(2026, 5, 14, 18, 30, tzinfo=UTC)
FORMS = {
    "de": ("Wo steht das Haus des Müllers?", "Die Häuser am Deich sind alle verkauft."),
    "es": ("¿Dónde están las barcas de Tom?", "La barca está en la playa."),
    "fr": ("Où sont les bateaux ?", "Le bateau est dans le port."),
    "it": ("Dove sono le finestre della cantina?", "La finestra è rotta nel mulino."),
    "nl": ("Waar zijn de boten van Tom?", "De boot is niet in de haven."),
    "pt": ("Onde estão as chaves da adega?", "A chave está com os barqueiros."),
}
"""A question with a word in one form, and a line with it in another that Porter's stems miss."""


def world(*lines: str) -> MemorySearch:
    """Return a search by words alone."""
    words = WordIndex()
    words.add(
        Document(f"memory:{n}", DocumentKind.MEMORY, text, NOW, n, n, "Ann", said=text)
        for n, text in enumerate(lines, 1)
    )
    clock = FixedClock(NOW)
    return MemorySearch(words, None, None, names=lambda: ["Tom", "Ann"], clock=clock)


def found(search: MemorySearch, question: str) -> dict[str, str]:
    """Return the reasons of each line that is found by words."""
    hits = search.search(question)
    assert hits is not None
    worded = {
        hit.document.text: [r for r in hit.reasons if r.startswith("words: ")] for hit in hits
    }
    return {text: reasons[0] for text, reasons in worded.items() if reasons}


@pytest.mark.parametrize("language", FORMS)
def test_a_word_is_found_in_another_form_of_its_language(language: str):
    question, line = FORMS[language]
    assert {language_of(question), language_of(line)} == {language}
    assert line in found(world("It rains.", line, "The soup is cold."), question)


def test_a_word_in_another_form_is_found_beside_a_line():
    # The neighbours of a line are indexed with it, with their forms.
    asks = "Und was kosten die Häuser heute?"
    search = world("It rains.", asks, "Viertausend.", "The soup is cold.", "No.")
    hits = search.search("Was kostet das Haus?", limit=2)
    assert hits is not None
    assert {hit.document.text for hit in hits} == {asks, "Viertausend."}


def test_text_without_spaces_is_found_by_pairs_of_characters_and_says_so():
    line = "大工は屋根の瓦を三枚直した。"
    search = world("今日は雨です。", line, "スープが冷めた。")
    assert terms_of("大工の瓦", ()) == ("大工", "工の", "の瓦")
    assert "大工" in found(search, "大工は何を直した?")[line]
    assert "直し" in found(search, "大工は何を直した?")[line]
    # A word among those without spaces is no substring of a word with spaces.
    assert terms_in("The 大工 came.", {"大工": "大工", "came": "came"}) == ["大工", "came"]


def test_lines_without_spaces_have_a_length():
    assert length_in_words("The old mill is sold.") == 4
    assert length_in_words("大工は屋根の瓦を三枚直した。") == 7
    assert length_in_words("Die Mühle ist verkauft.") == 3


def test_a_stop_word_of_one_language_is_a_word_of_another():
    lines = (
        "Die Fähre kommt heute nicht.",
        "She had to die in March.",
        "Der Würfel heißt auf Englisch die.",
    )
    assert [*found(world(*lines), "When did Lotte die?")] == ["She had to die in March."]
    assert [*found(world(*lines), "Kommt die Fähre?")] == ["Die Fähre kommt heute nicht."]


def test_a_german_question_keeps_its_nouns_and_an_english_one_loses_unknown_names():
    asked = query_of("Welchen Schaden am Dach hat der Tischler behoben?", (), NOW)
    assert (asked.language, asked.nameless) == ("de", ())
    asked = query_of("What did Anneke tell of Liesbet?", (), NOW)
    assert (asked.language, asked.nameless) == ("en", ("What did tell of ?",))


def test_english_lines_are_indexed_as_before():
    assert forms_to_index("The ferries died, and the Fähre stays.", "en") == ""
    assert forms_to_index("Die Häuser.", "de") == "die haus"
    assert forms_to_index("三枚", "en") == "三 枚"


def test_stems_are_those_of_each_language_and_english_keeps_its_own():
    assert stem("Häuser", "de") == stem("Haus", "de") == "haus"
    assert stem("barcas", "es") == stem("barca", "es")
    assert stem("walking", "en") == "walk"
    assert stems_in("Die Häuser", "de") == {"die", "haus"}
    for language in stop_words():
        assert stem("test", language)  # every language with stop words has a stemmer


@pytest.mark.parametrize(
    ("code", "english"), [("en-us", True), ("EN_GB", True), ("de", False), ("eng", False)]
)
def test_english_is_told_by_the_first_part_of_a_code(code: str, english: bool):
    assert is_english(code) is english
