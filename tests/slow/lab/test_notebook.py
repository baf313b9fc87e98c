"""Exports of a simulated world: tables of its lives, and the notebook that asks them something."""

import json
import re
from contextlib import redirect_stdout
from io import StringIO

import duckdb
import pytest

from keepsake.archive.log import Archive
from keepsake.lab.simulations.plan import SimulationPlan
from keepsake.lab.simulations.settings import settings_from
from keepsake.lab.simulations.simulate import create, run
from keepsake.paths import REPOSITORY, Places, Ports
from tests.empty_tables import lay_tables_for_labs
from tests.unit.lab.in_process import keepsake

NOTEBOOK = REPOSITORY / "docs" / "notebooks" / "three_questions.ipynb"
BUSY = (
    *("immediate_window=8", "recent_window=8", "preserve_memories=4", "context_tokens=2000"),
    *("high=0.8", "memory_compaction.sleep=0.55", "low=0.5", "longterm_tokens=200"),
    *("min_saving_tokens=60", "idle_interval=120", "idle_away_factor=1"),
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory, tables):
    home = tmp_path_factory.mktemp("home")
    lay_tables_for_labs(tables, home)
    places = Places(home, REPOSITORY / "vault", Ports(21000))
    chosen = settings_from(BUSY)
    lab = create(places, SimulationPlan("asked", 2, 1.0, visitors=3, settings=chosen))
    run(lab)
    return lab


@pytest.fixture(scope="module")
def exported(lab):
    home, folder = lab.folder.parent.parent, lab.folder.parent.parent / "tables"
    environ = {"KEEPSAKE_HOME": str(home)}
    ran = keepsake(environ, "export", "--lab", "asked", folder)
    assert ran.returncode == 0, ran.stderr
    return folder


def rows(exported, query):
    return duckdb.sql(query.replace("TABLES", str(exported))).fetchall()


def test_memories_are_those_of_the_archives_word_for_word(lab, exported):
    for name in ("Bram", "Joss"):
        archive = Archive(lab.vault / "agents" / name / "archive")
        there = [(m.number, m.text, m.source) for m in archive.read(1, archive.last_number)]
        archive.close()
        query = (
            "SELECT n, text, source FROM 'TABLES/memories.parquet' WHERE agent = '{}' ORDER BY n"
        )
        assert rows(exported, query.format(name)) == there
        assert there


def test_the_notebook_answers_its_questions_of_any_export(exported, monkeypatch):
    monkeypatch.setenv("KEEPSAKE_TABLES", str(exported))
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    known = {}
    with redirect_stdout(StringIO()):
        for cell in cells:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), known)
    assert any(said_by and said_by in words for *_, said_by, words in known["evidence"].fetchall())
    assert known["known"].fetchall()
    assert sum(answers for _, answers, *_ in known["rested"].fetchall()) > 3
    kept = known["kept"].fetchall()
    assert kept
    assert sum(before - after for _, _, _, before, after, *_ in kept) > 0


def test_the_guides_chart_is_drawn(exported, tmp_path, monkeypatch):
    text = (REPOSITORY / "docs" / "research.md").read_text(encoding="utf-8")
    (chart,) = (e for e in re.findall(r"```python\n(.*?)```", text, re.S) if "savefig" in e)
    (tmp_path / "tables").symlink_to(exported)
    monkeypatch.chdir(tmp_path)
    exec(chart, {})
    assert (tmp_path / "tokens.png").stat().st_size > 5000


def test_the_queries_of_the_page_of_events_have_answers(exported):
    text = (REPOSITORY / "docs" / "events.md").read_text(encoding="utf-8")
    (queries,) = re.findall(r"```sql\n(.*?)```", text, re.S)
    asked = [each for each in queries.split(";") if each.strip()]
    assert len(asked) > 2
    for query in asked:
        assert rows(exported, query.replace("'tables/", "'TABLES/")), query
