"""Measured simulations with the stand-in that only follows plans: four conditions, one interview.

Real worlds in their own processes: two simulated hours of three agents.
"""

import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from game.simulation.conditions import remove_conclusions
from game.simulation.plan import Lab, create, reopen
from game.simulation.processes import run_measured
from keepsake.agent.settings import SleepConfig, ThinkingConfig
from keepsake.agent.turns.aside import ASKER
from keepsake.books.people import PeopleBook
from keepsake.books.person_page import PersonPage, format_page
from keepsake.lab.simulations.blind import BlindInterview
from keepsake.lab.simulations.items import read_items
from keepsake.lab.simulations.measured import MeasuredSimulation
from keepsake.lab.simulations.plan import WITHOUT, SimulationPlan
from keepsake.lab.simulations.record import INTERVIEW, SimulationRecord, lines_of
from keepsake.paths import REPOSITORY, Places, Ports
from keepsake.tracing.bases import Link
from keepsake.tracing.paths import Step
from tests.empty_tables import copy_tables_for_lab
from tests.fakes.model_server import Reply
from tests.fakes.planner import next_deed, planner
from tests.unit.lab.in_process import keepsake
from tests.unit.mind.memory_log import file_contents

ITEMS = """\
- id: bonfire
  kind: invitation
  to: bram
  line: You have made up your mind. On {when} you light a bonfire in your orchard.
  says: [bonfire]
  question: Has anybody asked you to come somewhere?
  where: orchard
  hours: 1.5
  minutes: 10
  plans:
    - "in 10 minutes, The Office of Lost Letters: Come to my bonfire in the orchard!"
    - "in 85 minutes, Bram's Orchard: light it"
"""
"""Mira is in the office at that hour, by her written day."""
FULL = "hythe"
NAMES = (FULL, *(f"{FULL}-without-{part}" for part in WITHOUT))
AGENTS = 3
QUESTIONS = 5


@pytest.fixture(scope="module")
def places(tmp_path_factory, tables):
    home = tmp_path_factory.mktemp("home")
    copy_tables_for_lab(tables, home)
    return Places(home, REPOSITORY / "vault", Ports(21000))


@pytest.fixture(scope="module")
def items(tmp_path_factory):
    path = tmp_path_factory.mktemp("items") / "items.yaml"
    path.write_text(ITEMS)
    return path


