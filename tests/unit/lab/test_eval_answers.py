"""Answers end to end: a memory recalls, a model over the wire answers, the answers are graded."""

import json
import re

from keepsake.paths import REPOSITORY
from tests.unit.lab.in_process import keepsake

LOCOMO = REPOSITORY / "tests" / "data" / "benchmarks" / "locomo.json"


def ask(environ, *more, memory=("full-context",)):
    named = [word for name in memory for word in ("--memory", name)]
    return keepsake(environ, "eval", LOCOMO, *named, "--profile", "answers", *more)


def scores_of(cell, kind="all"):
    return next(each for each in cell["scores"] if each["kind"] == kind)


def test_answers_are_graded_by_category_with_intervals(environ, tmp_path, server):
    found = tmp_path / "found.json"
    memory = ("full-context", "sliding-window")
    rated = tmp_path / "rated.csv"
    more = ("--judge", "answers", "--json", found, "--agree", rated, "--parallel", 4)
    ran = ask(environ, *more, "--price", "1,2", memory=memory)
    assert (ran.returncode, ran.stderr) == (0, "")
    for word in ("adversarial", "multi-hop", "judged right", "prompt tokens"):
        assert word in ran.stdout
    whole, window = json.loads(found.read_text())["cells"]
    assert [whole["name"], window["name"]] == list(memory)
    rows = {row["text"]: row for row in whole["rows"]}
    parrot = rows["What is the parrot in the ferry office called?"]
    assert (parrot["answer"], parrot["f1"], parrot["judged"]) == ("Admiral.", 1, 1)
    cable = rows["Who laid the cable for Nadia's kiln?"]
    assert 0 < cable["f1"] < 1
    assert cable["judged"] == 0
    assert cable["dollars"] == (cable["prompt_tokens"] + 2 * cable["completion_tokens"]) / 1e6
    assert scores_of(whole, "adversarial")["abstains"]["mean"] == 1
    assert "f1" not in scores_of(whole, "adversarial")
    every = scores_of(whole)
    assert every["questions"] == 16
    assert every["f1"]["low"] < every["f1"]["mean"] < every["f1"]["high"]
    assert scores_of(window)["in_reach"]["mean"] <= every["in_reach"]["mean"]
    asked = len(calls := server.calls("/v1/chat/completions"))
    prompts = [call.body["messages"][0]["content"] for call in calls]
    first = next(e for e in prompts if e.endswith("Question: What did Nadia buy for making bowls?"))
    assert "3 March 2023, Nadia: Oskar, you will not believe it" in first
    rows = [f"{row}yes" for row in rated.read_text().splitlines()[1:]]
    rated.write_text("\n".join([rated.read_text().splitlines()[0], *rows]))
    again = ask(environ, *more, memory=memory)
    assert again.returncode == 0, again.stderr
    assert re.search(r"agree on \d+ of 32 answers", again.stdout)
    assert len(server.calls("/v1/chat/completions")) == asked, "an answer was paid for twice"
    (again_whole, _) = json.loads(found.read_text())["cells"]
    assert again_whole["scores"][-1]["f1"] == every["f1"]


def test_a_model_that_never_knows_scores_nothing_on_answerable_questions(environ, tmp_path, server):
    server.script = lambda _: "I don't know."
    found = tmp_path / "found.json"
    ask(environ, "--json", found)
    every = scores_of(json.loads(found.read_text())["cells"][0])
    assert every["f1"]["mean"] <= 0.03
    assert every["abstains"]["mean"] == 1
