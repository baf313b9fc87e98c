"""The ladder's settings: what is shipped, and what is refused with file, line and cure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from keepsake.errors import ConfigError
from keepsake.markdown_config import merged, settings_of
from keepsake.memory.config import (
    FOLDER,
    CompactionConfig,
)
from tests.sentences import table

SHIPPED = Path(__file__).parents[3] / "vault" / "config" / "memory_compaction.md"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / FOLDER
    folder.mkdir()
    for name in ("narrative", "structured", "My notes", "sliding"):
        (folder / f"{name}.md").write_text("a template")
    return tmp_path / "memory_compaction.md"


def load(file: Path, *settings: str) -> CompactionConfig:
    """The settings of a file whose first one stands on line 3."""
    file.write_text("\n".join(["# Sizes", "", *(f"**{each}" for each in settings)]) + "\n")
    return CompactionConfig.load(file)


def refused(file: Path, *settings: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(file, *settings)
    assert caught.value.path == file
    return caught.value


def test_the_shipped_file_says_what_the_defaults_are_and_explains_each():
    assert CompactionConfig.load(SHIPPED) == CompactionConfig()
    written = merged(SHIPPED).entries
    assert set(written) == {each.name for each in settings_of(CompactionConfig)}
    text = SHIPPED.read_text(encoding="utf-8")
    for name in written:
        assert re.search(rf"^\*\*{name}\*\*: .+\n_[^_]", text, re.MULTILINE), f"{name} unexplained"


def test_every_setting_is_read(file: Path):
    other = CompactionConfig(
        *("structured", 10, 11, 16384, 384, 0.8, 0.5, 0.6, 0.9, 5, 0.1, 0, 900),
        *(True, True, "agent", 0),
    )
    values = {each.name: getattr(other, each.name) for each in settings_of(CompactionConfig)}
    same = [name for name, value in values.items() if value == getattr(CompactionConfig(), name)]
    assert not same, "a setting that equals its default shows nothing"
    assert load(file, *(f"{name}**: {value}" for name, value in values.items())) == other


@pytest.mark.parametrize(("settings", "line", "reason", "cure"), table("refused compaction"))
def test_what_cannot_be_is_refused_with_its_line_and_cure(
    file: Path, settings: list[str], line: int, reason: str, cure: str
):
    error = refused(file, *settings)
    assert error.line == line
    assert reason in error.reason
    assert cure in error.cure


def test_a_budget_under_the_pinned_block_is_refused_and_the_cure_is_enough(file: Path):
    error = refused(file, "context_tokens**: 1200")
    assert error.line == 3
    assert "a budget of 944 tokens is too small: pinned lines and promises" in error.reason
    least = re.search(r"Raise context_tokens to ([\d,]+)", error.cure)
    assert least is not None
    enough = int(least[1].replace(",", ""))
    assert load(file, f"context_tokens**: {enough}").context_tokens == enough
    refused(file, f"context_tokens**: {enough - 10}")
