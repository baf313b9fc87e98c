"""Whole simulations: the same seed gives the same log, and an interrupted one can be resumed.

Real worlds in their own processes: two simulated hours of two agents and two visitors, with small
windows and short days, so that agents compact and sleep.
"""

import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, contextmanager
from pathlib import Path

import duckdb
import pytest

from game.simulation.config import settings_from
from game.simulation.plan import WORKER, SimulationPlan, create, moment, reopen
from keepsake.archive.log import Archive
from keepsake.errors import KeepsakeError
from keepsake.events.files import Filter, last
from keepsake.paths import REPOSITORY, Places, Ports
from tests.empty_tables import copy_tables_for_lab
from tests.fakes.model_server import FakeModelServer, Reply
from tests.unit.lab.in_process import keepsake
from tests.unit.mind.memory_log import file_contents

BUSY = (
    "immediate_window=8",
    "recent_window=8",
    "preserve_memories=4",
    "context_tokens=2000",
    "high=0.8",
    "low=0.5",
    "longterm_tokens=200",
    "min_saving_tokens=60",
    "idle_interval=120",
    "idle_away_factor=1",
    "awake_hours=1.5",
    "sleep_hours=1",
)
TWO_HOURS = SimulationPlan(agents=2, hours=2, visitors=2, settings=settings_from(BUSY))


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    return Places(tmp_path_factory.mktemp("home"), REPOSITORY / "vault", Ports(21000))


@pytest.fixture(scope="module")
def other_places(tmp_path_factory, tables):
    """Another home, in which worlds start with prepared database tables."""
    home = tmp_path_factory.mktemp("beside")
    copy_tables_for_lab(tables, home)
    return Places(home, REPOSITORY / "vault", Ports(21000))


def create_busy(places, name, **more):
    """Create a simulation in which a lot happens in an hour."""
    return create(places, TWO_HOURS.model_copy(update={"name": name, **more}))


@contextmanager
def playing(lab):
    """Run the simulation in a process, which prints its progress; kill it at the end."""
    command = [sys.executable, "-m", WORKER, lab.folder]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, env=lab.environ(), cwd=REPOSITORY, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def run_to_end(lab):
    with playing(lab) as process:
        said, _ = process.communicate()
    assert process.returncode == 0, said


def wait_until(condition, process, patience=300.0):
    """Wait until the condition holds while the simulation runs."""
    deadline = time.monotonic() + patience
    while not condition():
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def log_of(lab):
    """Return the digest of each file of the event log."""
    events = lab.places.events
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(events.glob("*.jsonl*"))
    }


def agents_of(lab):
    """Return all files of the agents: archives, summaries, notes, profiles, journals."""
    return file_contents(lab.places.agents)


@pytest.fixture(scope="module")
def uninterrupted(places):
    lab = create_busy(places, "uninterrupted")
    run_to_end(lab)
    return lab


def records(lab):
    return last(lab.places.events, 100_000, Filter())


def test_agents_think_compact_and_sleep(uninterrupted):
    found = records(uninterrupted)
    kinds = Counter(record["kind"] for record in found)
    assert kinds["thought"] > 10
    assert kinds["compaction"] > 0
    assert kinds["sleep"] > 2
    faults = [record["text"] for record in found if record["kind"] == "error"]
    assert all("compacting before the thought" in each for each in faults)
    assert {record["agent"] for record in found if record["kind"] == "thought"} == {"Bram", "Joss"}
    assert found[0]["t"].startswith("2026-05-04T08:00:00")
    assert found[-1]["t"].startswith("2026-05-04T10:00:00")
    outcomes = Counter(record["outcome"] for record in found if record["kind"] == "thought")
    assert outcomes["acted"] > 5 * outcomes["refused"]


def test_agents_meet_visitors_and_answer_them(uninterrupted):
    thoughts = [record for record in records(uninterrupted) if record["kind"] == "thought"]
    answers = [each for each in thoughts if each["source"] and each["priority"] == "player"]
    assert len(answers) > 3
    assert any(each["command"].startswith("say ") for each in answers)
    met = [each for each in records(uninterrupted) if each.get("op") == "met"]
    assert {each["of"] for each in met} == {"person"}
    assert "hand" not in {each.get("by") for each in records(uninterrupted)}
    people = list(uninterrupted.places.agents.glob("*/people/*.md"))
    assert people, "nobody was remembered"
    assert not any(b"admin" in kept for kept in agents_of(uninterrupted).values())


