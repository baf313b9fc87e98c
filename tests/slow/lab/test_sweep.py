"""Sweeps: the cells of a plan, its errors, and the files with the results."""

import json
import re

import duckdb
import pyarrow.parquet as pq
import pytest

from keepsake.errors import KeepsakeError
from keepsake.lab.sweep import read_plan
from keepsake.paths import REPOSITORY
from tests.sentences import table
from tests.unit.lab.conftest import answering_server, environ_in
from tests.unit.lab.in_process import keepsake

DATA = REPOSITORY / "tests" / "data" / "benchmarks"
PLAN = f"""\
name: Windows
sources:
  - file: {DATA / "locomo.json"}
  - probes: {{loads: [20]}}
memories:
  - full-context
  - name: sliding-window
    set: {{window: [8, 64]}}
  - "nosuch:Class"
seeds: [1, 2]
questions: 30
"""
BREAKING = """
class Breaking:
    def __init__(self, given): raise RuntimeError("half of it")
    perceive = context = recall = rest = close = __init__
"""


def write_plan(folder, text=PLAN):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "plan.yaml"
    path.write_text(text)
    return path


def test_a_plan_has_a_cell_for_each_combination(tmp_path):
    cells = read_plan(write_plan(tmp_path)).cells
    arms = ["full-context", "sliding-window window=8", "sliding-window window=64", "nosuch:Class"]
    of_file = [cell for cell in cells if cell.source.file]
    # Without a model, a file gives the same result with every seed.
    assert [cell.name for cell in of_file] == arms
    assert [(c.name, c.seed) for c in cells[4:]] == [(arm, seed) for arm in arms for seed in (1, 2)]
    assert len(set(cells)) == len(cells) == 12
    answered = PLAN + "profiles: [none, agent]\njudge: agent\n"
    more = read_plan(write_plan(tmp_path, answered)).cells
    assert len(more) == 12 + 16
    assert {(c.profile, c.judge) for c in more} == {("", ""), ("agent", "agent")}


@pytest.mark.parametrize(("text", "message"), table("plans that cannot be used"))
def test_errors_in_a_plan_are_reported(tmp_path, text, message):
    with pytest.raises(KeepsakeError, match=re.escape(message)) as found:
        read_plan(write_plan(tmp_path, text))
    assert "plan.yaml" in str(found.value)
    assert found.value.cure


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A sweep some cells of which failed; returns its folder, and what the command printed."""
    folder = tmp_path_factory.mktemp("swept")
    (folder / "breaking.py").write_text(BREAKING)
    breaks = PLAN.replace("nosuch:Class", "breaking:Breaking")
    plan = write_plan(folder / "there", breaks + "profiles: [none, answers]\njudge: answers\n")
    with answering_server() as server, pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        ran = keepsake(environ_in(folder, server), "sweep", plan, "--jobs", "1")
    return folder / "there" / "plan", ran


def test_a_sweep_goes_on_after_a_failed_cell_and_says_so(swept):
    folder, ran = swept
    assert ran.returncode == 1
    assert "half of it" in ran.stderr
    assert "after a week" in ran.stdout
    rows = pq.read_table(folder / "results.parquet").to_pylist()
    failed = [row for row in rows if row["problem"]]
    assert {row["memory"] for row in failed} == {"breaking:Breaking"}


def test_the_report_is_complete_and_self_contained(swept):
    folder, _ = swept
    page = (folder / "report.html").read_text()
    for part in (
        "p by Holm",
        "after an hour",
        "after a week",
        "Failed cells",
        "keepsake sweep",
        "full-context",
        "sliding-window window=8",
    ):
        assert part in page
    assert "<title>" in page
    assert page.count("<figure>") > 4
    assert page.count('class="wide') == page.count('tabindex="0" role="region"')
    assert PLAN.splitlines()[0] in page
    assert not re.search(r'(?:src|href)="(?!#)', page), "it loads other files"


def test_the_table_of_results_has_each_answer_with_its_cell(swept):
    folder, _ = swept
    rows = pq.read_table(folder / "results.parquet").to_pylist()
    parrot = [row for row in rows if "parrot" in (row["text"] or "") and row["profile"]]
    assert {row["f1"] for row in parrot} == {1.0}
    assert {json.loads(row["settings"]).get("window") for row in parrot} == {None, "8", "64"}
    assert {row["seed"] for row in parrot} == {1, 2}


def test_results_of_two_machines_are_merged_into_one_table(tmp_path, monkeypatch, environ):
    plan = "sources: [{probes: {loads: [20]}}]\nmemories: [sliding-window]\nquestions: 30\n"
    # A model answers on one machine only: the other table has no columns for answers.
    for seed, more in ((1, "profiles: answers\n"), (2, "")):
        half = write_plan(tmp_path / f"half{seed}", f"{plan}seeds: [{seed}]\n{more}")
        assert keepsake(environ, "sweep", half, "--jobs", "1").returncode == 0
    monkeypatch.chdir(tmp_path)
    page = (REPOSITORY / "docs" / "evaluation.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^COPY \(.*;$", page, re.M)
    duckdb.sql(command)
    halves = [
        pq.read_table(each).to_pylist() for each in sorted(tmp_path.glob("half*/plan/*.parquet"))
    ]
    merged = pq.read_table("all.parquet").to_pylist()
    assert [len(half) for half in halves] == [30, 30]
    assert ["answer" in half[0] for half in halves] == [True, False]
    assert merged == [{**dict.fromkeys(merged[0]), **row} for half in halves for row in half]
