"""keepsake fork and its siblings, as a terminal sees them."""

import os

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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
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
    places_of = [shown.index(f" {name} ") for name in ("start", "status", "simulate", "fork")]
    assert places_of == sorted(places_of)


def test_a_fork_says_what_it_is_and_how_to_start_it(home):
    target = home / "copy"
    done = keepsake(home, "fork", target, "--at", "Mira memory 100")
    assert done.returncode == 0, done.stderr
    assert "Mira: 100 memories, 60 later ones left out" in done.stdout
    assert "As it is now, not as it was then" in done.stdout
    assert f"KEEPSAKE_HOME={target / 'home'} KEEPSAKE_VAULT={target / 'vault'}" in done.stdout
    assert "is there already" in keepsake(home, "fork", target).stderr
