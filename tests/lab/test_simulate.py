"""Whole simulations: the same seed gives the same life, whatever becomes of the process.

Real worlds in processes of their own, two simulated hours of two agents and two visitors. Their
windows and budgets are small, so that memories are compacted, and their days short, so that they
sleep. The one that nobody disturbs is forked as well.
"""

import hashlib
import io
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from game.cli.lab.simulate import _RunDisplay, show
from game.lab.forks.lab_fork import fork_lab, fork_lab_world
from game.lab.replays.event_history import read_log
from game.lab.replays.figures import lived
from game.lab.replays.lived import find_agent, read_life
from game.lab.simulations import checkpoints
from game.lab.simulations.plan import Lab, SimulationPlan, lab_of
from game.lab.simulations.simulate import Run, SimulationReport, create, resumed, run
from keepsake.errors import KeepsakeError
from keepsake.events.log import EventLog
from keepsake.events.reader import Filter, last
from keepsake.events.types import World
from keepsake.paths import REPOSITORY, Places, Ports
from keepsake.ports import FixedClock
from tests.fakes.model_server import FakeModelServer, Reply
from tests.lab.archived import fingerprint

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
        if path.is_file()
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


def test_a_night_is_fallen_asleep_to_once_however_many_hours_it_goes_through(uninterrupted):
    asleep = set()
    told = [each for each in records(uninterrupted) if each["kind"] == "sleep"]
    assert sum(each["op"] == "falls asleep" for each in told) > 1
    for each in told:
        if each["op"] == "falls asleep":
            assert each["agent"] not in asleep, each
            assert "awake" in each["why"]
            asleep.add(each["agent"])
        elif each["op"] == "wakes":
            asleep.remove(each["agent"])


_BODIES = """
import game.lab.simulations.world as world
world.set_up()
from evennia.accounts.models import AccountDB
admin, *visitors = AccountDB.objects.order_by("id")
print(admin.db._last_puppet, *admin.characters.all(), *visitors[0].characters.all())
"""


def inside(lab, script):
    """What a script prints that runs in Evennia, in the world of a simulation."""
    environ = {
        **os.environ,
        **{"KEEPSAKE_HOME": str(lab.home), "KEEPSAKE_VAULT": str(lab.vault)},
        "PYTHONPATH": str(REPOSITORY),
        # Not what tests of the game, in this very process, may have set it to.
        "DJANGO_SETTINGS_MODULE": "game.server.conf.settings",
    }
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_admin_and_the_visitors_have_their_bodies_when_the_game_is_started(uninterrupted):
    assert inside(uninterrupted, _BODIES).split() == ["admin", "admin", "Tom"]


def test_a_world_that_somebody_has_played_in_is_not_simulated_on_by_mistake(places, uninterrupted):
    fork_lab(places, "uninterrupted", "played", "", lambda _: None)
    run(resumed(places, "played", hours=2.01))  # else it would have no checkpoint
    lab = lab_of(places, "played")
    before = log_of(lab), agents_of(lab)
    for at in (datetime(2020, 1, 1, tzinfo=UTC), datetime(2026, 11, 22, 2, 27, tzinfo=UTC)):
        assert checkpoints.go_back(lab)
        play(lab, at)
        with pytest.raises(KeepsakeError, match="Somebody has played") as refused:
            resumed(places, "played", hours=4)
        assert f"last at {at:%Y-%m-%d}" in refused.value.what
        assert "keepsake fork --lab played played-2, then" in refused.value.cure
    with closing(EventLog(lab.places().events)) as log:
        log.emit(World(op="starts"))
        assert log.flush(60)
        with pytest.raises(KeepsakeError, match="The game runs"):
            run(resumed(places, "played", hours=3, back=True))
    with Run(resumed(places, "played", hours=4, back=True)) as running:
        assert any(report.op == "at" for report in running.reports())
    assert checkpoints.go_back(lab)
    checkpoints.settle(lab)
    assert (log_of(lab), agents_of(lab)) == before


def play(lab, at):
    """What the log has when somebody has played then."""
    with closing(EventLog(lab.places().events, clock=FixedClock(at))) as log:
        log.emit(World(op="starts"))
        assert log.flush(60)


