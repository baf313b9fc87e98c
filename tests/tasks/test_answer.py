"""How an answer is read: speech, gestures and deeds, whole or while it is being written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.tasks.answer import AnswerPart, AnswerReader, PartKind

SPEECH, EMOTE, DEED = PartKind.SPEECH, PartKind.EMOTE, PartKind.DEED


def whole(text: str, name: str = "Mira") -> list[tuple[PartKind, str]]:
    reader = AnswerReader(name)
    return [(part.kind, part.text) for part in [*reader.feed(f"{text}\n"), *reader.end()]]


def streamed(pieces: list[str], name: str = "Mira") -> list[tuple[PartKind, str]]:
    reader = AnswerReader(name)
    parts: list[AnswerPart] = [part for piece in pieces for part in reader.feed(piece)]
    return [(part.kind, part.text) for part in [*parts, *reader.end()]]


READ = {
    "words, a gesture and deeds": (
        "Then he told you.\n*takes her shawl from the hook*\n> give rosemary to Anneke\n> follow Anneke",  # noqa: E501
        [
            (SPEECH, "Then he told you."),
            (EMOTE, "takes her shawl from the hook"),
            (DEED, "give rosemary to Anneke"),
            (DEED, "follow Anneke"),
        ],
    ),
    "a gesture before words": ("*smiles* Sit down.", [(EMOTE, "smiles"), (SPEECH, "Sit down.")]),
    "a gesture behind a sentence": ("No. *shrugs* Perhaps.",
        [(SPEECH, "No."), (EMOTE, "shrugs"), (SPEECH, "Perhaps.")]),
    "a stressed word is spoken": ("I *never* do that.", [(SPEECH, "I *never* do that.")]),
    "a stressed first word too": ("*Never* do that.", [(SPEECH, "*Never* do that.")]),
    "a stressed last word too": ("You said *always*", [(SPEECH, "You said *always*")]),
    "the own name as a label": ("Mira: Good day.", [(SPEECH, "Good day.")]),
    "a label in bold": ("**Mira:** Good day.", [(SPEECH, "Good day.")]),
    "another's name is no label": ("Jonas: a good man.", [(SPEECH, "Jonas: a good man.")]),
    "quotes around the whole": ('"Good day."', [(SPEECH, "Good day.")]),
    "quotes around a part stay": ('"Sit," she said, "and eat."',
        [(SPEECH, '"Sit," she said, "and eat."')]),
    "guillemets inside stay": ("« Bonsoir », « pain ».", [(SPEECH, "« Bonsoir », « pain ».")]),
    "a fence": ("```\nGood day.\n```", [(SPEECH, "Good day.")]),
    "a separator of lines is a line end": ("One.\u2028Two.", [(SPEECH, "One."), (SPEECH, "Two.")]),
    "a character that turns the text around goes": ("Good \u202eday.", [(SPEECH, "Good day.")]),
    "another script": ("こんばんは。どうぞ。", [(SPEECH, "こんばんは。どうぞ。")]),
    "nothing": ("…", []),
}  # fmt: skip


@pytest.mark.parametrize(("text", "parts"), READ.values(), ids=READ)
def test_an_answer_is_read(text, parts):
    assert whole(text) == parts


def test_what_was_taken_off_is_told():
    reader = AnswerReader("Mira")
    reader.feed("Mira: Good day.\nSit down.\n")
    assert reader.altered == ["Mira: Good day."]


def test_the_first_sentence_is_there_before_the_rest():
    reader = AnswerReader("Mira")
    assert [part.text for part in reader.feed("Sit by the fire, Anneke. The so")] == [
        "Sit by the fire, Anneke."
    ]
    assert reader.feed("up is hot. And the bread is") == []
    assert [part.text for part in reader.end()] == ["The soup is hot. And the bread is"]


def test_a_title_does_not_end_a_sentence():
    reader = AnswerReader("Mira")
    assert reader.feed("Good evening, Mr. Smith and all") == []


@pytest.mark.parametrize("opening", ['"', "*", "> "])
def test_what_may_be_no_plain_speech_waits_for_its_line_end(opening):
    assert AnswerReader("Mira").feed(f"{opening}Good evening, Anneke. Sit") == []


def test_a_line_too_long_for_the_game_is_spoken_in_two():
    parts = whole("word " * 400)
    assert [kind for kind, _ in parts] == [SPEECH, SPEECH]
    assert " ".join(text for _, text in parts) == ("word " * 400).strip()


@given(st.sampled_from([text for text, _ in READ.values()]), st.integers(1, 7))
def test_however_it_comes_the_same_is_said_and_done(text, size):
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    said = streamed(pieces)
    for kind in (EMOTE, DEED):
        assert [t for k, t in said if k is kind] == [t for k, t in whole(text) if k is kind]
    spoken = "".join("".join(t.split()) for k, t in said if k is SPEECH)
    assert spoken == "".join("".join(t.split()) for k, t in whole(text) if k is SPEECH)
