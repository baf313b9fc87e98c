"""What a prompt held of whispers, and of the words of an act."""

from __future__ import annotations

from datetime import UTC, datetime

from keepsake.agent.turns.prompts.held import MOST_WORDS, masked_in, unheld_in
from keepsake.archive.records import Memory
from keepsake.happening import ME, Manner, Person, Speech

NOW = datetime(2026, 5, 1, tzinfo=UTC)
BRAM = Person("Bram", "bram-1")


def whisper(
    number: int, words: str, *, own: bool = False, manner: Manner = Manner.WHISPER
) -> Memory:
    """Return the memory of a whisper of Bram's, or of an own one to him."""
    shown = f"whisper Bram = {words}" if own else f'Bram whispers to you, "{words}"'
    speaker, to = (ME, BRAM) if own else (BRAM, ME)
    speech = Speech(speaker=speaker, words=words, to=(to,), manner=manner, shown=shown)
    return Memory(number, NOW, speech)


def test_a_whisper_of_which_the_words_are_not_there_is_masked() -> None:
    long = "I am glad of Anneke, more than I can say."
    window = (whisper(1, long), whisper(2, "Yes."), whisper(3, "No.", own=True))
    assert masked_in("Bram whispers to you.\nYou whisper to Bram.\nYes. No.", window) == (1, 2, 3)
    shown = "\n".join(each.text for each in window)
    assert masked_in(shown, window) == ()
    assert masked_in(f"> {window[2].text}\n{long}", window) == (2,)


def test_what_was_said_aloud_is_not_masked() -> None:
    assert masked_in("", [whisper(1, "Good evening.", manner=Manner.SAY)]) == ()


def test_the_words_of_an_act_that_the_prompt_has_nowhere_are_named_as_they_are_written() -> None:
    prompt = 'Ida says, "I play the piano."\n[You are Oswin, who mends clocks.]'
    said = "You are the lady with forty-one pianos, Ida; the Lady of clocks"
    assert unheld_in(prompt, said) == ("lady", "forty")
    assert unheld_in(prompt, "Who is it?") == ()
    many = "amber basalt copper dahlia ebony fennel garnet"
    assert unheld_in(prompt, many) == tuple(many.split()[:MOST_WORDS])


def test_of_a_script_without_blanks_between_words_each_pair_of_characters_counts() -> None:
    assert unheld_in("リンゴを食べた", "リンゴ") == ()
    assert unheld_in("リンゴを食べた", "鉛筆") == ("鉛筆",)
