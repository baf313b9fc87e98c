"""Only two modules find speech, whispers or deeds in text; all others read fields."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

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
TOLD = re.compile(rf"\b(?:{_TOLD})\b|\b(?:{_VERBS})(?: to| =)? ")
"""A word that tells in a line what somebody does, or how an act begins."""
BEGINS = re.compile(rf"^(?:\w+ )?(?:{_VERBS})(?: to you)?,? ?\"?$")
"""The start of such a line, or of an act."""
SEPARATORS = {" = ", ', "', 'says, "', ' to you, "'}
CUTS = {"startswith", "removeprefix", "endswith", "partition", "rpartition", "split", "rsplit"}
CUTS |= {"find", "rfind", "index", "rindex", "count", "replace"}
SEARCHES = {"compile", "match", "search", "fullmatch", "findall", "finditer", "sub", "pattern"}


def texts_in(node: ast.AST) -> Iterator[str]:
    """Yield the string constants in an expression."""
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def named_in(*compared: ast.expr) -> Iterator[str]:
    """Yield the string constants that are compared, by themselves or in a list of several."""
    for each in compared:
        several = each.elts if isinstance(each, ast.Tuple | ast.Set | ast.List) else [each]
        for one in several:
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                yield one.value


def recognitions(source: str) -> Iterator[tuple[int, str]]:
    """Yield the texts by which a module looks for speech or deeds in a text, with their lines."""
    for node in ast.walk(ast.parse(source)):
        found: list[str] = []
        match node:
            case ast.Compare(left=left, ops=[operator, *_], comparators=others):
                found = [text for text in named_in(left, *others) if re.fullmatch(_TOLD, text)]
                if isinstance(operator, ast.In | ast.NotIn):
                    found += [text for text in texts_in(left) if TOLD.search(text)]
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
                given = [text for each in node.args for text in texts_in(each)]
                if name in CUTS:
                    found = [text for text in given if is_part_of_speech(text)]
                elif name in SEARCHES:
                    found = [t for t in given if SPOKEN.search(t) or TOLD.search(t)]
        yield from ((node.lineno, text) for text in found)


def is_part_of_speech(text: str) -> bool:
    """Return whether a text that a line is cut at stands for speech or a deed."""
    begins = BEGINS.match(text) and text[-1] in ' "'
    return text in SEPARATORS or bool(begins) or bool(TOLD.search(text))


def in_module(path: Path) -> list[str]:
    found = recognitions(path.read_text(encoding="utf-8"))
    return [f"{path.relative_to(REPOSITORY)}:{line}: {text!r}" for line, text in found]


def modules() -> Iterator[Path]:
    """Yield the modules that may not recognise speech."""
    for folder in FOLDERS:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            if path.relative_to(REPOSITORY).as_posix() not in READERS:
                yield path


def test_no_other_module_recognises_speech_or_deeds_in_text():
    assert [each for path in modules() for each in in_module(path)] == []


def test_only_scripts_are_read_as_early_lines():
    users = []
    for path in modules():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imported = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
        if any("old_lines" in (node.module or "") for node in imported):
            users.append(path.relative_to(REPOSITORY).as_posix())
    assert set(users) <= USERS_OF_OLD_LINES


def test_the_readers_themselves_are_found():
    found = [each for name in READERS for each in in_module(REPOSITORY / name)]
    assert any("old_lines" in each for each in found), "the test would find nothing anywhere"


@pytest.mark.parametrize(
    "line",
    [
        'line.startswith("whisper ")',
        'line.partition(" = ")',
        'line.split(" says ", 1)',
        "line.find(', \"')",
        'line.removeprefix("You whisper to ")',
        '"says" in line',
        'line.split()[1] in ("says", "whispers")',
        '"to you, \\"" in line and " gives " in line',
        're.search(r"(?P<who>.*) (says|whispers), ", line)',
        're.compile(r"^whisper (.*)")',
        'pattern(f"{name} gives you (.*)")',
    ],
)
def test_these_ways_to_find_it_would_be_found(line):
    assert list(recognitions(line))
