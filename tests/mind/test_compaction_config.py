"""The ladder's settings: what is shipped, and what is refused with file, line and cure."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from keepsake.compaction.config import (
    FOLDER,
    CompactionConfig,
    strategies,
)
from keepsake.errors import ConfigError
from keepsake.markdown_config import ConfigFile, merged

SHIPPED = Path(__file__).parents[2] / "vault" / "config" / "memory_compaction.md"


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
    assert set(written) == {field.name for field in fields(CompactionConfig)} - {"on_agent"}
    text = SHIPPED.read_text(encoding="utf-8")
    for name in written:
        assert re.search(rf"^\*\*{name}\*\*: .+\n_[^_]", text, re.MULTILINE), f"{name} unexplained"


def test_every_shipped_strategy_is_named_in_the_file():
    text = SHIPPED.read_text(encoding="utf-8")
    for name in strategies(SHIPPED.parent / FOLDER):
        assert f"`{name}`" in text


def test_a_file_may_be_silent(file: Path):
    assert load(file) == CompactionConfig()


def test_every_setting_is_read(file: Path):
    found = load(
        file,
        "strategy**: structured",
        "immediate_window**: 10",
        "recent_window**: 11",
        "context_tokens**: 16384",
        "reserve_tokens**: 384",
        "high**: 0.8",
        "low**: 0.5",
        "sleep**: 0.6",
        "emergency**: 0.9",
        "preserve_memories**: 5",
        "preserve_share**: 0.1",
        "min_saving_tokens**: 0",
        "longterm_tokens**: 900",
        "mask**: no",
        "on_count**: no",
        "on_high**: off",
        "on_sleep**: no",
        "on_emergency**: no",
        "profile**: agent",
        "fallback_after**: 0",
    )
    assert found == CompactionConfig(
        *("structured", 10, 11, 16384, 384, 0.8, 0.5, 0.6, 0.9, 5, 0.1, 0, 900),
        *(False, False, False, False, False, True, "agent", 0),
    )
    assert found.budget == 16000
    assert all(
        getattr(found, field.name) != getattr(CompactionConfig(), field.name)
        for field in fields(CompactionConfig)
        if field.name != "on_agent"
    ), "a setting that equals its default shows nothing"


def test_the_other_schools_marks_can_be_set(file: Path):
    found = load(file, "sleep**: 0.70", "emergency**: 0.80", "on_high**: no")
    assert (found.sleep, found.emergency, found.on_high) == (0.70, 0.80, False)


@pytest.mark.parametrize(
    ("settings", "line", "reason", "cure"),
    [
        (["sleep**: 0.70", "emergency**: 0.80"], 4, "high 0.85 is not below emergency 0.8",
         "**on_high**: no"),
        (["high**: 0.5"], 3, "low 0.6 is not below high 0.5", "Lower low or raise high"),
        (["low**: 0.85"], 3, "low 0.85 is not below high 0.85", "Lower low"),
        (["fallback_after**: 9", "low**: 0.7"], 4, "low 0.7 is not below sleep 0.7", "raise sleep"),
        (["high**: 0.96"], 3, "high 0.96 is not below emergency 0.95", "raise emergency"),
        (["emergency**: 0.5", "on_high**: no"], 3, "low 0.6 is not below emergency", "Lower low"),
        (["preserve_share**: 0.6"], 3, "preserve_share 0.6 is not below low", "Lower preserve"),
        *(([f"{key}**: {value}"], 3, f"{key}: ", "0.6") for value in ("0", "1", "85", "0.0")
          for key in ("high", "low", "sleep", "emergency")),
        (["context_tokens**: 255"], 3, "leaves nothing", ""),
        (["reserve_tokens**: 0"], 3, "not between 1", ""),
        (["immediate_window**: 0"], 3, "not between 1", ""),
        (["immediate_window**: many"], 3, "not a whole number", ""),
        (["longterm_tokens**: 10"], 3, "not between 50", ""),
        (["recent_window**: 0"], 3, "not between 1", ""),
        (["mask**: perhaps"], 3, "neither yes nor no", ""),
        (["low**: nan"], 3, "not between 0", ""),
        (["low**: -0.1"], 3, "not between 0", ""),
        (["context_tokens**: 1024", "reserve_tokens**: 1024"], 4, "leaves nothing", "Lower"),
        (["strategy**: structred"], 3, "there is no template 'structred'",
         "narrative, sliding, structured"),
        *(([f"strategy**: {name}"], 3, "there is no template", "Use one of")
          for name in ("../narrative", "My notes", "/etc/passwd", "narrative.md")),
        (["strategy**: cascade"], 3, "there is no 'cascade'", "narrative is its name now"),
        (["contex_tokens**: 4096"], 3, "nothing reads", "Did you mean context_tokens?"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_line_and_cure(
    file: Path, settings: list[str], line: int, reason: str, cure: str
):
    error = refused(file, *settings)
    assert error.line == line
    assert reason in error.reason
    assert cure in error.cure


def test_a_mark_whose_trigger_is_off_may_stand_anywhere(file: Path):
    load(file, "sleep**: 0.3", "on_sleep**: no")
    load(file, "high**: 0.3", "on_high**: no")
    load(file, "emergency**: 0.3", "on_emergency**: no")
    load(file, "high**: 0.96", "on_emergency**: no")
    load(file, "preserve_share**: 0")


def test_a_budget_under_the_pinned_block_is_refused_and_the_cure_is_enough(file: Path):
    error = refused(file, "context_tokens**: 1200")
    assert error.line == 3
    assert "a budget of 944 tokens is too small: pinned lines and promises" in error.reason
    least = re.search(r"Raise context_tokens to ([\d,]+)", error.cure)
    assert least is not None
    enough = int(least[1].replace(",", ""))
    assert load(file, f"context_tokens**: {enough}").context_tokens == enough
    refused(file, f"context_tokens**: {enough - 10}")


def test_what_is_built_in_needs_no_folder(tmp_path: Path):
    assert load(tmp_path / "memory_compaction.md", "strategy**: narrative") == CompactionConfig()
    assert strategies(tmp_path / FOLDER) == ["narrative"]


def test_a_researchers_own_template_is_found(file: Path):
    (file.parent / FOLDER / "my-haiku_2.md").write_text("a template")
    assert load(file, "strategy**: my-haiku_2").strategy == "my-haiku_2"


def test_the_last_good_settings_stay(file: Path):
    problems: list[ConfigError] = []
    file.write_text("**high**: 0.8\n")
    config = ConfigFile(file, CompactionConfig.load, CompactionConfig(), problems.append)
    assert config.current.high == 0.8
    file.write_text("**high**: 0.8\n**low**: 0.9\n")
    assert config.current.high == 0.8
    assert [problem.line for problem in problems] == [1]
    file.write_text("**high**: 0.9\n")
    assert config.current.high == 0.9