def test_a_fork_is_not_simulated_on_either_once_somebody_has_played_in_it(places, uninterrupted):
    """Nor is its first hour, when that was broken off."""
    was = acts(uninterrupted)
    fork_lab(places, "uninterrupted", "part", str(len(was) // 2), lambda _: None)
    lab = lab_of(places, "part")
    with Run(resumed(places, "part", hours=1000)) as running:
        assert any(report.op == "at" for report in running.reports())
    assert lab.unsettled.exists()
    resumed(places, "part")
    play(lab, datetime(2026, 11, 22, 2, 27, tzinfo=UTC))
    with pytest.raises(KeepsakeError, match="Somebody has played") as refused:
        resumed(places, "part")
    assert "--back" in refused.value.cure
    assert checkpoints.go_back(lab)
    assert acts(lab) == was[: len(acts(lab))]


def acts(lab):
    """Events by which two runs can be told apart."""
    return [(each["seq"], each["kind"], each.get("agent"), each["t"]) for each in records(lab)]


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


def test_the_same_seed_gives_the_same_log_byte_for_byte_whatever_ends_it(places, uninterrupted):
    """One life: killed while it is made, stopped, killed in an hour, and resumed each time."""
    lab = busy(places, SimulationPlan("stopped", agents=2, hours=30, visitors=2))
    for op in ("making", "going back"):
        kill_at(lab, op)
        assert not lab.made
    (lab.vault / "agents" / "Half").mkdir(parents=True)
    (lab.vault / "agents" / "Half" / "profile.md").write_text("left behind")
    stop_in_the_first_hour(places, lab)
    shorter = resumed(places, "stopped", hours=2)
    with pytest.raises(KeepsakeError, match="--resume stopped"):
        kill_in_the_second_hour(shorter)
    assert lab.unsettled.exists(), "it was killed too late"
    assert lab.lived() == 3600
    run(resumed(places, "stopped"))
    assert log_of(lab) == log_of(uninterrupted)
    assert agents_of(lab) == agents_of(uninterrupted)
    with pytest.raises(KeepsakeError, match="--hours 26"):
        resumed(places, "stopped")


def stop_in_the_first_hour(places, lab):
    """By the command line: Ctrl-C ends it at the next checkpoint."""
    environ = {
        **os.environ,
        **{"KEEPSAKE_HOME": str(places.home), "PYTHONPATH": str(REPOSITORY)},
        **{"PYTHONHASHSEED": "4711", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
    }
    command = [sys.executable, "-m", "game", "simulate", "--resume", "stopped"]
    said = []
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            said.append(line)
            if "building the world" in line:  # so before its first hour is over
                process.send_signal(signal.SIGINT)
                said.extend(process.stdout)
    whole = "".join(said)
    assert "It ends at its next checkpoint, Monday 04 May 09:00. Ctrl-C again" in whole
    assert "keepsake simulate --resume stopped" in whole
    assert process.returncode == 1
    assert (lab.lived(), lab.unsettled.exists()) == (3600.0, False)


def kill_in_the_second_hour(lab):
    with Run(lab) as running:
        for report in running.reports():
            if report.op == "at" and report.seconds > 3600:
                os.killpg(running.pid, signal.SIGKILL)


CHAT_TEMPLATE = "{{ range .Messages }}{{ .Role }}: {{ .Content }}{{ end }}"


def test_a_model_that_is_gone_ends_it_at_the_last_checkpoint(places):
    def gone_after_an_hour(report):
        if report.op == "checkpoint":
            fake.close()

    with FakeModelServer(script=lambda _: "Well, well.") as fake:
        fake.template = CHAT_TEMPLATE  # a model that only continues text does nothing unasked
        model = f"ollama:fake@{fake.address}"
        lab = busy(places, SimulationPlan("modelled", agents=2, hours=2, visitors=0, model=model))
        with pytest.raises(KeepsakeError, match="has not answered") as ended:
            run(lab, gone_after_an_hour)
    assert "--resume modelled" in ended.value.cure
    assert lab.lived() == 3600
    answers = [each["answer"] for each in records(lab) if each["kind"] == "thought"]
    assert "Well, well." in answers


def test_one_of_a_name_and_one_run_of_it_at_a_time(places, uninterrupted):
    with pytest.raises(KeepsakeError, match="uninterrupted"):
        create(places, TWO_HOURS)
    lab = create(places, SimulationPlan("twice", agents=1, hours=1000, visitors=0))
    with Run(lab) as first:
        assert next(first.reports()).op == "setting up"
        with pytest.raises(KeepsakeError, match="running already"):
            run(lab)
        process = psutil.Process(first.pid)
        ended = [process, *process.children(recursive=True)]
    deadline = time.monotonic() + 120
    while any(map(works, ended)):  # whoever leaves a run ends it
        assert time.monotonic() < deadline
        time.sleep(0.05)


def works(process):
    """Whether a process is there, and not merely waiting for somebody to take note of its end."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def kill_at(lab, op):
    with Run(lab) as running:
        for report in running.reports():
            if report.op == op:
                return  # whoever leaves a run ends it


def test_a_log_that_cannot_be_written_ends_it_with_the_cure(places):
    lab = create(places, SimulationPlan("full", agents=1, hours=1, visitors=1))
    lab.places().events.write_text("a file where the folder should be")
    with pytest.raises(KeepsakeError, match="event log") as ended:
        run(lab)
    assert "--resume" in ended.value.cure
    assert lab.lived() == 0


_FULL = """
import sqlite3
from pathlib import Path
from game.lab.simulations import worker
from game.lab.simulations.plan import Lab
from keepsake.errors import KeepsakeError

def work():
    raise {error}

try:
    worker._in_child(Lab(Path("some/full")), work)
except KeepsakeError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("OSError(28, 'No space left on device')", "Free some disk space"),
        ("sqlite3.OperationalError('database or disk is full')", "--resume full"),
        ("ValueError('a fault')", "ended by a fault"),
    ],
)
def test_a_full_disk_is_told_of_even_if_there_is_no_room_to_write_of_it(error, said):
    listening, speaking = os.pipe()  # whoever started it listens
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", _FULL.format(error=error)],
            cwd=REPOSITORY,
            stdin=listening,
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            timeout=300,
            check=False,
        )
    os.close(listening)
    os.close(speaking)
    assert said in done.stdout


