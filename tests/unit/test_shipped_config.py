"""A vault's copy of the shipped configuration follows the version, but never a person's changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepsake.shipped_config import COPIED, other_files, update_copy


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    folder = tmp_path / "shipped"
    (folder / "prompts").mkdir(parents=True)
    (folder / "llm.md").write_text("first")
    (folder / "prompts" / "talk.md").write_text("first")
    return folder


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "vault" / "config"
    folder.mkdir(parents=True)
    return folder


def test_unchanged_files_follow_the_version_and_changed_ones_stay(shipped: Path, copy: Path):
    update_copy(shipped, copy)
    (copy / "llm.md").write_text("mine")
    for each in ("llm.md", "prompts/talk.md", "prompts/new.md"):
        (shipped / each).write_text("second")
    update_copy(shipped, copy)
    assert (copy / "llm.md").read_text() == "mine"
    assert (copy / "prompts" / "talk.md").read_text() == "second"
    assert (copy / "prompts" / "new.md").read_text() == "second"
    assert other_files(shipped, copy) == ["llm.md"]


def test_a_copy_of_an_earlier_version_without_digests_stays(shipped: Path, copy: Path):
    (copy / "llm.md").write_text("of an earlier version")
    update_copy(shipped, copy)
    update_copy(shipped, copy)
    assert (copy / "llm.md").read_text() == "of an earlier version"
    (copy / "llm.md").unlink()  # the cure: the next start copies it
    update_copy(shipped, copy)
    (shipped / "llm.md").write_text("second")
    update_copy(shipped, copy)
    assert (copy / "llm.md").read_text() == "second"


@pytest.mark.parametrize("written", ["", "{", "[1]", "null"])
def test_unreadable_digests_count_as_none(shipped: Path, copy: Path, written: str):
    update_copy(shipped, copy)
    (copy / COPIED).write_text(written)
    (shipped / "llm.md").write_text("second")
    update_copy(shipped, copy)
    assert (copy / "llm.md").read_text() == "first"


def test_a_checkout_s_own_configuration_is_left_alone(shipped: Path):
    update_copy(shipped, shipped)
    assert not (shipped / COPIED).exists()
