"""ARCHITECTURE.md names files that exist, and functions and classes that are where it says."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from keepsake.paths import REPOSITORY

FOLDERS = ("keepsake", "commands", "game", "typeclasses", "world")
MODULES = (
    *(path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*.py")),
    REPOSITORY / "tests" / "test_imports.py",
)
SPAN = re.compile(r"`([^`\n]+)`")
"""A piece of code in the text."""
NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?")
CODE = re.compile(r"[A-Z]\w*\.\w+|\w*_\w+|[A-Z]\w*[a-z]\w*[A-Z]\w*|[A-Z]{4,}")
"""A name that no English word looks like: ``Tiers.write``, ``read_deed``, ``MemoryTools``."""
PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)+|[\w-]+\.py")
BRACKET = re.compile(r"\(([^()]*`[^()]*)\)")
BY_EVENNIA = {"msg_contents"}
GIVEN = {"exc_info"}  # by Python


@cache
def document() -> str:
    """Return the document with each paragraph on one line."""
    text = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return re.sub(r"\n(?!\n) *", " ", text)


def paths() -> set[str]:
    """Return every file and folder that the document names."""
    return {span for span in SPAN.findall(document()) if PATH.fullmatch(span)}


def places(text: str) -> Iterator[tuple[str, str]]:
    """Yield each name that the document places in a module, with that module.

    It does so in two ways: ``Name`` (``path``), and (``Name``, ``Other``, ``path``).
    """
    for bracket in BRACKET.finditer(text):
        spans = SPAN.findall(bracket[1])
        before = re.search(r"`([^`]+)` $", text[: bracket.start()])
        if before is not None and spans[0].endswith(".py"):
            spans = [before[1], *spans]
        names = list[str]()
        for span in spans:
            if span.endswith(".py"):
                yield from ((name, span) for name in names)
                names = []
            elif NAME.fullmatch(span):
                names.append(span)


def targets(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement defines, attributes of ``self`` included."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=assigned):
            yield from (name for each in assigned for name in _assigned(each))
        case ast.AnnAssign(target=assigned):
            yield from _assigned(assigned)


def _assigned(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.Tuple(elts=several):
            yield from (name for each in several for name in _assigned(each))


@cache
def statements(path: Path) -> list[ast.stmt]:
    """Return the statements of a module, without those within them."""
    return ast.parse(path.read_text(encoding="utf-8")).body


def members(of: ast.ClassDef) -> set[str]:
    """Return the methods and attributes that a class defines itself."""
    return {name for node in ast.walk(of) if isinstance(node, ast.stmt) for name in targets(node)}


@cache
def defined_in(path: Path) -> frozenset[str]:
    """Return what a module defines: ``Tiers``, ``Tiers.write``, ``load_tiers``."""
    found = set[str]()
    for node in statements(path):
        found.update(targets(node))
        if isinstance(node, ast.ClassDef):
            found.update(f"{node.name}.{member}" for member in members(node))
    return frozenset(found)


@cache
def defined_anywhere() -> frozenset[str]:
    """Return what all modules define; a class also has what the classes have that it is made of."""
    own = defaultdict[str, set[str]](set)
    bases = defaultdict[str, set[str]](set)
    found = set[str]()
    for path in MODULES:
        found.update(defined_in(path))
        for node in statements(path):
            if isinstance(node, ast.ClassDef):
                own[node.name] |= members(node)
                bases[node.name] |= {each.id for each in node.bases if isinstance(each, ast.Name)}
    for name in list(own):
        line = [name]
        for each in line:
            line += [base for base in bases[each] if base not in line]
            found.update(f"{name}.{member}" for member in own[each])
            found.update(own[each])
    return frozenset(found)


def test_every_file_that_it_names_exists():
    missing = [path for path in sorted(paths()) if not (REPOSITORY / path).exists()]
    assert not missing, "write each path from the repository's root"


def test_every_name_is_in_the_module_that_is_named_beside_it():
    wrong = [
        f"{name} is not in {path}"
        for name, path in places(document())
        if name not in defined_in(REPOSITORY / path)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_name_of_the_code_exists():
    names = {each for each in SPAN.findall(document()) if CODE.fullmatch(each)}
    unknown = sorted(names - defined_anywhere() - BY_EVENNIA - GIVEN)
    assert not unknown, f"ARCHITECTURE.md names what no module defines: {unknown}"


def test_it_places_the_names_of_all_three_paths():
    """The checks above would pass on a document that they cannot read."""
    placed = dict(places(document()))
    assert placed["CmdTalk.speak"] == "commands/speech.py"
    assert placed["Ladder.climb"] == "keepsake/memory/ladder.py"
    assert placed["CACHE_MIB"] == placed["SLOTS"] == "keepsake/models/local/embedded.py"
    assert placed["MemorySearch.search"] == "keepsake/recall/search.py"
    assert len(placed) > 80
