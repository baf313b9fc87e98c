"""The stand-in that only follows plans, on prompts from the shipped templates."""

from __future__ import annotations

from tests.fakes.planner import WAIT, next_deed

DUE = (
    "[It is time for what you mean to do: {} (its time has come). Do its next step now, with deeds]"
)
HERE = "[Monday, 11:00, The Quay. Here: nobody else.]\n"


def test_it_walks_to_the_place_of_a_plan_and_does_it_there():
    plan = "3. 2026-05-04 11:00, at The Quay, with Bram: ring the bell; then go (since memory 1)"
    due = DUE.format(plan)
    assert next_deed(HERE + due) == "ring the bell; then go\n> done 3"
    there = HERE.replace("The Quay", "The Kettle")
    assert next_deed(there + due) == "> walk to The Quay"
    assert next_deed(HERE + DUE.format("4. sweep (begun) (since memory 7)")) == "sweep\n> done 4"


def test_it_waits_without_a_plan_and_sees_nothing_else():
    assert next_deed(HERE + 'Tom says to you, "Meet me at the quay!"') == WAIT
    assert next_deed('Answer with JSON alone: {"lines": [{"by": "Bram"}]}') == '{"lines": []}'


def test_it_answers_a_question_with_its_plans():
    asked = 'Stranger says to you, "What will you do?"'
    assert next_deed(HERE + asked) == "I mean to do nothing."
    plans = "[You mean to: 1. at The Quay: ring the bell (since memory 1)]\n"
    plans += "[You mean to: 2. sweep]\n"
    assert next_deed(plans + asked) == "I mean to do nothing.", "they are done"
    plans += (
        "[You mean to: 3. go]\n[Still to do: 1. ring the bell (begun) (you wait for Bob); 3. go.]\n"
    )
    assert next_deed(plans + asked) == "I mean to do this: 1. at The Quay: ring the bell; 3. go."


def test_a_plan_that_is_due_is_read_where_it_stands():
    stands = "[You mean to: 5. 2026-05-04 11:00, at The Quay: ring the bell; then rest]\n"
    assert next_deed(stands + HERE + DUE.format("5. ring the… (begun)")) == (
        "ring the bell; then rest\n> done 5"
    )
