"""What keepsake replay says, prints and writes where something is amiss."""

import csv
import json
import os
import subprocess
import sys

import pytest

from game.paths import REPOSITORY
from tests.lab.archived import lived, places

_COMMAND = [sys.executable, "-c", "from game.cli.app import main; main()"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replays")
    lived(places(folder).agents / "Mira", 60)
    return folder


def replay(home, *arguments, **more):
    there = places(home)
    paths = {"KEEPSAKE_HOME": str(there.home), "KEEPSAKE_VAULT": str(there.vault), **more}
    return subprocess.run(
        [*_COMMAND, "replay", "mira", "--jobs", "1", *map(str, arguments)],
        **{"cwd": REPOSITORY, "capture_output": True, "text": True, "timeout": 300},
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), **paths},
        check=False,
    )


def test_figures_are_whole_in_a_narrow_terminal(home):
    done = replay(home, "--windows", "8/8,16/16", "--strategy", "narrative,sliding", COLUMNS="40")
    assert done.returncode == 0, done.stderr
    heading = next(line for line in done.stdout.splitlines() if line.split()[:1] == ["sent"])
    assert heading.split()[-1] == "rules"
    rows = [line for line in done.stdout.splitlines() if line.startswith("narrative 8/8")]
    assert len(rows) == 1
    assert "…" not in rows[0]
    assert len(rows[0]) > 60


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--strategy", "structurd"], "There is no template 'structurd'"),
        (["--windows", "0/0,99999999"], "None of the 2 configurations can"),
        (["--high", "85"], "85 is no share"),
        (["--high", "0.3", "--low", "0.6"], "low 0.6 is not below high 0.3"),
        (["--set", "longterm_tokens=-1"], "-1 is not between"),
        (["--model", "nope"], "There is no profile 'nope'"),
    ],
)
def test_where_nothing_can_be_lived_it_is_said_at_once(home, arguments, message):
    done = replay(home, *arguments)
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
    assert "line 0" not in done.stderr
    assert "save this file" not in done.stderr
    assert done.stdout == ""  # no life was lived for it


def test_a_configuration_that_cannot_be_is_a_row_beside_those_that_can(home):
    done = replay(home, "--strategy", "structurd,structured", "--json")
    assert done.returncode == 0
    assert "There is no template 'structurd'" in done.stderr
    found = json.loads(done.stdout)
    assert [bool(each["problem"]) for each in found] == [False, True, False]
    assert [each["strategy"] for each in found] == ["narrative", "structurd", "structured"]


def test_each_row_has_its_settings_and_twins_are_named(home):
    file = home / "twins.csv"
    done = replay(home, "--windows", "32/32,64/64", "--strategy", "narrative", "--csv", file)
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
    done = replay(home, "--csv", taken, "--chart", home / "there.svg")
    assert done.returncode == 1
    assert "taken.csv could not be written" in " ".join(done.stderr.split())
    assert (home / "there.svg").read_text().startswith("<?xml")
