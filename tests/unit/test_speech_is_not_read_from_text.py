"""Only two modules find speech, whispers or deeds in text; all others read fields."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from keepsake.paths import REPOSITORY

READERS = {
    "keepsake/archive/old_lines.py",  # archives of early versions
    "keepsake/tasks/answer.py",  # what a model wrote
}
FOLDERS = ("keepsake", "commands", "typeclasses", "world", "game")
USERS_OF_OLD_LINES = {
    "keepsake/archive/records.py",  # the archive
    "keepsake/tasks/conversation.py",  # examples in a persona, which people write as a script
    "keepsake/lab/probes.py",  # scripts of evaluations
}
_TOLD = "says|whispers|shouts|murmurs|asks|tells|gives|poses"
_VERBS = rf"{_TOLD}|say|whisper|shout|murmur|ask|tell|talk|give|emote|pose"
SPOKEN = re.compile(
    rf"\b(?:{_TOLD})\|(?:{_TOLD})\b|\((?:\?:)?(?:{_VERBS})\)| (?:{_TOLD}) (?:to )?you"
)
"""A pattern or a text that stands for a line of speech or a gift."""
BEGINS = re.compile(rf"^(?:\w+ )?(?:{_VERBS})(?: to you)?,? ?\"?$")
"""The start of such a line, or of an act."""
SEPARATORS = {" = ", ', "', 'says, "', ' to you, "'}
CUTS = {"startswith", "removeprefix", "endswith", "partition", "rpartition", "split", "rsplit"}
SEARCHES = {"compile", "match", "search", "fullmatch", "findall", "finditer", "sub", "pattern"}


def texts_in(node: ast.AST) -> Iterator[str]:
    """Yield the string constants in an expression."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def recognitions(path: Path) -> Iterator[str]:
    """Yield the calls of a module that look for speech or deeds in a text."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            found = [text for text in texts_in(node.left) if re.search(rf" (?:{_VERBS}) ", text)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            given = [text for each in node.args for text in texts_in(each)]
            found = []
            if name in CUTS:
                found = [t for t in given if t in SEPARATORS or (BEGINS.match(t) and t[-1] in ' "')]
            elif name in SEARCHES:
                found = [text for text in given if SPOKEN.search(text)]
        else:
            continue
        for text in found:
            yield f"{path.relative_to(REPOSITORY)}:{node.lineno}: {text!r}"


def modules() -> Iterator[Path]:
    """Yield the modules that may not recognise speech."""
    for folder in FOLDERS:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            if path.relative_to(REPOSITORY).as_posix() not in READERS:
                yield path


def test_no_other_module_recognises_speech_or_deeds_in_text():
    assert [each for path in modules() for each in recognitions(path)] == []


def test_only_scripts_are_read_as_early_lines():
    users = []
    for path in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
        if any("old_lines" in (node.module or "") for node in imported):
            users.append(path.relative_to(REPOSITORY).as_posix())
    assert set(users) <= USERS_OF_OLD_LINES


def test_the_readers_themselves_are_found():
    found = [each for name in READERS for each in recognitions(REPOSITORY / name)]
    assert any("old_lines" in each for each in found), "the test would find nothing anywhere"
