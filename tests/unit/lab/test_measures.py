"""The measures of made simulations: items, attendance, acquaintance, plans, costs, the page."""

from __future__ import annotations

import json

import pytest

from keepsake.archive.message_types import MessageType
from keepsake.errors import KeepsakeError
from keepsake.lab.simulations.acquaintance import acquaintances_of
from keepsake.lab.simulations.attendance import DAY_BEFORE, THE_DAY, attendance_of
from keepsake.lab.simulations.diffusion import spread_of
from keepsake.lab.simulations.interview import KINDS, MOST, questions_for, questions_left
from keepsake.lab.simulations.items import read_items
from keepsake.lab.simulations.measured import Figure, MeasuredSimulation
from keepsake.lab.simulations.page import write_page
from keepsake.lab.simulations.plan import BEGINS, SimulationPlan, check_parts
from keepsake.lab.simulations.record import SimulationRecord
from keepsake.lab.simulations.tallies import CostTally, PlanTally, costs_of, plan_tallies
from keepsake.paths import REPOSITORY
from tests.unit.lab.made_village import BONFIRE, MadeVillage

ITEMS = REPOSITORY / "game" / "simulation" / "items.yaml"

# -- items


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("A bonfire!", True),
        ("BONFIRES, he says", True),
        ("We sit by the fire in the orchard.", True),
        ("He burns the prunings; what a fire.", True),
        ("We sit by the fire.", False),
        ("An orchard.", False),
        ("The campfire is in the orchard.", False),
    ],
)
def test_an_item_is_said_in_one_of_its_ways(text, said):
    assert BONFIRE.is_said_in(text) is said


def test_a_language_without_spaces_has_no_beginnings_of_words():
    item = BONFIRE.model_copy(update={"says": ("焚き火",)})
    assert item.is_said_in("明日は焚き火をします。")


def test_the_shipped_items_say_when_and_nothing_in_the_village_says_them():
    teacher, bonfire = read_items(ITEMS)
    assert "Tuesday 5 May, 17:00" in bonfire.given_line(BEGINS)
    assert teacher.is_said_in(teacher.given_line(BEGINS))
    world = [*REPOSITORY.glob("world/**/*.yaml"), *REPOSITORY.glob("world/**/*.md")]
    world.append(REPOSITORY / "game/simulation/people.yaml")
    lines = [line for path in world for line in path.read_text("utf-8").splitlines()]
    for item in (teacher, bonfire):
        assert not [line for line in lines if item.is_said_in(line)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- id: x", "kind"),
        ("- {id: 'No!', kind: fact, to: a, line: b, says: [c], question: d}", "id"),
        ("- {id: x, kind: fact, to: a, line: b, says: [' , '], question: d}", "says"),
        ("- {id: x, kind: invitation, to: a, line: b, says: [c], question: d}", "where"),
        ("- {id: x, kind: fact, to: a, line: b, says: [c], question: d}\n" * 2, "same id|the id"),
        ("- [", "cannot be read"),
    ],
)
def test_a_wrong_file_of_items_says_what_is_wrong(tmp_path, text, problem):
    (tmp_path / "items.yaml").write_text(text)
    with pytest.raises(KeepsakeError, match=problem):
        read_items(tmp_path / "items.yaml")


# -- attendance


def attendance(village):
    record = village.record()
    return attendance_of(BONFIRE, record, spread_of(BONFIRE, record))


def test_who_came_is_what_the_world_saw():
    village = MadeVillage("Bram", "Mira", "Nell", "Wren")
    given = village.give("Bram")
    village.say("Bram", "A bonfire!", ["Mira"], rests_on=(given,))
    for minute in (0, 1, 1):  # a resumed run looks again
        village.look(BONFIRE, THE_DAY, minute, "Bram", "Mira", "Wren")
    village.look(BONFIRE, DAY_BEFORE, 0, "Bram", "Wren")
    found = attendance(village)
    assert found.looks == 2
    people = {each.name: (each.minutes, each.usually, each.knew) for each in found.people}
    assert people["Mira"] == (2, 0, True)
    assert people["Wren"] == (2, 1, False)
    assert people["Nell"] == (0, 0, False)
    assert [each.name for each in found.guests] == ["Mira", "Wren"]
    assert [each.name for each in found.informed_guests] == ["Mira"]


def test_attendance_is_unknown_if_the_world_was_not_looked_at():
    village = MadeVillage("Bram", "Mira", items=(BONFIRE,))
    village.give("Bram")
    village.look(BONFIRE, DAY_BEFORE, 0, "Mira")
    found = attendance(village)
    assert (found.guests, found.informed_guests, found.people) == (None, None, ())
    figures = {each.name: each for each in MeasuredSimulation.of(village.record()).figures}
    assert figures["bonfire: guests"].value is None
    assert figures["bonfire: guests"].text == "unknown"


# -- acquaintance


