"""The files of settings: how they are read, what is shipped, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from game.cli.checks.vault import LOADERS
from keepsake.agent.attention import ThinkingConfig
from keepsake.agent.sleep.tiredness import SleepConfig
from keepsake.books.config import JournalConfig, PeopleConfig
from keepsake.errors import ConfigError
from keepsake.markdown_config import RETIRED, ConfigFile, merged, parse
from keepsake.paths import REPOSITORY
from keepsake.recall.config import RecallConfig

CONFIGS = {
    "thinking": ThinkingConfig,
    "journal": JournalConfig,
    "people": PeopleConfig,
    "recall": RecallConfig,
    "sleep": SleepConfig,
}


@pytest.mark.parametrize("name", CONFIGS)
def test_the_shipped_file_says_what_the_defaults_are(name):
    path = REPOSITORY / "vault" / "config" / f"{name}.md"
    assert CONFIGS[name].load(path) == CONFIGS[name]()


@pytest.mark.parametrize(
    ("name", "line", "said"),
    [
        ("thinking", "**cooldown**: fast", "cooldown: 'fast' is not a number"),
        ("thinking", "**cooldown**: -1", "cooldown: -1 is not between"),
        ("thinking", "**gather**: nan", "gather: nan is not"),
        ("thinking", "**cooldwn**: 3", "Did you mean cooldown?"),
        ("journal", "**budget**: lots", "budget: 'lots' is not a whole number"),
        ("journal", "**budget**: -1", "not between 0"),
        ("recall", "**patience**: 0", "patience: 0"),
        ("recall", "**memorys**: 3", "Did you mean memories?"),
        ("sleep", "**wake_hour**: 24", "not between 0 and 23"),
        ("sleep", "**awake_hours**: 0", "not between 0.1"),
    ],
)
def test_a_wrong_value_is_refused_with_its_line(tmp_path: Path, name, line, said):
    path = tmp_path / f"{name}.md"
    path.write_text(f"# A title\n\n{line}\n")
    with pytest.raises(ConfigError, match="line 3") as refused:
        CONFIGS[name].load(path)
    assert said in str(refused.value)


TEXT = """# Memory

Some prose, and **bold**: words in it.

**top**: 1

## Windows

**immediate_window**: 64
_Number of memories_

**Notes**:
- **inside**: a list is prose
- Compaction at 129

```
**fenced**: 1
```

## Empty

## Profile
  **indented**: prose
**profile**: summarizer  
"""  # noqa: W291  # a blank at the end of a line is part of the test


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "some.md", TEXT)


def test_sections_hold_settings_with_their_lines(file: Path):
    found = {
        section.name: {key: (entry.value, entry.line) for key, entry in section.entries.items()}
        for section in parse(file)
    }
    assert found == {
        "Memory": {"top": ("1", 5)},
        "Windows": {"immediate_window": ("64", 9)},
        "Profile": {"profile": ("summarizer", 24)},
    }
    section = merged(file)
    assert section.integer("immediate_window") == 64
    assert section.text("profile") == "summarizer"


def test_numbers_flags_and_choices(tmp_path: Path):
    section = merged(write(tmp_path / "a.md", "**f**: 0.5\n**y**: Yes\n**n**: off\n**c**: red\n"))
    assert section.number("f") == 0.5
    assert section.flag("y") is True
    assert section.flag("n") is False
    assert section.choice("c", ["red", "blue"]) == "red"
    assert section.number("absent", 2.5) == 2.5
    with pytest.raises(ConfigError, match="none of blue, green"):
        section.choice("c", ["green", "blue"])
    with pytest.raises(ConfigError, match="neither yes nor no"):
        section.flag("c")
    with pytest.raises(ConfigError, match="absent is missing"):
        section.text("absent")
    for value in ("nan", "inf", "-1", "x"):
        with pytest.raises(ConfigError, match="f: "):
            merged(write(tmp_path / "b.md", f"**f**: {value}\n")).number("f")


def test_a_mistyped_key_is_named_with_the_nearest_one(tmp_path: Path):
    section = merged(write(tmp_path / "a.md", "\n**temprature**: 1\n"))
    with pytest.raises(ConfigError, match=r"line 2: nothing reads temprature.*mean temperature"):
        section.only(["temperature", "model"])


def test_a_missing_file_and_one_that_is_not_utf8(tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot be read"):
        parse(tmp_path / "none.md")
    (tmp_path / "latin.md").write_bytes("# A\n\nGrüße\n".encode("latin-1"))
    with pytest.raises(ConfigError, match="line 3: is not UTF-8"):
        parse(tmp_path / "latin.md")
    path = tmp_path / "windows.md"
    path.write_bytes(b"\xef\xbb\xbf**x**: 5\r\n**y**: 6\r\n")
    assert (merged(path).integer("x"), merged(path).integer("y")) == (5, 6)


def size(path: Path) -> int:
    return merged(path).integer("size", low=1)


def test_a_config_file_follows_its_file_and_keeps_the_last_good_value(tmp_path: Path):
    problems: list[ConfigError] = []
    path = write(tmp_path / "a.md", "**size**: 5\n")
    config = ConfigFile(path, size, None, problems.append)
    assert config.current == 5
    write(path, "**size**: none\n")
    assert config.current == 5
    assert config.current == 5
    assert [problem.line for problem in problems] == [1]
    assert config.problem is problems[0]
    write(path, "**size**: 7\n")
    assert config.current == 7
    assert config.problem is None
    before = path.stat().st_mtime_ns
    write(path, "**size**: 6\n")  # of the same length
    os.utime(path, ns=(before + 1, before + 1))
    assert config.current == 6
    path.unlink()
    assert config.current == 6
    assert config.problem is not None
    assert ConfigFile(path, size, 9).current == 9
    config = ConfigFile(path, size)
    for _ in range(2):
        with pytest.raises(ConfigError, match="cannot be read"):
            _ = config.current


CONFIG_FOLDER = REPOSITORY / "vault" / "config"


@pytest.mark.parametrize("name", RETIRED)
def test_such_a_file_opens_with_a_note(tmp_path: Path, caplog, name: str):
    path = tmp_path / name
    shipped = (CONFIG_FOLDER / name).read_text("utf-8")
    (tmp_path / "compaction").symlink_to(CONFIG_FOLDER / "compaction")
    old = "".join(f"\n**{key}**: whatever it was\n" for key in sorted(RETIRED[name]))
    path.write_text(shipped + old, "utf-8")
    assert LOADERS[name](path) == LOADERS[name](CONFIG_FOLDER / name)
    (line,) = (record.getMessage() for record in caplog.records)
    assert line.startswith(f"[Note] {path}: {min(RETIRED[name])}")
    assert "can be removed" in line
