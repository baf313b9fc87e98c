"""How an answer is read: speech, gestures and deeds, whole or while it is being written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.tasks.answer import AnswerPart, AnswerReader, PartKind, fault_of

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
    "the own name as a label": ("Mira: Good day.", [(SPEECH, "Good day.")]),
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


SCRIPT = {
    "say Good day, Tom!": (SPEECH, "Good day, Tom!"),
    "say Hello! | he looks sad": (SPEECH, "Hello!"),
    'say "Good day!"': (SPEECH, "Good day!"),
    "~Mira> say hi": (SPEECH, "hi"),
    "emote waves to Tom.": (EMOTE, "waves to Tom."),
    "*waves*": (EMOTE, "waves"),
    "Good day to you, Tom!": (SPEECH, "Good day to you, Tom!"),
    "“Good day.”": (SPEECH, "Good day."),
    "Look, Tom, it is raining!": (SPEECH, "Look, Tom, it is raining!"),
    "你好，汤姆。": (SPEECH, "你好，汤姆。"),
    "say 12 pence; two && three, @all": (SPEECH, "12 pence; two && three, @all"),
    'say Good day.\nTom says, "Hello."': (SPEECH, "Good day."),
    "give cup to Tom | he asked": (DEED, "give cup to Tom | he asked"),
    "wait": (DEED, "wait"),
    # what is none of its verbs is refused where it is done, with the verbs that there are
    "@py me.delete()": (DEED, "@py me.delete()"),
    "~Tom> say I am a fool": (DEED, "~Tom> say I am a fool"),
}


@pytest.mark.parametrize(("text", "part"), SCRIPT.items())
def test_the_command_of_a_script_is_read_into_the_same_parts(text, part):
    reader = AnswerReader("Mira", script=True)
    parts = [*reader.feed(text), *reader.end()]
    assert [(each.kind, each.text) for each in parts] == [part]


def test_a_private_reason_goes_with_words_and_gestures():
    reader = AnswerReader("Mira", script=True)
    assert reader.feed("say Hello! | he looks sad\n") == [
        AnswerPart(SPEECH, "Hello!", "he looks sad")
    ]
    chat = AnswerReader("Mira")
    assert chat.feed("> emote nods | tired\n") == [AnswerPart(EMOTE, "nods", "tired")]


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


# -- which answers are not spoken

INSTRUCTIONS = (
    "Each turn you are told what happened. Answer with what Mira does next:\n"
    "- plain lines are spoken aloud to whoever spoke to you, in their language"
)


def fault(words: str, *own: str) -> str:
    return fault_of(words, instructions=INSTRUCTIONS, own_lines=own)


@pytest.mark.parametrize(
    "words", ["Then it owes you two planks.", "Setz dich.", "火へどうぞ。", "No."]
)
def test_words_of_its_own_are_spoken_in_any_language(words):
    assert fault(words, "Sit down, there is soup.") == ""


def test_an_empty_answer_is_refused():
    assert "empty" in fault("…")


def test_recited_instructions_are_refused():
    assert "instructions" in fault("Sure! Plain lines are spoken aloud to whoever spoke to you.")
    assert fault("I am told what happened, each day, by Joss.") == ""


def test_its_own_last_line_is_refused_and_a_short_one_is_not():
    line = "The tide took two of your planks, Jonas."
    assert "exactly this" in fault(line.upper(), "Good day.", line)
    assert fault(line, line, "Good day.") == "", "only the last line counts"
    assert fault("Yes, Jonas.", "Yes, Jonas.") == ""