def village_that_talks() -> MadeVillage:
    """Return a village of four in which three say something."""
    village = MadeVillage("Bram", "Mira", "Nell", "Wren")
    village.knows = {"Bram": ("Mira",), "Mira": ("Bram",), "Nell": ("Bram",)}
    village.say("Bram", "Good day, Mira.", ["Mira", "Wren"], to="Mira")
    village.say("Mira", "A fine rope.", ["Nell"], to="Nell", event=MessageType.SCENE)
    village.say("Nell", "Wren is late.", ["Bram"])
    return village


def test_pairs_talk_in_their_own_words_or_by_rule():
    graph = acquaintances_of(village_that_talks().record())
    pairs = {(each.one, each.other): each for each in graph.pairs}
    assert len(pairs) == 6
    assert (pairs["Bram", "Mira"].lines, pairs["Bram", "Mira"].by_rule) == (1, 0)
    assert (pairs["Mira", "Nell"].lines, pairs["Mira", "Nell"].by_rule) == (0, 1)
    assert (graph.talked, graph.talked_at_all) == (1, 2)


def test_pairs_know_of_each_other_from_the_persona_and_from_what_they_hear():
    graph = acquaintances_of(village_that_talks().record())
    pairs = {(each.one, each.other): each for each in graph.pairs}
    assert (pairs["Bram", "Mira"].knew, pairs["Bram", "Nell"].knew) == (True, False)
    # Bram has heard Nell, and of Wren; Wren has heard Bram, but not of Nell.
    assert pairs["Bram", "Nell"].knows
    assert pairs["Bram", "Wren"].knows
    assert not pairs["Nell", "Wren"].knows
    assert graph.density(graph.knew) == pytest.approx(1 / 6)


def test_a_single_agent_has_no_density():
    village = MadeVillage("Bram", items=(BONFIRE,))
    village.give("Bram")
    graph = acquaintances_of(village.record())
    assert graph.density(graph.knows) is None
    figures = {each.name: each.text for each in MeasuredSimulation.of(village.record()).figures}
    assert figures["pairs who know of each other, at the end"] == "one agent"
    assert figures["bonfire: others who know by a path"] == "one agent"


# -- plans and costs


def plan_line(number, change, state):
    return {"type": "plan", "id": number, "change": change, "state": state}


def test_plans_count_by_their_last_states():
    village = MadeVillage("Bram", "Mira")
    village.plan_lines["Bram"] = [
        plan_line(1, "made", "open"),
        plan_line(2, "made", "open"),
        plan_line(1, "doing", "doing"),
        plan_line(1, "done", "done"),
        plan_line(2, "missed", "missed"),
        plan_line(3, "made", "open"),
        plan_line(4, "made", "open"),
        plan_line(4, "dropped", "dropped"),
    ]
    by_night = {"kind": "memory", "agent": "Bram", "op": "plan", "of": "made", "by": "night"}
    village.log = [by_night, {**by_night, "by": "agent"}]
    tallies = plan_tallies(village.record())
    assert tallies["Bram"] == PlanTally(4, at_night=1, kept=1, missed=1, dropped=1, current=1)
    assert tallies["Mira"] == PlanTally()


def test_plans_that_were_taken_away_are_not_0():
    village = MadeVillage("Bram", without=("plans",))
    assert plan_tallies(village.record()) is None
    figures = {each.name: each.text for each in MeasuredSimulation.of(village.record()).figures}
    assert figures["plans made"] == "taken away"


def test_costs_are_of_all_calls_and_unknown_if_a_server_does_not_count():
    village = MadeVillage("Bram", "Mira")
    village.think("Bram")
    village.think("Bram", trigger="idle", command="wait")
    village.think("Mira", trigger="idle", command="say Hm.")
    village.think("Mira", prompt="", prompt_tokens=0, completion_tokens=0)  # nothing was asked
    village.think("Mira", outcome="no answer", prompt_tokens=0, completion_tokens=0)
    night = {"kind": "sleep", "agent": "Bram", "op": "step"}
    village.log += [{**night, "calls": 0}, {"kind": "compaction", "agent": "Bram", "calls": 0}]
    costs = costs_of(village.record())
    assert costs.kinds["thoughts"] == costs.total == CostTally(4, 1, 300, 30)
    assert costs.total.note == "without 1 of 4 calls"
    assert (costs.idle, costs.idle_waits, costs.unanswered) == (2, 1, 1)
    assert costs.an_hour(costs.total.calls) == pytest.approx(4 / 96)
    village.log.append({**night, "calls": 2})  # an older log, or a server that does not say
    village.log.append({"kind": "pair_talk", "agent": "Mira", "calls": 1, "prompt_tokens": 7})
    costs = costs_of(village.record())
    nights = costs.kinds["nights"]
    assert (nights.calls, nights.prompt_tokens, nights.completion_tokens) == (2, None, None)
    assert costs.an_hour(nights.prompt_tokens) is None
    assert costs.total == CostTally(7, 3, 307, 30)


