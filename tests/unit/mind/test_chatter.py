"""What is no part of a summary: words for its reader, and the view of somebody else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.archive.records import MemoryKind
from keepsake.tasks.summarise import Summarise
from tests.memories import old_memory
from tests.unit.mind.test_summarise import (
    DATA,
    GOOD,
    MEMORIES,
    NAMES,
    PROMPTS,
    SOURCE,
    START,
    check_of,
    says,
    summarised_by,
)

CHATTER = (
    "Let me know if you need more.",
    "I hope this helps! Would you like me to shorten it?",
    "Feel free to ask for changes.",
    "Is there anything else you would like to know?",
    "This summary has all that matters within the words that were allowed.",
    "Lassen Sie mich wissen, ob ich noch etwas ändern soll.",
    "Sag mir, wenn du mehr brauchst.",
    "Avísame si necesitas algo más.",
    "N'hésitez pas à me dire si vous voulez plus de détails.",
    "Fammi sapere se ti serve altro.",
    "必要であればお知らせください。",
)


@pytest.mark.parametrize("said", CHATTER)
def test_a_paragraph_for_the_reader_is_left_out_of_every_good_summary(said):
    """Before it and after it; in five languages, in prose, as a list and under headings."""
    for case in DATA["good"]:
        task = check_of(case["life"])
        good = task.read(case["text"])
        for gap in ("\n", "\n\n"):
            assert task.read(f"{good}{gap}{said}") == good
            assert task.read(f"{said}{gap}{good}") == good


def test_good_summaries_lose_nothing():
    for case in DATA["good"]:
        paragraphs = check_of(case["life"]).read(case["text"])
        assert case["text"].strip("`\n ").endswith(paragraphs)


@pytest.mark.parametrize("said", CHATTER)
def test_a_sentence_for_the_reader_is_told_to_the_model_and_then_left_out(said):
    draft, (_, second) = summarised_by([f"{GOOD} {said}"])
    assert "this tells nothing of the memories" in second.messages[-1].text
    assert (draft.text, draft.model) == (GOOD, "a-model")


def test_a_short_sentence_is_kept_if_the_model_says_what_it_means():
    first = f"{GOOD} We laughed."
    then = f"{GOOD} We laughed over the soup."
    draft, asked = summarised_by([first, then])
    assert (draft.text, len(asked)) == (then, 2)


@pytest.mark.parametrize(
    "end",
    [
        "I like her.",  # words that say nothing by themselves
        "“Go well,” I said.",
        "Jonas is content.",
    ],
)
def test_sentences_of_which_somebody_can_say_what_they_mean_cost_no_second_call(end):
    draft, asked = summarised_by([f"{GOOD} {end}"])
    assert (draft.text, len(asked)) == (f"{GOOD} {end}", 1)


def test_a_merge_loses_them_too():
    older = (GOOD, f"{GOOD} I need to stir the soup. I let the kettle boil.")
    source = replace(SOURCE, memories=(), older=older)
    task = Summarise(source, PROMPTS["merge"].current, "", NAMES)
    short = "Anneke goes to sea; Jonas had his soup."
    assert task.read(f"{short}\nLet me know if you need more.") == short


def test_a_summary_of_chatter_alone_is_none():
    draft, asked = summarised_by(["Let me know if you need more.\n\nI hope this helps!"])
    assert (draft.model, len(asked)) == ("extractive", 2)


# -- whom a summary must name


def overheard(number, words, to="Jonas"):
    return old_memory(number, START, MemoryKind.PERCEPTION, f'Wren says to {to}, "{words}"')


def test_whom_others_talk_about_beside_an_agent_need_not_be_named():
    beside = tuple(overheard(20 + n, f"Wren has {n} shells for Wren.") for n in range(6))
    source = replace(SOURCE, memories=(*MEMORIES, *beside))
    names = NAMES | {"Wren"}
    task = Summarise(source, PROMPTS["summarise"].current, "", names)
    assert task.read(GOOD) == GOOD
    assert "Wren" not in task.required


def test_whom_the_agent_talks_with_or_hears_aloud_must_be_named():
    talk = tuple(says(20 + n, "Wren", f"I have {n} shells.") for n in range(3))
    aloud = tuple(
        old_memory(20 + n, START, MemoryKind.PERCEPTION, f'Wren says, "Wren has {n} shells."')
        for n in range(3)
    )
    for memories in (talk, aloud):
        source = replace(SOURCE, memories=(*MEMORIES, *memories))
        task = Summarise(source, PROMPTS["summarise"].current, "", NAMES | {"Wren"})
        with pytest.raises(Exception, match="it leaves out Wren"):
            task.read(GOOD)


# -- who writes it


def test_a_summary_that_somebody_else_might_have_written_is_asked_for_again():
    wrong = f"{GOOD} Mira laughed with Jonas. Anneke thanked Mira."
    right = f"{GOOD} I laughed with Jonas, and Anneke thanked me."
    draft, (_, second) = summarised_by([wrong, right])
    assert "it speaks of Mira by name" in second.messages[-1].text
    assert draft.text == right
    draft, asked = summarised_by([wrong])
    assert (draft.text, len(asked)) == (wrong, 2), "a model may write so"


@pytest.mark.parametrize(
    "told",
    [
        'Jonas called me "Mira, the queen of Mira". "Ask Mira," said Anneke. “Mira!”',
        "I told Jonas that I am Mira.",
        "Anneke came to Mira's Yard, and Jonas to Mira's Yard as well.",
    ],
)
def test_its_own_name_in_quotations_in_a_place_or_once_is_no_matter(told):
    task = Summarise(SOURCE, PROMPTS["summarise"].current, "", NAMES | {"Mira's Yard"})
    assert task.read(f"{GOOD} {told}") == f"{GOOD} {told}"