def test_the_same_seed_gives_the_same_log_byte_for_byte(other_places, uninterrupted, monkeypatch):
    """Neither the time zone nor a kill while the world is created changes the log."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    lab = create_busy(other_places, "again")
    with playing(lab) as process:
        assert "loading the world" in process.stdout.readline()
        assert "building the world" in process.stdout.readline()
    assert not lab.is_built
    (lab.places.agents / "Half").mkdir(parents=True)
    (lab.places.agents / "Half" / "profile.md").write_text("left behind")
    run_to_end(lab)
    assert log_of(lab) == log_of(uninterrupted)
    assert agents_of(lab) == agents_of(uninterrupted)
    with pytest.raises(KeepsakeError, match="--hours 26"):
        reopen(other_places, "again")


def test_a_stopped_and_killed_simulation_resumes(other_places):
    lab = create_busy(other_places, "stopped", hours=3)
    stop_with_ctrl_c(other_places, lab)
    stopped = lab.seconds_done()
    assert stopped < 3 * 3600  # 0 if it stopped before anything happened
    kill_after(reopen(other_places, "stopped"), stopped + 1800)
    assert stopped < lab.seconds_done() < 3 * 3600
    run_to_end(reopen(other_places, "stopped", hours=lab.seconds_done() / 3600 + 2))
    times = [each["t"] for each in records(lab)]
    assert times == sorted(times)
    for folder in lab.places.agents.glob("[!.]*"):
        with closing(Archive(folder / "archive")) as archive:
            memories = archive.read(1, archive.last_number)
        assert [each.number for each in memories] == list(range(1, len(memories) + 1))
        assert [each.time for each in memories] == sorted(each.time for each in memories)
    thoughts = [each["t"] for each in records(lab) if each.get("priority")]
    assert len(thoughts) > 10
    assert max(thoughts) > moment(stopped + 1800).isoformat()


def stop_with_ctrl_c(places, lab):
    """Stop the simulation by Ctrl-C, at its next idle moment."""
    environ = {**os.environ, "KEEPSAKE_HOME": str(places.home), "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "keepsake", "simulate", "--resume", "stopped"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        said = []
        for line in process.stdout:
            said.append(line)
            if "building the world" in line:  # before anything has happened
                process.send_signal(signal.SIGINT)
                said.extend(process.stdout)
    whole = "".join(said)
    assert "Ctrl-C again ends it at once" in whole
    assert "keepsake simulate --resume stopped" in whole
    assert process.returncode == 1


def kill_after(lab, seconds):
    with playing(lab) as process:
        wait_until(lambda: lab.seconds_done() > seconds, process)


CHAT_TEMPLATE = "{{ range .Messages }}{{ .Role }}: {{ .Content }}{{ end }}"


def test_a_simulation_ends_when_its_model_is_gone(other_places):
    with FakeModelServer(script=lambda _: "Well, well.") as fake:
        fake.template = CHAT_TEMPLATE  # agents whose model only continues text never act unasked
        model = f"ollama:fake@{fake.address}"
        lab = create_busy(other_places, "modelled", hours=99, visitors=0, model=model)
        with playing(lab) as process:
            wait_until(lambda: len(fake.calls("/api/chat")) > 3, process)
            fake.close()
            said, _ = process.communicate()
    assert process.returncode == 1
    assert "has not answered" in said
    assert "--resume modelled" in said
    assert 0 < lab.seconds_done() < 99 * 3600


def test_a_simulation_without_answers_fails_and_says_why(other_places):
    with FakeModelServer() as fake:
        fake.template = CHAT_TEMPLATE
        fake.always("/api/chat", Reply(status=400, raw=b'{"error": "it has hiccups"}'))
        model = f"ollama:fake@{fake.address}"
        lab = create_busy(other_places, "hiccups", agents=1, hours=0.1, visitors=0, model=model)
        with playing(lab) as process:
            said, _ = process.communicate()
    assert process.returncode == 1
    assert lab.seconds_done() == lab.plan().seconds
    assert re.search("No thought was answered: .*it has hiccups", said)


def test_an_export_has_the_archives_and_works_with_the_queries_of_the_guides(
    uninterrupted, places, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    environ = {"KEEPSAKE_HOME": str(places.home)}
    ran = keepsake(environ, "export", "--lab", "uninterrupted", "tables")
    assert ran.returncode == 0, ran.stderr
    with closing(Archive(uninterrupted.places.agents / "Bram" / "archive")) as archive:
        there = [(m.number, m.text, m.source) for m in archive.read(1, archive.last_number)]
    query = "SELECT n, text, source FROM 'tables/memories.jsonl' WHERE agent = 'Bram' ORDER BY n"
    assert duckdb.sql(query).fetchall() == there
    assert there
    text = (REPOSITORY / "docs" / "research.md").read_text(encoding="utf-8")
    (chart,) = (e for e in re.findall(r"```python\n(.*?)```", text, re.S) if "savefig" in e)
    exec(chart, {})
    assert Path("tokens.png").stat().st_size > 5000
    text = (REPOSITORY / "docs" / "events.md").read_text(encoding="utf-8")
    (queries,) = re.findall(r"```sql\n(.*?)```", text, re.S)
    asked = [each for each in queries.split(";") if each.strip()]
    assert len(asked) > 2
    for query in asked:
        found = duckdb.sql(query).fetchall()
        # In so short a life a prompt may need nothing that has left the window.
        assert found or "UNNEST(recalled)" in query, query
