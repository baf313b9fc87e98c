"""The lab's commands, as a terminal sees them."""

import os

import pytest

from keepsake.paths import REPOSITORY
from tests.unit.lab.in_process import keepsake as in_process


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    (folder / "tmp").mkdir()
    return folder


def environ(home):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KEEPSAKE_")}
    paths = {"KEEPSAKE_HOME": str(home / "home"), "KEEPSAKE_VAULT": str(home / "vault")}
    return {**kept, **paths, "TMPDIR": str(home / "tmp"), "PYTHONPATH": str(REPOSITORY)}


def keepsake(home, *arguments):
    return in_process(environ(home), *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "--resume", "none", "--agents", "5"], "--agents does not go with --resume"),
        (["simulate", "other", "--resume", "none"], "a second name does not go with --resume"),
        (["simulate", "--hours", "1e9"], "--hours is 1000000000."),
        (["logs", "--lab", "none", "--no-follow"], "There is no simulation 'none'"),
        (["logs", "--no-follow"], "There are no such events"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_with_its_cure(home, arguments, message):
    done = keepsake(home, *arguments)
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
    assert "line 0" not in done.stderr
    assert "save this file" not in done.stderr
    assert done.stdout == ""  # no life was lived for it