def test_a_home_that_cannot_be_written_is_named(tmp_path):
    spoilt = tmp_path / "file"
    spoilt.write_text("no folder")
    with pytest.raises(KeepsakeError, match="could not be made"):
        create(Places(spoilt, REPOSITORY / "vault", Ports(21000)), SimulationPlan("life"))


def test_the_configuration_comes_from_the_vault_and_recall_goes_by_words(places, tmp_path):
    lab = create(places, SimulationPlan("configured", agents=1, hours=1, seed=9))
    assert isinstance(lab, Lab)
    models = (lab.vault / "config" / "llm.md").read_text()
    assert "**provider**: scripted\n" in models
    assert "**seed**: 9\n" in models
    assert "**chroma**: none" in (lab.vault / "config" / "recall.md").read_text()
    assert list((places.home / "lab").glob(".*.part")) == []


# -- forks


def forked(places, name, of, at):
    """A fork of that name, lived to its end."""
    fork_lab(places, of, name, at, lambda _: None)
    run(resumed(places, name))
    return lab_of(places, name)


@settings(max_examples=2, derandomize=True, deadline=None)
@given(share=st.floats(0, 1))
def test_a_fork_of_any_event_with_nothing_changed_is_the_same_life(places, uninterrupted, share):
    seq = max(round(share * len(records(uninterrupted))), 1)
    name = f"same-{seq}"
    shutil.rmtree(lab_of(places, name).folder, ignore_errors=True)
    fork_lab(places, "uninterrupted", name, str(seq), lambda _: None)
    lab = lab_of(places, name)
    if lab.lived() < lab.plan().seconds:
        run(resumed(places, name))
    assert log_of(lab) == log_of(uninterrupted)
    assert agents_of(lab) == agents_of(uninterrupted)
    assert lab.counts() == uninterrupted.counts()


def test_a_fork_goes_its_own_way_behind_its_point_and_the_original_stays(places, uninterrupted):
    base, was = uninterrupted, acts(uninterrupted)
    middle = len(was) * 3 // 4
    before = fingerprint(base.folder)
    fork_lab(places, "uninterrupted", "other", str(middle), lambda _: None)
    other = lab_of(places, "other")
    assert other.plan().name == "other"
    assert 0 < other.lived() < base.lived()
    assert acts(other) == was[: len(acts(other))]  # up to its checkpoint
    assert not (other.home / "secret-key").exists()
    configure(other, "thinking.md", idle_interval=60)
    run(resumed(places, "other"))
    after = acts(other)
    point = was[middle - 1][-1]
    assert [each for each in after if each[-1] <= point] == [
        each for each in was if each[-1] <= point
    ]
    assert after != was
    assert other.lived() == base.lived()
    assert fingerprint(base.folder) == before
    # A fork of the fork, from within what both have lived, and from behind it.
    for name, place in (("grandchild", middle - 2), ("late", len(after) - 3)):
        again = forked(places, name, "other", str(place))
        if place < middle:
            assert log_of(again) == log_of(base)  # the setting was changed later
        else:
            assert log_of(again) == log_of(other)
    with pytest.raises(KeepsakeError, match="no checkpoint from before"):
        fork_lab(places, "other", "too-early", "3", lambda _: None)


