"""Whole simulations: the same seed gives the same life, and a broken off one goes on.

Real worlds in processes of their own, two simulated hours of two agents and two visitors. Their
windows and budgets are small, so that memories are compacted, and their days short, so that they
sleep.
"""

import hashlib
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing

import pytest

from keepsake.archive.log import Archive
from keepsake.errors import KeepsakeError
from keepsake.events.files import Filter, last
from keepsake.lab.simulations.plan import SimulationPlan, lab_of
from keepsake.lab.simulations.simulate import Run, create, resumed, run
from keepsake.paths import REPOSITORY, Places, Ports
from tests.empty_tables import lay_tables_for_labs
from tests.fakes.model_server import FakeModelServer, Reply
from tests.unit.lab.in_process import keepsake

BUSY = {
    "memory_compaction.md": {
        **{"immediate_window": 8, "recent_window": 8, "preserve_memories": 4},
        **{"context_tokens": 2000, "high": 0.8, "sleep": 0.55, "low": 0.5},
        **{"longterm_tokens": 200, "min_saving_tokens": 60},
    },
    "thinking.md": {"idle_away_factor": 1, "idle_interval": 120},
    "sleep.md": {"awake_hours": 1.5, "sleep_hours": 1},
}
TWO_HOURS = SimulationPlan("uninterrupted", agents=2, hours=2, visitors=2)


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    return Places(tmp_path_factory.mktemp("home"), REPOSITORY / "vault", Ports(21000))


@pytest.fixture(scope="module")
def beside(tmp_path_factory, tables):
    """Another home, in which worlds are made from tables that are there."""
    home = tmp_path_factory.mktemp("beside")
    lay_tables_for_labs(tables, home)
    return Places(home, REPOSITORY / "vault", Ports(21000))


def configure(lab, file, **values):
    path = lab.vault / "config" / file
    text = path.read_text()
    for key, value in values.items():
        text, found = re.subn(rf"\*\*{key}\*\*: .*", f"**{key}**: {value}", text)
        assert found == 1, key
    path.write_text(text)


def busy(places, plan):
    """A simulation in which a lot happens in an hour."""
    lab = create(places, plan)
    for file, values in BUSY.items():
        configure(lab, file, **values)
    return lab


def log_of(lab):
    """Every file of the event log with its bytes' digest."""
    events = lab.places().events
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(events.glob("*.jsonl*"))
    }


def agents_of(lab):
    """Every file that agents keep: archives, summaries, notes, profiles, journals."""
    folder = lab.vault / "agents"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".in-use"
    }


@pytest.fixture(scope="module")
def uninterrupted(places):
    lab = busy(places, TWO_HOURS)
    run(lab)
    return lab


def records(lab):
    return last(lab.places().events, 100_000, Filter())


def test_agents_live_through_their_hours(uninterrupted):
    found = records(uninterrupted)
    kinds = Counter(record["kind"] for record in found)
    assert kinds["thought"] > 20
    assert kinds["compaction"] > 2
    assert kinds["sleep"] > 2
    faults = [record["text"] for record in found if record["kind"] == "error"]
    assert all("compacting before the thought" in each for each in faults)
    assert {record["agent"] for record in found if record["kind"] == "thought"} == {"Bram", "Joss"}
    assert found[0]["t"].startswith("2026-05-04T08:00:00")
    assert found[-1]["t"].startswith("2026-05-04T10:00:00")
    outcomes = Counter(record["outcome"] for record in found if record["kind"] == "thought")
    assert outcomes["acted"] > 5 * outcomes["refused"]


def test_a_model_server_that_is_not_there_is_missed_before_anything_is_made(places):
    plan = SimulationPlan("nobody", agents=1, hours=1, model="ollama:gemma3:4b@http://127.0.0.1:9")
    with pytest.raises(KeepsakeError, match=r"Nobody would answer as 'agent'.*127.0.0.1:9"):
        create(places, plan)
    assert list((places.home / "lab").glob("*nobody*")) == []


def test_visitors_are_met_and_answered(uninterrupted):
    thoughts = [record for record in records(uninterrupted) if record["kind"] == "thought"]
    answers = [each for each in thoughts if each["source"] and each["priority"] == "player"]
    assert len(answers) > 3
    assert any(each["command"].startswith("say ") for each in answers)
    met = [each for each in records(uninterrupted) if each.get("op") == "met"]
    assert {each["of"] for each in met} == {"person"}
    assert "hand" not in {each.get("by") for each in records(uninterrupted)}
    people = list((uninterrupted.vault / "agents").glob("*/people/*.md"))
    assert people, "nobody was remembered"
    assert not any(b"admin" in kept for kept in agents_of(uninterrupted).values())


