import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.language.speech import LONGEST_SPEECH, tidy_speech


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ('"Hello."', "Hello."),
        ("“Hello.”", "Hello."),
        ('"Hello," he said.', "Hello,"),
        ('He said "no" to me', 'He said "no" to me'),
        ("Hello <eos>", "Hello (eos)"),
        ("I bake. As an AI language model, I have no taste. I like rye.", "I bake. I like rye."),
        ("I'm an AI. I can help.", "I can help."),
        ("I am an aide to the king.", "I am an aide to the king."),
        ('Good. Tom says, "Yes." Anna says, "No."', "Good."),
        ('Good." Old Anna replies, "Yes."', "Good."),
        ("Good. ~Tom> say yes", "Good."),
        ("Tom says it will rain.", "Tom says it will rain."),
        ("It costs $5 {or so} |rred|n", "It costs $5 (or so) ¦rred¦n"),
        ("$You() fall and $pron(x)", "You() fall and pron(x)"),
        ("Never open the cellar door. (memory 17)", "Never open the cellar door."),
        ("Tom told me … (memory 17), and Ada (memories 3-9) too.", "Tom told me, and Ada too."),
        ("I will, Tom (memory 4", "I will, Tom"),
        ("It is (memory 3 of mine) an old one.", "It is (memory 3 of mine) an old one."),
        ("(memory 17)", ""),
        ("...", ""),
        ("  ", ""),
    ],
)
def test_speech_is_made_fit_to_be_said(said, kept):
    assert tidy_speech(said) == kept


def test_a_wall_of_text_ends_at_a_sentence():
    said = tidy_speech("The mill is old and the river is high. " * 30)
    assert 200 < len(said) <= LONGEST_SPEECH
    assert said.endswith("high.")


def test_one_endless_sentence_ends_at_a_word():
    said = tidy_speech("and then " * 100)
    assert len(said) <= LONGEST_SPEECH
    assert said.endswith(("and…", "then…"))


@given(st.text(max_size=500))
def test_any_text_comes_out_short_and_harmless(text):
    said = tidy_speech(text)
    assert len(said) <= LONGEST_SPEECH
    assert not set(said) & set("|{}\\\n\r\x1b")
