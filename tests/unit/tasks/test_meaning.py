"""The task of naming the lines that mean typed words, and its reader."""

from __future__ import annotations

import pytest

from keepsake.models.profiles import ModelProfile
from keepsake.paths import SHIPPED_CONFIG
from keepsake.tasks.questions.meaning import Meaning
from keepsake.tasks.task import AnswerRefused
from keepsake.tasks.task_prompts import ShippedTemplates

PROMPTS = ShippedTemplates(SHIPPED_CONFIG)["meaning"].current
LINES = ("Bob to Nell: My watch is in my sock.", "Bob to Wren: Keep watch.", "Ann: Which watch?")


def task(tokens: int = 4000) -> tuple[Meaning, str]:
    made = Meaning(PROMPTS, "Bob's watch", LINES)
    request = made.ask(ModelProfile("any", prompt_tokens=tokens), "")
    return made, str(request.prompt)


def test_the_prompt_has_the_words_and_the_numbered_lines():
    made, prompt = task()
    assert "has heard of this: Bob's watch" in prompt
    assert "2. Bob to Wren: Keep watch." in prompt
    assert made.taken == 3


def test_what_does_not_fit_is_not_asked():
    made, prompt = task(tokens=40)
    assert made.taken == 1
    assert "Keep watch." not in prompt
    with pytest.raises(AnswerRefused, match="numbers 1 to 1"):
        made.read('{"lines": [2]}')


def test_an_answer_names_the_places_of_lines_and_may_name_none():
    made, _ = task()
    assert made.read('Here: {"lines": [1, 3]}.') == {0, 2}
    assert made.read('{"lines": []}') == frozenset()


@pytest.mark.parametrize("text", ["", "none", "[1]", '{"lines": 3}', '{"lines": [9]}'])
def test_an_answer_of_another_form_is_refused(text):
    made, _ = task()
    with pytest.raises(AnswerRefused):
        made.read(text)
