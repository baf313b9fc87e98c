"""The task that picks among what a search found, and its reader."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.models.profiles import ModelProfile
from keepsake.paths import SHIPPED_CONFIG
from keepsake.tasks.questions.reread import (
    MOST_PICKED,
    MOST_SEARCHES,
    MOST_SHOWN,
    FoundLine,
    Reread,
)
from keepsake.tasks.task import AnswerRefused
from keepsake.tasks.task_prompts import ShippedTemplates

FOUND = [
    FoundLine(f"{day} May 2023, Tom: I saw ship number {day}.", (day,)) for day in (9, 3, 27, 12)
]
PROMPTS = ShippedTemplates(SHIPPED_CONFIG)["reread"].current


def task(found=FOUND, question="Which ships did Tom see?", asker=""):
    return Reread(PROMPTS, question, found, "1 June 2023", asker)


def prompt_of(found=FOUND, tokens=8000, **more):
    return task(found, **more).ask(ModelProfile("any", prompt_tokens=tokens), "").prompt


def chosen(answer):
    choice = task().read(answer)
    return choice.picked, choice.searches


def test_the_lines_stand_in_order_of_time_with_their_ranks():
    shown = [line for line in prompt_of().splitlines() if "saw ship" in line]
    assert [line.split(" May")[0] for line in shown] == ["2. 3", "1. 9", "4. 12", "3. 27"]


def test_the_prompt_has_the_question_its_day_and_who_asks():
    assert "1 June 2023. The question: Which ships did Tom see?" in prompt_of()
    assert "1 June 2023. Bram asks: Which ships did Tom see?" in prompt_of(asker="Bram")


def test_a_small_model_reads_the_best_lines_that_fit():
    many = [FoundLine(f"Line {n} " + "word " * 30, (n,)) for n in range(1, 41)]
    shown = [line for line in prompt_of(many, tokens=1000).splitlines() if ". Line " in line]
    assert 5 < len(shown) < 40
    assert [line.split(".")[0] for line in shown] == [str(n + 1) for n in range(len(shown))]
    most = [FoundLine(f"Line {n}", (n,)) for n in range(MOST_SHOWN + 20)]
    assert prompt_of(most).count(". Line ") == MOST_SHOWN


def test_long_lines_and_questions_of_several_lines_are_one_line_each():
    text = prompt_of([FoundLine("Tom: one\ntwo\n" + "x " * 400, (1,))], question="Who?\n\nAnd why?")
    (line,) = [each for each in text.splitlines() if each.startswith("1. Tom")]
    assert len(line) < 260
    assert line.endswith("…")
    assert "The question: Who? And why?" in text


@pytest.mark.parametrize(
    ("answer", "picked", "searches"),
    [
        ('{"lines": [3, 1], "searches": ["Tom at the quay"]}', (2, 0), ("Tom at the quay",)),
        ('```json\n{"lines": [2], "searches": []}\n```', (1,), ()),
        ('The lines 3 and 4 help. {"lines": ["3.", "4"]}', (2, 3), ()),
        ('{"lines": [0, -1, 5, 99, 1e9, 2.5, true, null, "x", 1, 1]}', (0,), ()),
        ('{"lines": 2, "searches": "Tom at the quay"}', (1,), ("Tom at the quay",)),
        (
            '{"lines": [], "searches": ["", "  ", "…", 7, "x" , "two\\nlines"]}',
            (),
            ("x", "two lines"),
        ),
        ('{"searches": null}', (), ()),
        ("{}", (), ()),
        ('{"lines": {"a": 1}}', (), ()),
    ],
)
def test_odd_answers_are_read(answer, picked, searches):
    assert chosen(answer) == (picked, searches)


@pytest.mark.parametrize("answer", ["", "Lines 1 and 3.", "[1, 2]", '{"lines": [1, 2', "[" * 5000])
def test_an_answer_without_an_object_is_refused(answer):
    with pytest.raises(AnswerRefused):
        chosen(answer)


def test_a_search_that_is_no_search_is_left_out():
    answer = json.dumps({"lines": [], "searches": ["word " * 100, "Tom's boat"]})
    assert chosen(answer) == ((), ("Tom's boat",))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(json_values, json_values)
def test_any_object_is_read_within_the_limits(lines, searches):
    picked, asked = chosen(json.dumps({"lines": lines, "searches": searches}))
    assert len(picked) <= MOST_PICKED
    assert len(asked) <= MOST_SEARCHES
    assert all(0 <= place < len(FOUND) for place in picked)
    assert all(each == " ".join(each.split()) for each in asked)
