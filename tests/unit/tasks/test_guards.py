"""Which answers are not spoken."""

from keepsake.tasks.guards import fault_of

INSTRUCTIONS = (
    "Each turn you are told what happened. Answer with what Mira does next:\n"
    "- plain lines are spoken aloud to whoever spoke to you, in their language"
)


def fault(words: str, *own: str) -> str:
    return fault_of(words, instructions=INSTRUCTIONS, own_lines=own)


def test_words_of_its_own_are_spoken_in_any_language():
    for words in (
        "Then it owes you two planks.",
        "Setz dich ans Feuer.",
        "火のそばへどうぞ。",
        "No.",
    ):
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