def simulate(places, *arguments):
    """Run ``keepsake simulate`` in a process; return what it printed."""
    environ = {**os.environ, "KEEPSAKE_HOME": str(places.home), "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "keepsake", "simulate", *map(str, arguments)]
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def ablation(places, items):
    """Four simulations, and the command that has made them."""
    with planner() as server:
        model = f"ollama:fake@{server.address}"
        options = ["--agents", AGENTS, "--hours", 2, "--visitors", 0, "--questions", QUESTIONS]
        options += ["--items", items, "--writer", "none", "--model", model]
        command = (FULL, "--ablation", *options)
        simulate(places, *command)
        asked = len(server.calls("/api/chat"))
        simulate(places, *command)  # what is complete is not run again
        assert len(server.calls("/api/chat")) == asked
    return {name: places.home / "lab" / name for name in NAMES}


def measured(folder):
    return MeasuredSimulation.of(SimulationRecord.read(folder))


def test_an_invitation_spreads_by_plans_and_its_path_is_in_the_archives(ablation):
    found = measured(ablation[FULL])
    spread = found.spreads["bonfire"]
    assert spread.paths.keys() == {"Bram", "Mira"}
    given, said, heard = spread.paths["Mira"]
    assert [step.step for step in (given, said, heard)] == [Step.GIVEN, Step.SAID, Step.HEARD]
    assert (given.agent, said.rests_on, said.link) == ("Bram", given.memory, Link.RESTS_ON)
    assert said.happening == heard.happening
    assert (spread.invented, spread.untraced, spread.misled) == ((), (), frozenset())
    assert found.all_plans.made == found.all_plans.kept == 2


def test_who_came_to_an_invitation_is_counted_minute_by_minute(ablation):
    found = measured(ablation[FULL])
    attendance = found.attendances["bonfire"]
    assert attendance.looks == 10
    minutes = {each.name: each.minutes for each in attendance.people}
    assert minutes["Bram"] > 5
    assert attendance.guests == ()
    assert {each.usually for each in attendance.people} == {None}, "there was no day before"


def test_what_is_taken_away_is_taken_from_the_agents_themselves(ablation):
    thinking = {
        name: ThinkingConfig.load(folder / "vault/config/thinking.md")
        for name, folder in ablation.items()
    }
    sleep = {
        name: SleepConfig.load(folder / "vault/config/sleep.md")
        for name, folder in ablation.items()
    }
    plans, reflection, memory = NAMES[1:]
    assert [name for name in NAMES if not thinking[name].plans] == [plans]
    assert [name for name in NAMES if not sleep[name].reflect] == [reflection]
    assert [name for name in NAMES if not thinking[name].memory] == [memory]
    of_plans = measured(ablation[plans])
    assert of_plans.plans is None
    assert of_plans.spreads["bonfire"].paths.keys() == {"Bram"}
    searches = {
        name: len(list(SimulationRecord.read(folder).events("recall")))
        for name, folder in ablation.items()
    }
    assert searches[memory] == 0
    assert all(searches[name] for name in NAMES if name != memory)


def test_all_were_asked_and_no_memory_has_a_trace_of_it(ablation):
    for folder in ablation.values():
        answers = list(lines_of(folder / INTERVIEW))
        assert len(answers) == AGENTS * (QUESTIONS + 1)
        assert {each["words"] for each in answers} == {"I mean to do nothing."}
        kept = file_contents(folder / "vault" / "agents")
        assert kept
        assert not any(ASKER.encode() in content for content in kept.values())


def test_the_four_are_laid_into_one_blind_interview(ablation, places):
    folder = ablation[FULL] / "measures"
    page = (folder / "interview.html").read_text()
    assert not [name for name in NAMES if name in page]
    records = [SimulationRecord.read(each) for each in ablation.values()]
    interview = BlindInterview.of(records)
    assert len(interview.sheets) == AGENTS * 5
    form = folder / interview.form
    reader = form.with_name("anna.csv")
    head, *rows = form.read_text().splitlines()
    reader.write_text("\n".join([head, *(f"{row}A=B=C=D" for row in rows)]))
    environ = {"KEEPSAKE_HOME": str(places.home)}
    ran = keepsake(environ, "measure", *NAMES, "--rankings", reader)
    assert ran.returncode == 0, ran.stderr
    assert "taken away" in ran.stdout
    assert "<th>anna</th>" in (folder / "measures.html").read_text()


def chat_of(call):
    return "\n".join(each["content"] for each in call.body["messages"])


@pytest.fixture(scope="module")
def life(places, items):
    """One life that was asked without each part; returns the prompts, and what was printed."""
    options = ["--agents", 2, "--hours", 0.2, "--visitors", 0, "--questions", QUESTIONS]
    with planner() as server:
        model = ["--model", f"ollama:fake@{server.address}", "--writer", "none"]
        simulate(places, "life", "--measure", "--items", items, *options, *model)
        before = len(server.calls("/api/chat"))
        shown = simulate(places, "--conditions", "life")
        asked = [chat_of(each) for each in server.calls("/api/chat")[before:]]
        simulate(places, "--conditions", "life")
        assert len(server.calls("/api/chat")) == before + len(asked), "all are asked once"
    return asked, shown


def test_one_life_is_asked_again_without_each_part(life):
    """The parts are gone from the prompts."""
    asked, _ = life
    assert all(f"{ASKER} says to you" in prompt for prompt in asked)
    each = 2 * (QUESTIONS + 1)
    assert len(asked) == each * len(WITHOUT)
    plans, reflection, memory = (asked[each * n : each * (n + 1)] for n in range(3))
    assert not any("[You mean to: " in prompt or "> plan <" in prompt for prompt in plans)
    assert any("[You mean to: " in prompt for prompt in reflection)
    assert not any("> recall <" in prompt for prompt in memory)


@pytest.mark.usefixtures("life")
def test_a_life_that_is_asked_without_a_part_does_not_go_on(places):
    copies = [places.home / "lab" / f"life-asked-without-{part}" for part in WITHOUT]
    archive = "vault/agents/Bram/archive"
    lived = file_contents(places.home / "lab" / "life" / archive)
    assert all(file_contents(copy / archive) == lived for copy in copies)


def test_a_life_that_was_asked_without_each_part_is_measured(life, places):
    _, shown = life
    assert (places.home / "lab/life/measures/interview.html").exists()
    assert "asked without plans" in (places.home / "lab/life/measures/measures.html").read_text()
    assert "life-asked-without-memory" in shown


def test_what_reflection_wrote_is_removed_and_the_rest_of_a_folder_stays(tmp_path):
    day = tmp_path / "journal" / "2026-05-04.md"
    day.parent.mkdir()
    told, inferred = (
        f"## 20260504-{n}, 20:26\n\n{words}\n\n- **source**: {source}\n\n"
        for n, words, source in ((1, "Tom is ill.", "told to me"), (2, "I am kind.", "inferred"))
    )
    day.write_text(f"# 4 May 2026\n\n{told}{inferred}")
    page = tmp_path / "people" / "Tom-1-1.md"
    page.parent.mkdir()
    made = datetime(2026, 5, 4, tzinfo=UTC)
    tom = PersonPage("1-1", ("Tom",), made, made, portrait="A good man.")
    page.write_text(format_page(tom))
    remove_conclusions(tmp_path)
    assert day.read_text() == f"# 4 May 2026\n\n{told}"
    (left,) = PeopleBook(tmp_path).all()
    assert (left.name, left.portrait) == ("Tom", "")


def test_an_interview_goes_on_after_its_model_was_gone(places, items):
    """The model goes away at the first question, and comes back before the resumption."""

    def script(prompt):
        if f"{ASKER} says to you" in prompt:
            server.always("/api/chat", Reply(status=500))
        return next_deed(prompt)

    plan = SimulationPlan(
        name="broken",
        agents=1,
        hours=0.2,
        visitors=0,
        items=read_items(items),
        interview=QUESTIONS,
        writer="none",
    )
    with planner() as server:
        server.script = script
        model = {"model": f"ollama:fake@{server.address}"}
        lab = create(places, plan.model_copy(update=model))
        assert run_measured(places, [lab]) == 1
        answered = list(lines_of(lab.folder / INTERVIEW))
        assert len(answered) == 1
        assert lab.has_questions_left
        server.script = next_deed
        server.always("/api/chat", Reply())
        assert run_measured(places, [reopen(places, "broken")]) == 0
    answers = list(lines_of(lab.folder / INTERVIEW))
    assert answers[:1] == answered
    assert len({(each["kind"], each["number"]) for each in answers}) == len(answers)
    assert Lab(lab.folder).is_complete
