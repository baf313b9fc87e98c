"""Secrets: made once, readable by their owner alone."""

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from game.server.private_files import read_or_create
from keepsake.errors import KeepsakeError


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_secret_is_made_once_with_mode_0600(tmp_path):
    path = tmp_path / "new" / "secret"
    first = read_or_create(path, nbytes=12)
    assert len(first) == 16
    assert mode(path) == 0o600
    assert read_or_create(path, nbytes=12) == first


def test_two_secrets_differ(tmp_path):
    assert read_or_create(tmp_path / "a", nbytes=12) != read_or_create(tmp_path / "b", nbytes=12)


@pytest.mark.parametrize("empty", [False, True])
def test_all_who_ask_at_once_get_the_same(tmp_path, empty):
    path = tmp_path / "secret"
    if empty:  # what a full disk leaves
        path.touch()
    with ThreadPoolExecutor(16) as pool:
        answers = set(pool.map(lambda _: read_or_create(path, nbytes=48), range(64)))
    assert len(answers) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["secret"]


def test_an_empty_file_is_filled_and_an_open_one_closed(tmp_path):
    empty, open_ = tmp_path / "empty", tmp_path / "open"
    empty.touch()
    open_.write_text("mine\n")
    open_.chmod(0o644)
    assert read_or_create(empty, nbytes=12)
    assert read_or_create(open_, nbytes=12) == "mine"
    assert mode(empty) == mode(open_) == 0o600


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(KeepsakeError, match="KEEPSAKE_HOME"):
        read_or_create(tmp_path / "file" / "secret", nbytes=12)