def test_what_a_real_model_has_answered_is_answered_once_more_up_to_the_point(places):
    """Thoughts, and from worker threads summaries and nights; it says something else each time."""
    said = itertools.count()
    with FakeModelServer(script=lambda _: f" say This is the thing number {next(said)}.") as fake:
        model = f"ollama:fake@{fake.address}"
        base = busy(places, SimulationPlan("real", agents=2, hours=0.9, visitors=2, model=model))
        profiles = base.vault / "config" / "llm.md"
        own = f"**provider**: ollama\n**model**: fake\n**host**: {fake.address}"
        text = profiles.read_text().replace("**provider**: extractive", own)
        assert own in text
        profiles.write_text(text)
        configure(base, "sleep.md", awake_hours=0.5)
        run(base)
        was, asked = acts(base), next(said)
        asking = {each["kind"] for each in records(base) if each.get("calls")}
        assert asking == {"compaction", "sleep"}
        place = len(was) // 2
        fork = forked(places, "real-fork", "real", str(place))
        whole = [json.dumps(each) for each in records(base) if each["t"] <= was[place - 1][-1]]
        again = [json.dumps(each) for each in records(fork)]
        assert again[: len(whole)] == whole
        assert again[len(whole) :] != [json.dumps(each) for each in records(base)][len(whole) :]
        assert 0 < next(said) - asked - 1 < asked


def test_a_simulation_that_was_given_more_amid_an_hour_is_forked_with_its_ends(places):
    base = busy(places, SimulationPlan("short", agents=1, hours=0.2, visitors=0))
    run(base)
    run(resumed(places, "short", hours=0.5))
    assert base.plan().ends == (720.0,)
    fork = forked(places, "short-fork", "short", "2026-05-04T08:05+00:00")
    assert (log_of(fork), agents_of(fork)) == (log_of(base), agents_of(base))
    assert fork.counts() == base.counts()


def test_a_simulation_waits_for_its_copy_until_a_moment_between_two_hours(places, uninterrupted):
    removed = threading.Event()

    def live_on():
        checkpoints.begin(uninterrupted)
        removed.set()

    living = threading.Thread(target=live_on, daemon=True)

    def say(line):
        if line == "Copying the checkpoint":
            living.start()
        assert not removed.is_set()

    fork_lab(places, "uninterrupted", "undisturbed", "", say)
    living.join(60)
    assert removed.is_set()
    checkpoints.settle(uninterrupted)
    assert not uninterrupted.unsettled.exists()


def test_its_world_can_be_taken_out_of_the_lab_once_it_is_made(places, uninterrupted, tmp_path):
    forked = fork_lab_world(places, "uninterrupted", tmp_path / "world", "", lambda _: None)
    assert forked.places.database.exists()
    models = (uninterrupted.vault / "config" / "llm.md").read_text()
    assert (forked.places.config / "llm.md").read_text() == models
    assert forked.placed is not None
    for inside in (places.home / "world", uninterrupted.folder / "world"):
        with pytest.raises(KeepsakeError, match="belongs to this copy of Keepsake"):
            fork_lab_world(places, "uninterrupted", inside, "", lambda _: None)
    with pytest.raises(KeepsakeError, match="There is no simulation 'none'"):
        fork_lab_world(places, "none", tmp_path / "more", "", lambda _: None)
    create(places, SimulationPlan("unmade", agents=1, hours=1))
    with pytest.raises(KeepsakeError, match="not made yet") as refused:
        fork_lab(places, "unmade", "copy", "", lambda _: None)
    assert "--resume unmade" in refused.value.cure


# -- the figures of its event log


def test_a_life_is_counted_from_its_event_log(uninterrupted):
    here = uninterrupted.places()
    for name in ("Bram", "Joss"):
        life = read_life(*find_agent(here.agents, name))
        told = lived(read_log(here.events, name), life.memories)
        assert told["compactions"] > 2
        assert 0 < told["largest_prompt"] <= 1
        assert told["memories"] > told["window"] > 0


# -- what a terminal shows


def screen(width):
    return Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)


def test_name_bar_share_and_speed_are_there_in_every_width(places):
    lab = create(places, SimulationPlan("market", hours=24))
    for width in (60, 80, 200):
        out = screen(width)
        shown = _RunDisplay(out, lab)
        counts = {"thoughts": 1234, "tokens": 2_345_678}
        with shown.bar():
            shown.take(SimulationReport("going back", 0.0, "", {}))
            shown.take(SimulationReport("at", 43_200.0, "", counts))
            shown.bar().refresh()
        newest = [line for line in out.file.getvalue().splitlines() if "50%" in line][-1]
        assert re.search(r"market ━+.* 50% .*1,234 thoughts.* \d+x", newest), newest
        assert ("2,345,678 tokens" in newest) is (width == 200)


def test_a_simulation_in_which_nobody_was_answered_says_why_and_is_no_success(places):
    out = screen(100)
    with FakeModelServer() as fake:
        fake.always("/api/generate", Reply(status=400, raw=b'{"error": "it has hiccups"}'))
        model = f"ollama:fake@{fake.address}"
        plan = SimulationPlan("hiccups", agents=1, hours=0.1, visitors=0, model=model)
        assert show(out, busy(places, plan)) is False
    lab = lab_of(places, "hiccups")
    assert lab.lived() == lab.plan().seconds
    said = " ".join(out.file.getvalue().split())
    assert "No thought was answered: " in said
    assert "it has hiccups" in said