def test_tokens_that_a_server_does_not_count_are_estimated_and_said_to_be():
    village = MadeVillage("Bram", "Mira")
    village.think("Bram")
    counts = {"prompt_tokens": 0, "completion_tokens": 0}
    village.think("Mira", **counts, sections={"persona": 40, "window": 60}, answer="Good day! " * 8)
    total = costs_of(village.record()).total
    assert (total.calls, total.uncounted, total.estimated) == (2, 0, 1)
    assert total.prompt_tokens == 200
    assert total.completion_tokens > 20
    figures = {each.name: each.text for each in MeasuredSimulation.of(village.record()).figures}
    assert "1 of 2 calls estimated" in figures["prompt tokens an agent-hour"]


def test_figures_say_what_is_unknown():
    assert Figure("x", None).text == "unknown"
    assert Figure("x", 0).text == "0"
    assert Figure("x", 3, 6).text == "3 of 6"
    assert Figure("x", 2.5).text == "2.50"
    assert Figure("x", 1234.5).text == "1,234.5"


# -- the interview


def test_each_agent_is_asked_25_questions_of_five_kinds():
    cast = ("Bram", "Mira", "Nell")
    asked = questions_for("Mira", cast, MOST, (BONFIRE,))
    assert MOST == 25
    assert [each.kind for each in asked] == [kind for kind in (*KINDS,) for _ in range(5)] + [
        "item"
    ]
    assert asked[-1].text == BONFIRE.question
    assert any("Nell" in each.text for each in asked)
    assert not any("{" in each.text or "Mira" in each.text for each in asked)
    assert len({each.text for each in asked}) == 26


def test_fewer_questions_are_of_all_kinds_and_a_lone_agent_is_asked_of_nobody():
    asked = questions_for("Mira", ("Bram", "Mira"), 7)
    assert {each.kind for each in asked} == set(KINDS)
    assert len(asked) == 7
    alone = questions_for("Bram", ("Bram",), MOST)
    assert 10 < len(alone) < MOST
    assert not any("{" in each.text for each in alone)
    (about_item,) = questions_for("Mira", ("Bram", "Mira"), 0, (BONFIRE,))
    assert about_item.item == BONFIRE.id
    assert questions_for("Mira", ("Bram", "Mira"), 0) == []


def test_only_questions_without_an_answer_are_left():
    cast = ("Bram", "Mira")
    every = questions_left(cast, 5, (), [])
    left = questions_left(cast, 5, (), [each.to_line(words="x") for each in every[:4]])
    assert left == every[4:]


# -- plans of simulations


def test_parts_are_taken_away_by_settings():
    plan = SimulationPlan(without=check_parts(["memory", "plans", "plans"]))
    assert plan.condition == "without plans, memory"
    assert plan.all_settings == {"thinking.plans": "no", "thinking.memory": "no"}
    with pytest.raises(KeepsakeError, match="plans, reflection, memory"):
        check_parts(["legs"])


# -- reading and writing


def made(name="made", **plan):
    village = MadeVillage("Bram", "Mira", "Nell", name=name, items=(BONFIRE,), **plan)
    given = village.give("Bram")
    village.say("Bram", "Come to my <b>bonfire</b>!", ["Mira"], to="Mira", rests_on=(given,))
    village.say("Nell", "A bonfire?")
    village.think("Bram", 2)
    village.answer("Mira", "itself", 1, "I am Mira.")
    village.answer("Mira", "item", 1, "To the bonfire.", item="bonfire")
    village.plan_lines["Bram"] = [{**plan_line(1, "made", "open"), "t": BEGINS.isoformat()}]
    village.look(BONFIRE, THE_DAY, 0, "Mira")
    return village


def test_a_simulation_is_measured_from_its_files_and_its_page_says_all(tmp_path):
    made().write(tmp_path / "made")
    record = SimulationRecord.read(tmp_path / "made")
    assert {name: list(own) for name, own in record.memories.items()} == made().memories
    measured = MeasuredSimulation.of(record)
    write_page([measured], tmp_path, "keepsake measure made", None, None)
    page = (tmp_path / "measures.html").read_text()
    assert "prefers-color-scheme: dark" in page
    for words in (
        "keepsake measure made",
        "Bram 2 said it (rests on 1)",
        "Come to my &lt;b&gt;bonfire&lt;/b&gt;!",
        "A bonfire?",
        "I am Mira.",
        '<span class="unknown">unknown</span>',
    ):
        assert words in page
    (data,) = json.loads((tmp_path / "measures.json").read_text())
    assert data["figures"]["bonfire: others who know by a path"] == 1
    assert data["figures"]["bonfire: said without a path (invented)"] == 1
    assert data["figures"]["bonfire: guests who knew"] == 1
    assert data["figures"]["plans made"] == 1
    assert [step["happening"] for step in data["spread"]["bonfire"]["paths"]["Mira"]][1:] == [
        "h1",
        "h1",
    ]


def test_a_simulation_that_was_not_run_cannot_be_measured(tmp_path):
    folder = tmp_path / "fresh"
    folder.mkdir()
    with pytest.raises(KeepsakeError, match="keepsake simulate fresh --measure"):
        SimulationRecord.read(folder)
