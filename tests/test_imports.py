"""Who may import whom; see ARCHITECTURE.md."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
PACKAGES = ("commands", "game", "typeclasses", "world")

LIBRARIES_OF_THE_MIND = {"frontmatter", "yaml", "jinja2"}
"""What game.mind may use beside the standard library: formats and templates, no client."""

OUTSIDE = ["evennia", "django", "twisted", "httpx", "requests", "ollama", "chromadb", "xllamacpp"]

RULES = {
    # The longest prefix of a module's name counts: what it may import of ours.
    "game.mind": ["game.mind"],
    "game.paths": ["game.mind.errors"],
    "game.child": ["game.mind.errors", "game.child", "game.paths"],
    "game.llm": ["game.mind", "game.llm", "game.child", "game.paths"],
    "game.index": ["game.mind", "game.index", "game.child", "game.paths"],
    "typeclasses": ["game.mind", "game.llm", "game.index", "game.paths", "typeclasses"],
    "commands": [
        *("game.mind", "game.llm", "game.index", "game.paths", "typeclasses", "commands"),
    ],
    "world": ["game.mind", "game.paths", "typeclasses", "world"],
    "game.cli": ["game"],
    "game.web": ["game", "typeclasses"],
    # What runs in a process of its own, set up like the game; the rest of it is pure.
    "game.lab": ["game", "typeclasses", "world"],
    "game.server.conf": ["game", "typeclasses", "commands", "world"],
    "game": ["game"],
}


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def modules() -> list[tuple[str, Path]]:
    found = []
    for package in PACKAGES:
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            parts = path.relative_to(REPOSITORY).with_suffix("").parts
            found.append((".".join(parts).removesuffix(".__init__"), path))
    return found


def imports(module: str, path: Path) -> Iterator[tuple[str, int]]:
    """Every module that ``module`` imports, wherever in it, with the line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
            above = base[: len(base) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            yield source, node.lineno
            for alias in node.names:  # "from game import mind" imports a module as well
                if (REPOSITORY / source.replace(".", "/") / alias.name).exists() or (
                    REPOSITORY / source.replace(".", "/") / f"{alias.name}.py"
                ).exists():
                    yield f"{source}.{alias.name}", node.lineno


def broken(module: str, imported: str) -> str | None:
    """Why ``module`` may not import ``imported``; None if it may."""
    if within(imported, "game.server.conf") and not within(module, "game.server.conf"):
        return "nothing imports the wiring"
    if within(module, "game.mind") and imported.split(".", maxsplit=1)[0] in OUTSIDE:
        return "the mind knows no framework and no client"
    if imported.split(".", maxsplit=1)[0] not in PACKAGES or imported == "game":
        return None
    rule = max((prefix for prefix in RULES if within(module, prefix)), key=len)
    if any(within(imported, allowed) for allowed in RULES[rule]):
        return None
    return f"{rule} may import {', '.join(RULES[rule])}"


@pytest.mark.parametrize(("module", "path"), modules(), ids=[name for name, _ in modules()])
def test_imports_follow_the_rule(module, path):
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line} imports {imported}: {why}"
        for imported, line in imports(module, path)
        if (why := broken(module, imported))
    ]
    assert not wrong, "\n".join(wrong)


def test_the_mind_uses_few_libraries():
    for module, path in modules():
        if within(module, "game.mind"):
            roots = {imported.split(".")[0] for imported, _ in imports(module, path)}
            assert roots <= {*sys.stdlib_module_names, "game", *LIBRARIES_OF_THE_MIND}, module


@pytest.mark.parametrize(
    ("module", "imported", "allowed"),
    [
        ("game.mind.memory", "game.mind.records", True),
        ("game.mind.memory", "game.llm", False),
        ("game.mind.memory", "evennia.utils", False),
        ("game.llm.ollama", "game.mind.ports", True),
        ("game.llm.ollama", "typeclasses.agents", False),
        ("typeclasses.agents", "game.llm.queue", True),
        ("typeclasses.agents", "commands.base", False),
        ("commands.memory", "typeclasses.agents", True),
        ("world.builder", "typeclasses.rooms", True),
        ("world.builder", "commands.base", False),
        ("game.cli.app", "game.paths", True),
        ("game.cli.app", "typeclasses.agents", False),
        ("typeclasses.agents", "game.server.conf.wiring", False),
        ("game.cli.app", "game.server.conf", False),
        ("game.server.conf.at_server_startstop", "typeclasses.agents", True),
    ],
)
def test_the_rule_itself(module, imported, allowed):
    assert (broken(module, imported) is None) is allowed
