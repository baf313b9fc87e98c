from __future__ import annotations

import os
from pathlib import Path

import pytest

from keepsake.errors import ConfigError
from keepsake.markdown_config import ConfigFile, merged, parse

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


def test_a_key_twice_is_refused_with_both_lines(tmp_path: Path):
    path = write(tmp_path / "a.md", "## a\n**x**: 1\n\n**x**: 2\n")
    with pytest.raises(ConfigError, match="line 4: x was set on line 2"):
        parse(path)


@pytest.mark.parametrize(
    ("value", "reason"),
    [("sixty", "not a whole number"), ("0", "not between 1"), ("", "no value"), ("1.5", "whole")],
)
def test_a_wrong_number_names_file_line_and_reason(tmp_path: Path, value: str, reason: str):
    path = write(tmp_path / "a.md", f"# A\n\n**size**: {value}\n")
    with pytest.raises(ConfigError, match=reason) as caught:
        merged(path).integer("size", low=1)
    assert caught.value.line == 3
    assert caught.value.path == path


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


def test_a_file_that_rests_is_looked_at_again_when_its_time_is_over(tmp_path, monkeypatch):
    path, now = tmp_path / "x.md", [100.0]
    monkeypatch.setattr("keepsake.markdown_config.time.monotonic", lambda: now[0])
    path.write_text("one")
    file = ConfigFile(path, lambda each: each.read_text(), rest=0.25)
    assert file.current == "one"
    path.write_text("another")
    now[0] += 0.2
    assert file.current == "one"
    now[0] += 0.06
    assert file.current == "another"
