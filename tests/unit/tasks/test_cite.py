"""The task of naming the memories that the sentences of a summary tell, and its reader."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import MemoryKind
from keepsake.models.profiles import ModelProfile
from keepsake.paths import SHIPPED_CONFIG
from keepsake.tasks.questions.cite import Cite
from keepsake.tasks.task import AnswerRefused
from keepsake.tasks.task_prompts import ShippedTemplates
from tests.memories import old_memory

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
SENTENCES = ("Tom mends nets.", "Ann sails on Thursday.")
LINES = ('Tom says, "I mend nets."', "Ann packs.", 'Ann says, "On Thursday I sail."')
PROMPTS = ShippedTemplates(SHIPPED_CONFIG)["cite"].current


def task(tokens=4000, lines=LINES):
    memories = [
        old_memory(n, NOON, MemoryKind.PERCEPTION, line) for n, line in enumerate(lines, start=7)
    ]
    made = Cite(PROMPTS, "Mira", SENTENCES, memories)
    return made, made.ask(ModelProfile("any", prompt_tokens=tokens), "")


def answer(*named):
    rows = [{"sentence": place, "memories": numbers} for place, numbers in named]
    return json.dumps({"sentences": rows})


def test_the_prompt_numbers_memories_and_sentences():
    made, request = task()
    assert "7. [1 May, " in request.prompt
    assert "9. Ann says" in request.prompt
    assert "S2. Ann sails on Thursday." in request.prompt
    assert made.taken == 3


def test_what_does_not_fit_is_asked_next():
    made, request = task(tokens=40)
    assert made.taken == 1
    assert "9. Ann says" not in request.prompt


def test_an_answer_names_the_memories_of_sentences():
    made, _ = task()
    found = made.read(f"Here you are: {answer((1, [7]), (2, [9, 8, 99]), (3, [7]), (0, [7]))}")
    assert found == {SENTENCES[0]: (7,), SENTENCES[1]: (8, 9)}


@pytest.mark.parametrize("text", ["", "none", "[1]", "{}", '{"sentences": 3}', answer((1, [99]))])
def test_an_answer_that_names_none_is_refused(text):
    with pytest.raises(AnswerRefused):
        task()[0].read(text)


def test_a_sentence_that_names_nearly_all_memories_names_none():
    made, _ = task(lines=[f"Tom sails by rock {n}." for n in range(30)])
    every = [*range(7, 37)]
    assert made.read(answer((1, every), (2, [9]))) == {SENTENCES[1]: (9,)}


def test_numbers_that_a_small_model_counts_on_from_the_example_are_refused():
    lines = (*LINES, "The goat is ill.", "The rain stops.", "Wren sorts her glass.")
    made, request = task(lines=lines)
    assert request.json_schema["properties"]["sentences"]["maxItems"] == len(SENTENCES)
    with pytest.raises(AnswerRefused, match="something else"):
        made.read(answer((1, [10, 11]), (2, [11, 12])))
    assert made.read(answer((1, [7, 10]), (2, [9]))) == {
        SENTENCES[0]: (7, 10),
        SENTENCES[1]: (9,),
    }


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_answer_is_read_or_refused(text):
    with pytest.raises(AnswerRefused):
        task()[0].read(text)
