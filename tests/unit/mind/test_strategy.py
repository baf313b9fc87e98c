"""The ways to compact: what is shipped, and what is refused with its cure."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepsake.errors import ConfigError
from keepsake.memory.config import load_strategy
from keepsake.paths import REPOSITORY

SHIPPED = REPOSITORY / "vault" / "config" / "compaction"
WANTED = ("```wanted", "Prose for {{ agent }}.", "```")


def write(folder: Path, name: str, *lines: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.md"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_both_ways_are_there_and_can_be_used():
    found = {path.stem: load_strategy(path) for path in SHIPPED.glob("*.md")}
    assert sorted(found) == ["narrative", "structured"]
    for heading in ("Goals", "Decisions", "Facts", "Open matters", "Errors", "Constraints"):
        assert heading in found["structured"].headings
    assert not found["narrative"].headings


@pytest.mark.parametrize(
    ("lines", "line", "reason", "cure"),
    [
        (["# Own"], 1, "'wanted' is missing", "```wanted"),
        (["a", "```wanted", "b", "{% for x in %}", "```"], 4, "the prompt fails", "Mend"),
        (["a", "```wanted", "b", "c {{ memories }}", "```"], 4, "memories", "headings"),
        (["a", "```wanted", "{{ agent.__class__.x() }}", "```"], 3, "unsafe", "Mend"),
        (["**headings**: Goals; # Facts", *WANTED], 1, "cannot be a heading", "letters"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_line_and_cure(
    tmp_path, lines, line, reason, cure
):
    path = write(tmp_path, "own", *lines)
    with pytest.raises(ConfigError) as caught:
        load_strategy(path)
    error = caught.value
    assert (error.path, error.line) == (path, line)
    assert reason in error.reason
    assert cure in error.cure