def test_the_same_seed_gives_the_same_log_byte_for_byte(beside, uninterrupted, monkeypatch):
    """Whatever the machine's zone, and however often it was killed while it was made."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    lab = busy(beside, SimulationPlan("again", agents=2, hours=2, visitors=2))
    with Run(lab) as running:
        assert [next(running.reports()).op for _ in range(2)] == ["setting up", "making"]
    assert not lab.made
    (lab.vault / "agents" / "Half").mkdir(parents=True)
    (lab.vault / "agents" / "Half" / "profile.md").write_text("left behind")
    run(lab)
    assert log_of(lab) == log_of(uninterrupted)
    assert agents_of(lab) == agents_of(uninterrupted)
    with pytest.raises(KeepsakeError, match="--hours 26"):
        resumed(beside, "again")


def test_a_run_that_is_stopped_and_killed_goes_on_from_where_it_was(beside):
    lab = busy(beside, SimulationPlan("stopped", agents=2, hours=3, visitors=2))
    stop_by_the_command_line(beside, lab)
    stopped = lab.lived()
    assert 0 < stopped < 3 * 3600
    kill_behind(resumed(beside, "stopped"), stopped + 1800)
    assert stopped < lab.lived() < 3 * 3600
    run(resumed(beside, "stopped", hours=lab.lived() / 3600 + 2))
    times = [each["t"] for each in records(lab)]
    assert times == sorted(times)
    assert lab.counts()["thoughts"] > 10
    for folder in (lab.vault / "agents").glob("[!.]*"):
        with closing(Archive(folder / "archive")) as archive:
            lived = archive.read(1, archive.last_number)
        assert [each.number for each in lived] == list(range(1, len(lived) + 1))
        assert [each.time for each in lived] == sorted(each.time for each in lived)
    thoughts = [each["t"] for each in records(lab) if each.get("priority")]
    assert max(thoughts) > lab.plan().moment(stopped + 1800).isoformat()


def stop_by_the_command_line(places, lab):
    """Ctrl-C ends it at its next moment."""
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


def kill_behind(lab, seconds):
    def kill(report):
        if report.op == "at" and report.seconds > seconds:
            os.killpg(running.pid, signal.SIGKILL)

    with Run(lab) as running, pytest.raises(KeepsakeError, match="--resume stopped"):
        [kill(report) for report in running.reports()]


CHAT_TEMPLATE = "{{ range .Messages }}{{ .Role }}: {{ .Content }}{{ end }}"


def test_a_model_that_is_gone_ends_it(beside):
    def gone_after_a_while(report):
        if report.counts["thoughts"] > 3:
            fake.close()

    with FakeModelServer(script=lambda _: "Well, well.") as fake:
        fake.template = CHAT_TEMPLATE  # a model that only continues text does nothing unasked
        model = f"ollama:fake@{fake.address}"
        lab = busy(beside, SimulationPlan("modelled", agents=2, hours=9, visitors=0, model=model))
        with pytest.raises(KeepsakeError, match="has not answered") as ended:
            run(lab, gone_after_a_while)
    assert "--resume modelled" in ended.value.cure
    assert 0 < lab.lived() < 9 * 3600


def test_a_simulation_in_which_nobody_was_answered_says_why_and_is_no_success(beside):
    environ = {"KEEPSAKE_HOME": str(beside.home)}
    with FakeModelServer() as fake:
        fake.template = CHAT_TEMPLATE
        fake.always("/api/chat", Reply(status=400, raw=b'{"error": "it has hiccups"}'))
        options = (
            *("--agents", "1", "--hours", "0.1", "--visitors", "0"),
            *("--set", "idle_interval=60", "--set", "idle_away_factor=1"),
            *("--model", f"ollama:fake@{fake.address}"),
        )
        ran = keepsake(environ, "simulate", "hiccups", *options)
    assert ran.returncode == 1
    lab = lab_of(beside, "hiccups")
    assert lab.lived() == lab.plan().seconds
    said = " ".join(ran.stdout.split())
    assert "No thought was answered: " in said
    assert "it has hiccups" in said
