"""The parts of a prompt have titles that a reader understands."""

from __future__ import annotations

from dataclasses import fields

from keepsake.prompt.sections import FRAME, TITLES, Rendered, costs_of, titled
from keepsake.tasks.scene import Scene

PLAIN = {"window", "plans", "deeds", "name"}
"""Names of variables that are words for a reader themselves."""
NEVER_A_LINE = {"found", "whispered", "may_plan", "answers", "tools", "stated", "passed_over"}
NEVER_A_LINE |= {"portraits", "private", "still_kept"}
"""Variables that are no text, or that other variables are made of."""


def test_every_variable_of_a_turn_has_a_title():
    names = {each.name for each in fields(Scene)} - NEVER_A_LINE - PLAIN
    assert names <= TITLES.keys()
    assert not {name for name in TITLES.values() if "_" in name}


def test_sections_with_one_title_are_one():
    log = {"directed": 358, "usual": 213, "usual_now": 29, "not_now": 13, "window": 9}
    assert titled(log) == {"deeds": 371, "usual day": 242, "window": 9}
    assert titled(titled(log)) == titled(log)


def test_the_costs_of_a_prompt_are_by_title():
    class Words:
        def each(self, texts):
            return [len(each.split()) for each in texts]

    lines = (("Deeds:", FRAME), ("give <thing>", "directed"), ("not now: go", "not_now"))
    text = "\n".join(line for line, _ in lines)
    found = costs_of(Rendered(text, lines), Words(), 100)
    assert found.sections == {"headings": 1, "deeds": 5}
    assert found.used == 6
