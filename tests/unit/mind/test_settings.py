"""Files of settings: how they are parsed, the shipped ones, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keepsake.agent.settings import RecallConfig, SleepConfig, ThinkingConfig
from keepsake.errors import ConfigError
from keepsake.markdown_config import ConfigFile, FileSettings, between, fixed, merged, one_of, parse
from keepsake.memory.config import CompactionConfig
from keepsake.paths import REPOSITORY
from keepsake.tasks.task import load_prompts
from tests.log_lines import LogLines
from tests.sentences import table

CONFIGS = {
    "memory_compaction": CompactionConfig,
    "thinking": ThinkingConfig,
    "recall": RecallConfig,
    "sleep": SleepConfig,
}


@pytest.mark.parametrize("name", CONFIGS)
def test_the_shipped_file_has_the_defaults(name):
    path = REPOSITORY / "vault" / "config" / f"{name}.md"
    assert CONFIGS[name].load(path) == CONFIGS[name]()


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "some.md", "\n".join(table("a file of settings")))


def test_sections_are_parsed_into_settings_with_their_lines(file: Path):
    found = {
        section.name: {key: (entry.value, entry.line) for key, entry in section.entries.items()}
        for section in parse(file)
    }
    assert found == {
        "Memory": {"top": ("1", 3)},
        "Windows": {"immediate_window": ("64", 5)},
        "Profile": {"profile": ("summarizer", 12)},
    }
    section = merged(file)
    assert (section.text("immediate_window"), section.text("profile")) == ("64", "summarizer")
    with pytest.raises(ConfigError, match="absent is missing"):
        section.text("absent")


@dataclass(frozen=True, slots=True)
class Sample(FileSettings):
    share: float = between(0.5, high=1.0)
    size: int = between(3, low=1)
    seed: int | None = between(None, low=0)
    on: bool = True
    colour: str = one_of("red", ("red", "blue"))
    name: str = ""
    inner: int = fixed(4)


def test_settings_are_the_fields_of_a_dataclass(tmp_path: Path, logged: LogLines):
    path = write(tmp_path / "a.md", "**share**: 1\n**on**: off\n**colour**: blue\n**seed**: 7\n")
    assert Sample.load(path) == Sample(1.0, 3, 7, False, "blue")
    assert Sample.load(path, {"size": "9"}).size == 9
    assert not logged.lines
    write(path, "**inner**: 9\n**seed**:\n**on_colour**: whatever it was\n")
    assert Sample.load(path) == Sample(), "settings of earlier versions are ignored"
    assert [line.partition(" line=")[2] for line in logged.lines] == [
        "1 setting=inner",
        "3 setting=on_colour",
    ]


def test_a_setting_without_a_value_keeps_its_default(tmp_path: Path):
    names = ("share", "size", "seed", "on", "colour", "name")
    path = write(tmp_path / "a.md", "".join(f"**{each}**:\n" for each in names))
    assert Sample.load(path) == Sample()


@pytest.mark.parametrize(("line", "said"), table("refused settings"))
def test_wrong_values_of_a_field_are_refused(tmp_path: Path, line: str, said: str):
    with pytest.raises(ConfigError, match=said):
        Sample.load(write(tmp_path / "a.md", line))


def sample_size(path: Path) -> int:
    return Sample.load(path).size


def test_a_config_file_is_read_again_and_keeps_the_last_good_value(tmp_path: Path):
    problems: list[ConfigError] = []
    path = write(tmp_path / "a.md", "**size**: 5\n")
    config = ConfigFile(path, sample_size, None, problems.append)
    assert config.current == 5
    write(path, "**size**: none\n")
    assert config.current == config.current == 5
    assert [problem.line for problem in problems] == [1], "reported once"
    write(path, "**size**: 7\n")
    assert (config.current, config.problem) == (7, None)
    path.unlink()
    assert config.current == 7
    with pytest.raises(ConfigError, match="cannot be read"):
        _ = ConfigFile(path, sample_size).current


def compaction_settings(file: Path, *settings: str) -> CompactionConfig:
    """Return the settings of a file whose first setting is on line 3."""
    write(file, "\n".join(["# Sizes", "", *(f"**{each}" for each in settings)]) + "\n")
    return CompactionConfig.load(file)


@pytest.mark.parametrize(("settings", "line", "reason", "cure"), table("refused compaction"))
def test_wrong_compaction_settings_are_refused_with_line_and_cure(
    tmp_path: Path, settings: list[str], line: int, reason: str, cure: str
):
    path = tmp_path / "memory_compaction.md"
    with pytest.raises(ConfigError) as caught:
        compaction_settings(path, *settings)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert reason in caught.value.reason
    assert cure in caught.value.cure


@pytest.mark.parametrize(("lines", "line", "reason", "cure"), table("refused templates"))
def test_wrong_prompt_files_are_refused_with_line_and_cure(
    tmp_path: Path, lines: list[str], line: int, reason: str, cure: str
):
    path = write(tmp_path / "people.md", "\n".join(lines) + "\n")
    with pytest.raises(ConfigError) as caught:
        load_prompts(path, ("turn",), ("name",)).render("turn", name="Mira")
    assert (caught.value.path, caught.value.line) == (path, line)
    assert reason in caught.value.reason
    assert cure in caught.value.cure


@pytest.mark.parametrize(
    ("hour", "day", "wanted"),
    [(22, 4, 4), (0, 5, 4), (6, 5, 4), (7, 5, 5)],
)
def test_a_night_that_began_after_midnight_is_still_the_night_before(hour, day, wanted):
    moment = datetime(2026, 5, day, hour, 1, tzinfo=UTC)
    evening = SleepConfig(wake_hour=7.0).evening_before(moment)
    assert (evening.day, evening <= moment) == (wanted, True)
