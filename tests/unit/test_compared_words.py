"""A word that two modules compare is a member of an enum, so that a misspelling is an error."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from keepsake.paths import REPOSITORY

LIBRARY = REPOSITORY / "keepsake"
PAGES = LIBRARY / "web" / "static" / "keepsake" / "watch"
FORMER = {"keepsake/archive/old_lines.py"}
"""Modules that read what early versions wrote, whatever the words mean today."""
UNRELATED = {
    "__main__": "Python's own",
    "error": "a field of Chroma's answers, and the name of a server-sent event",
    "me": "the argument of a command, and an English word",
    "none": "a setting, and an English word",
    "tools": "a field of model servers' answers, and of a scene",
    "words": "a slot of a line, and a part of an index",
}
"""Words that mean something else in each of their modules."""
_WORD = re.compile(r"\w[\w -]*\w")
_COMPARED = re.compile(r'(?:[=!]==? |case )"(\w[\w -]*\w)"')


def compared(path: Path) -> Iterator[str]:
    """Yield the string literals that a module compares with something."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        operands: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            operands = [node.value]
        for each in operands:
            several = each.elts if isinstance(each, ast.Tuple | ast.List | ast.Set) else [each]
            for one in several:
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    yield one.value


def test_no_two_modules_compare_the_same_word() -> None:
    places = defaultdict(set)
    for path in sorted(LIBRARY.rglob("*.py")):
        name = path.relative_to(REPOSITORY).as_posix()
        for word in compared(path) if name not in FORMER else ():
            if _WORD.fullmatch(word):
                places[word].add(name)
    shared = {word: sorted(where) for word, where in places.items() if len(where) > 1}
    assert {word: where for word, where in shared.items() if word not in UNRELATED} == {}
    assert UNRELATED.keys() <= shared.keys(), "a word that is no longer shared"


def test_no_two_pages_compare_the_same_word() -> None:
    places = defaultdict(set)
    for path in sorted(PAGES.glob("*.js")):
        for word in _COMPARED.findall(path.read_text(encoding="utf-8")):
            places[word].add(path.name)
    assert {word: sorted(where) for word, where in places.items() if len(where) > 1} == {}
