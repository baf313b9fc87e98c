"""keepsake replay and keepsake fork, as a terminal sees them."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from keepsake.paths import REPOSITORY
from tests.lab.archived import lived, places
from tests.lab.in_process import keepsake as in_process


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    lived(places(folder).agents / "Mira", 160)
    (folder / "tmp").mkdir()
    return folder


def environ(home):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KEEPSAKE_")}
    there = places(home)
    paths = {"KEEPSAKE_HOME": str(there.home), "KEEPSAKE_VAULT": str(there.vault)}
    return {**kept, **paths, "TMPDIR": str(home / "tmp"), "PYTHONPATH": str(REPOSITORY)}


def keepsake(home, *arguments):
    return in_process(environ(home), *arguments)


def replay(home, *options):
    return keepsake(home, "replay", "mira", "--jobs", "1", *options)


def test_figures_are_whole_in_a_narrow_terminal_in_files_and_in_a_chart(home):
    files = [home / "grid.csv", home / "grid.svg"]
    options = [
        "--windows",
        "8/8,16/16",
        "--strategy",
        "narrative,sliding",
        "--no-probes",
        "--jobs",
        "1",
    ]
    command = [sys.executable, "-m", "game", "replay", "mira", *options, "--csv", files[0]]
    done = subprocess.run(
        [*command, "--chart", files[1]],
        env={**environ(home), "COLUMNS": "40"},
        **{"cwd": REPOSITORY, "capture_output": True, "text": True, "timeout": 600},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Mira: 160 memories, ")
    shown = [line for line in done.stdout.splitlines() if line.startswith(("narr", "slid"))]
    assert [line.split("  ")[0] for line in shown] == [
        *("narrative 8/8", "narrative 16/16", "sliding 8/8", "sliding 16/16")
    ]
    heading = next(line for line in done.stdout.splitlines() if line.split()[:1] == ["sent"])
    assert heading.split()[-1] == "rules"
    assert "…" not in shown[0]
    assert len(shown[0]) > 60
    with files[0].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["name"] == "as it is"
    assert all(int(row["tokens_sent"]) > 0 for row in rows)
    assert files[1].read_text().startswith("<?xml")
    assert list((home / "tmp").iterdir()) == []


def test_the_same_grid_draws_the_same_chart(home):
    charts = [home / "one.png", home / "two.png"]
    for chart in charts:
        assert replay(home, "--windows", "8/8", "--no-probes", "--chart", chart).returncode == 0
    assert charts[0].read_bytes() == charts[1].read_bytes()
    assert charts[0].read_bytes().startswith(b"\x89PNG")


def test_without_probes_the_chart_says_that_nothing_was_asked(home):
    chart = home / "short.svg"
    assert replay(home, "--no-probes", "--chart", chart).returncode == 0
    assert "nothing was asked" in chart.read_text()
    assert "by the prompt alone" not in chart.read_text()


def test_a_configuration_that_cannot_be_is_a_row_beside_those_that_can(home):
    options = ("--high", "0.3,0.9", "--strategy", "structurd,structured", "--no-probes")
    done = replay(home, *options, "--json")
    assert done.returncode == 0
    assert "There is no template 'structurd'" in done.stderr
    found = json.loads(done.stdout)  # and nothing else is on standard output
    assert [bool(each["problem"]) for each in found] == [False, True, True, True, False]
    assert [each["strategy"] for each in found[:3]] == ["narrative", "structurd", "structurd"]
    assert found[0]["questions"] == 0


def test_each_row_has_its_settings_and_twins_are_named(home):
    file = home / "twins.csv"
    grid = ("--windows", "32/32,64/64", "--strategy", "narrative", "--no-probes")
    done = replay(home, *grid, "--csv", file)
    assert "'narrative 64/64' comes to the same as 'as it is'" in done.stdout
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    told = [(row["name"], row["strategy"], row["immediate_window"], row["same_as"]) for row in rows]
    assert told == [
        ("as it is", "narrative", "64", ""),
        ("narrative 32/32", "narrative", "32", ""),
        ("narrative 64/64", "narrative", "64", "as it is"),
    ]
    assert rows[2]["tokens_sent"] == rows[0]["tokens_sent"]


def test_a_csv_that_cannot_be_written_does_not_keep_the_chart_back(home):
    taken = home / "taken.csv"
    taken.mkdir()
    done = replay(home, "--no-probes", "--csv", taken, "--chart", home / "there.svg")
    assert done.returncode == 1
    assert "taken.csv could not be written" in " ".join(done.stderr.split())
    assert (home / "there.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["replay", "nobody"], "There are: Mira"),
        (["replay", "mira", "--chart", "life.pdf"], "End its name in .png or .svg"),
        (["replay", "mira", "--csv", "/no/such/folder/a.csv"], "There is no folder"),
        (["replay", "mira", "--set", "x=1"], "--set key=value"),
        (["replay", "mira", "--strategy", "structurd"], "There is no template 'structurd'"),
        (["replay", "mira", "--windows", "0/0,99999999"], "None of the 2 configurations can"),
        (["replay", "mira", "--high", "85"], "85 is no share"),
        (["replay", "mira", "--high", "0.3", "--low", "0.6"], "low 0.6 is not below high 0.3"),
        (["replay", "mira", "--set", "longterm_tokens=-1"], "-1 is not between"),
        (["replay", "mira", "--model", "nope"], "There is no profile 'nope'"),
        (["replay", "mira", "--lab", "none"], "There is no simulation 'none'"),
        (["simulate", "--resume", "none", "--agents", "5"], "--agents does not go with --resume"),
        (["simulate", "other", "--resume", "none"], "a second name does not go with --resume"),
        (["simulate", "--hours", "1e9"], "--hours is 1000000000."),
        (["simulate", "new", "--back"], "--back goes with --resume alone"),
        (["logs", "--lab", "none", "--no-follow"], "There is no simulation 'none'"),
        (["logs", "--no-follow"], "There are no such events"),
        (["fork", "there", "--at", "soon"], "no point of a log"),
        (["fork", " "], "The copy needs a folder"),
        (["fork", "there", "--at", " "], "--at names no point"),
        (["fork", "new", "--lab", "none"], "There is no simulation 'none'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_with_its_cure(home, arguments, message):
    done = keepsake(home, *arguments)
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
    assert "line 0" not in done.stderr
    assert "save this file" not in done.stderr
    assert done.stdout == ""  # no life was lived for it


def test_the_help_begins_with_the_game(home):
    shown = keepsake(home, "--help").stdout
    places_of = [shown.index(f" {name} ") for name in ("start", "status", "simulate", "replay")]
    assert places_of == sorted(places_of)


def test_a_fork_says_what_it_is_and_how_to_start_it(home):
    target = home / "copy"
    done = keepsake(home, "fork", target, "--at", "Mira memory 100")
    assert done.returncode == 0, done.stderr
    assert "Mira: 100 memories, 60 later ones left out" in done.stdout
    assert "As it is now, not as it was then" in done.stdout
    assert f"KEEPSAKE_HOME={target / 'home'} KEEPSAKE_VAULT={target / 'vault'}" in done.stdout
    assert "is there already" in keepsake(home, "fork", target).stderr


# A shell has what it runs in the background ignore Ctrl-C, these tests perhaps among it.
_INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from game.cli.app import main
if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_a_grid_ends_every_process_and_leaves_nothing_behind(home, tmp_path, by):
    script = tmp_path / "interruptible.py"
    script.write_text(_INTERRUPTIBLE)
    sizes = ",".join(map(str, range(4, 60)))
    command = [sys.executable, str(script), "replay", "mira", "--windows", sizes, "--jobs", "2"]
    with subprocess.Popen(command, env=environ(home), stderr=subprocess.PIPE) as running:
        children = working(running, home)
        running.send_signal(by)
        assert running.wait(120) != 0
    gone, alive = psutil.wait_procs(children, timeout=120)
    assert alive == []
    assert gone
    assert list((home / "tmp").iterdir()) == []


def working(running, home):
    """The processes of a replay, once they live."""
    while running.poll() is None:
        children = psutil.Process(running.pid).children(recursive=True)
        if any((home / "tmp").glob("keepsake-replay-*/replay-*")):
            return children
        time.sleep(0.1)
    raise AssertionError("it ended by itself")
