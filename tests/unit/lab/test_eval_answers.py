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


def graded(environ, folder, *more, memory=("full-context",)):
    """Ask and judge; return the cells of the result, one a memory, and what was printed."""
    found = folder / "found.json"
    ran = ask(environ, "--judge", "answers", "--json", found, *more, memory=memory)
    assert (ran.returncode, ran.stderr) == (0, "")
    return json.loads(found.read_text())["cells"], ran.stdout


def rows_of(cell):
    return {row["text"]: row for row in cell["rows"]}


def test_answers_are_compared_with_the_right_ones_and_judged(environ, tmp_path, server):
    ((cell,), shown) = graded(environ, tmp_path)
    parrot = rows_of(cell)["What is the parrot in the ferry office called?"]
    assert (parrot["answer"], parrot["f1"], parrot["judged"]) == ("Admiral.", 1, 1)
    cable = rows_of(cell)["Who laid the cable for Nadia's kiln?"]
    assert 0 < cable["f1"] < 1
    assert cable["judged"] == 0
    for word in ("adversarial", "multi-hop", "judged right", "prompt tokens"):
        assert word in shown


def test_a_question_without_an_answer_is_graded_by_whether_the_model_abstains(
    environ, tmp_path, server
):
    ((cell,), _) = graded(environ, tmp_path)
    assert scores_of(cell, "adversarial")["abstains"]["mean"] == 1
    assert "f1" not in scores_of(cell, "adversarial")


def test_scores_have_intervals(environ, tmp_path, server):
    ((cell,), _) = graded(environ, tmp_path)
    every = scores_of(cell)
    assert every["questions"] == 16
    assert every["f1"]["low"] < every["f1"]["mean"] < every["f1"]["high"]


def test_a_price_per_token_gives_the_cost_of_each_answer(environ, tmp_path, server):
    ((cell,), _) = graded(environ, tmp_path, "--price", "1,2")
    cable = rows_of(cell)["Who laid the cable for Nadia's kiln?"]
    assert cable["dollars"] == (cable["prompt_tokens"] + 2 * cable["completion_tokens"]) / 1e6


def test_memories_are_compared_in_one_run(environ, tmp_path, server):
    named = ("full-context", "sliding-window")
    ((whole, window), _) = graded(environ, tmp_path, memory=named)
    assert [whole["name"], window["name"]] == list(named)
    assert scores_of(window)["in_reach"]["mean"] <= scores_of(whole)["in_reach"]["mean"]


def test_a_prompt_has_the_memories_with_date_and_speaker(environ, tmp_path, server):
    graded(environ, tmp_path)
    calls = server.calls("/v1/chat/completions")
    prompts = [call.body["messages"][0]["content"] for call in calls]
    first = next(e for e in prompts if e.endswith("Question: What did Nadia buy for making bowls?"))
    assert "3 March 2023, Nadia: Oskar, you will not believe it" in first


def test_answers_are_kept_so_that_none_is_paid_for_twice(environ, tmp_path, server):
    ((before,), _) = graded(environ, tmp_path, "--parallel", 4)
    asked = len(server.calls("/v1/chat/completions"))
    ((after,), _) = graded(environ, tmp_path, "--parallel", 4)
    assert len(server.calls("/v1/chat/completions")) == asked
    assert scores_of(after)["f1"] == scores_of(before)["f1"]


def test_a_person_rates_answers_in_a_table_and_reads_the_agreement(environ, tmp_path, server):
    rated = tmp_path / "rated.csv"
    graded(environ, tmp_path, "--agree", rated)
    head, *rows = rated.read_text().splitlines()
    rated.write_text("\n".join([head, *(f"{row}yes" for row in rows)]))
    _, shown = graded(environ, tmp_path, "--agree", rated)
    assert re.search(r"agree on \d+ of 16 answers", shown)


def test_a_model_that_never_knows_scores_nothing_on_answerable_questions(environ, tmp_path, server):
    server.script = lambda _: "I don't know."
    found = tmp_path / "found.json"
    ask(environ, "--json", found)
    every = scores_of(json.loads(found.read_text())["cells"][0])
    assert every["f1"]["mean"] <= 0.03
    assert every["abstains"]["mean"] == 1


def test_a_model_picks_among_the_lines_that_were_found_and_searches_further(
    environ, tmp_path, server
):
    found = {}
    for more in ((), ("--decompose", "answers")):
        path = tmp_path / f"found{len(more)}.json"
        ran = keepsake(environ, "eval", LOCOMO, "--memory", "bm25", *more, "--json", path)
        assert (ran.returncode, ran.stderr) == (0, "")
        ((cell,)) = json.loads(path.read_text())["cells"]
        found[more] = rows_of(cell)
    plain, chosen = found.values()
    parrot = "What is the parrot in the ferry office called?"
    cable = "Who laid the cable for Nadia's kiln?"
    assert (plain[parrot]["picked"], plain[parrot]["searches"]) == (0, "")
    # The line 99 was not among those that were shown.
    assert chosen[parrot]["picked"] == 1
    assert chosen[parrot]["searches"] == "What did Nadia buy for making bowls?"
    assert chosen[parrot]["recalled_lines"] > plain[parrot]["recalled_lines"]
    assert chosen[parrot]["ranks"] != plain[parrot]["ranks"]
    # An answer without JSON picks nothing.
    assert chosen[cable]["picked"] == 0
    assert chosen[cable]["ranks"] == plain[cable]["ranks"]
