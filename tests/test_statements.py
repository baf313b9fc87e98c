"""Each statement has its line, and each warning that is switched off has its reason."""

import ast
import re
import tokenize
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
FOLDERS = ("commands", "game", "keepsake", "tests", "tools", "typeclasses", "world")
_SWITCHED_OFF = re.compile(
    r"#\s*(?:(?:ruff: )?noqa(?:: [A-Z]+\d+(?:, [A-Z]+\d+)*)?|type: ignore(?:\[[^]]*\])?)"
)
_REASON = re.compile(r"\w{2}")
_SEVERAL = re.compile(r"^ *(\w[\w.]*(?:, \w[\w.]*)+ = \S.*)$", re.M)
"""A line that assigns to several names."""


def sources(holding: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each Python file that holds something."""
    for folder in FOLDERS:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if holding.search(text):
                yield path.relative_to(REPOSITORY).as_posix(), text


def names_in(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def squeezed(line: str) -> bool:
    """Return whether a line makes several assignments that could each have a line."""
    try:
        (statement,) = ast.parse(line).body
    except SyntaxError:  # it goes on in the next line
        return False
    assert isinstance(statement, ast.Assign)
    # A swap, and whatever needs the old values, is one statement.
    needed = names_in(statement.targets[0]) & names_in(statement.value)
    return isinstance(statement.value, ast.Tuple) and not needed


def test_no_statement_makes_two_assignments() -> None:
    found = [
        f"{name}: {line[1]}"
        for name, text in sources(_SEVERAL)
        for line in _SEVERAL.finditer(text)
        if squeezed(line[1])
    ]
    assert found == []


def test_every_warning_that_is_switched_off_has_a_reason() -> None:
    found = []
    for name, text in sources(_SWITCHED_OFF):
        for token in tokenize.generate_tokens(StringIO(text).readline):
            if token.type != tokenize.COMMENT or not _SWITCHED_OFF.search(token.string):
                continue
            if not _REASON.search(_SWITCHED_OFF.sub("", token.string)):
                found.append(f"{name}:{token.start[0]}")
    assert found == []
