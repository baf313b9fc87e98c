"""Which module may import which; see ARCHITECTURE.md."""

import ast
import sys
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
PACKAGES = ("commands", "game", "keepsake", "typeclasses", "world")

PURE_LIBRARIES = {"dateparser", "frontmatter", "yaml", "jinja2", "pydantic", "snowballstemmer"}
"""Libraries that the pure parts may import: file formats and templates, no client."""

BANNED = ["evennia", "django", "twisted", "httpx", "requests", "ollama", "chromadb", "xllamacpp"]

DEFERREDS = ("twisted.internet.defer", "twisted.internet.task", "twisted.python.failure")
"""The modules of Twisted that the agent may import: no reactor and no network."""

PURE = (
    "archive",
    "bearer",
    "books",
    "erasure",
    "events",
    "files",
    "language",
    "prompt",
    "tasks",
    "errors",
    "json_lines",
    "logs",
    "markdown_config",
    "memory",
    "names",
    "ports",
    "happening",
    "regular_files",
    "tracing",
)
"""The parts of the library that import no framework and no client."""

_PURE = [f"keepsake.{part}" for part in PURE]
_WITH_MODELS = ("agent", "database", "models", "paths", "recall")
_BELOW_WORLD = [*_PURE, *(f"keepsake.{part}" for part in _WITH_MODELS)]

RULES = {
    # Which of our packages a module may import. The longest matching prefix of its name counts.
    **{part: _PURE for part in _PURE},
    "keepsake.paths": ["keepsake.errors", "keepsake.proxies", "keepsake.shipped_config"],
    "keepsake.proxies": ["keepsake.errors"],
    "keepsake.child": ["keepsake.errors", "keepsake.child", "keepsake.logs", "keepsake.paths"],
    "keepsake.models": [*_PURE, "keepsake.models", "keepsake.child", "keepsake.paths"],
    "keepsake.recall": [*_PURE, "keepsake.recall", "keepsake.child", "keepsake.paths"],
    "keepsake.agent": _BELOW_WORLD,
    # Without a world: a test holds that no framework is loaded with it.
    "keepsake.library": [
        *_BELOW_WORLD,
        "keepsake.erasure",
        "keepsake.library",
    ],
    "keepsake.serve": [*_BELOW_WORLD, "keepsake.library", "keepsake.serve"],
    # No agent: evaluations run without Twisted.
    "keepsake.lab": [
        *_PURE,
        "keepsake.models",
        "keepsake.paths",
        "keepsake.recall",
        "keepsake.lab",
    ],
    "keepsake.cli": ["keepsake"],
    "keepsake.database": ["keepsake.errors", "keepsake.paths"],
    "keepsake.vault_lock": [
        "keepsake.errors",
        "keepsake.json_lines",
        "keepsake.paths",
        "keepsake.database",
    ],
    "keepsake.__main__": ["keepsake.cli"],
    "keepsake": [],
    "keepsake.contrib.evennia": [*_BELOW_WORLD, "keepsake.contrib"],
    "keepsake.contrib.otel": _BELOW_WORLD,
    # Starts every part of Keepsake in a game; the dashboard adds itself.
    "keepsake.contrib.evennia.lifecycle": [
        *_BELOW_WORLD,
        "keepsake.contrib",
        "keepsake.vault_lock",
    ],
    "keepsake.web": [*_BELOW_WORLD, "keepsake.contrib", "keepsake.web"],
    "typeclasses": [*_BELOW_WORLD, "keepsake.contrib", "typeclasses", "world"],
    "commands": [*_BELOW_WORLD, "keepsake.contrib", "typeclasses", "world", "commands"],
    "world": [*_BELOW_WORLD, "keepsake.contrib", "world"],
    "game.web": ["game", "keepsake", "typeclasses"],
    # Simulated worlds of the lab: own processes that are set up like the game.
    "game.simulation": ["game", "keepsake", "typeclasses", "world"],
    "game.server.conf": ["game", "keepsake", "typeclasses", "commands", "world"],
    "game": ["game", "keepsake"],
}

LAYERS = (
    *("happening", "errors", "language", "ports", "json_lines", "names", "logs", "bearer"),
    *("proxies", "shipped_config", "paths", "regular_files", "files", "markdown_config"),
    # Types of events are emitted by all that is below; the log itself needs no archive.
    "events",
    *("archive", "books", "memory", "tracing"),
    *("child", "database", "vault_lock"),
    *("recall", "models", "prompt", "tasks", "agent", "erasure"),
    # For programs that are no game; it stands on the same parts as a game.
    *("library", "serve"),
    # The dashboard shows the agents of a game, so it is above what makes the game.
    *("contrib", "web", "lab", "cli", "__main__"),
)
"""The packages and modules of the library. Each imports only those before it."""

PUBLIC = ("keepsake.library.memory", "keepsake.library.happenings")
"""The modules with the short names that a program imports from ``keepsake``: its ``Memory`` is a
whole memory, and inside the library a ``Memory`` is one thing remembered."""

MOST_MODULES = 20
"""The largest number of modules in a folder, ``__init__.py`` included, to keep it readable."""


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


@cache
def modules() -> list[tuple[str, Path]]:
    found = []
    for package in PACKAGES:
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            parts = path.relative_to(REPOSITORY).with_suffix("").parts
            found.append((".".join(parts).removesuffix(".__init__"), path))
    return found


@cache
def nodes(path: Path) -> list[ast.AST]:
    wanted = (ast.Import, ast.ImportFrom, ast.ClassDef)
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return [node for node in ast.walk(tree) if isinstance(node, wanted)]


@cache
def imports(module: str, path: Path) -> list[tuple[str, int]]:
    """Return every module that ``module`` imports anywhere, with the line number."""
    found = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
            above = base[: len(base) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            found.append((source, node.lineno))
            for alias in node.names:  # "from game import mind" imports a module as well
                if (REPOSITORY / source.replace(".", "/") / alias.name).exists() or (
                    REPOSITORY / source.replace(".", "/") / f"{alias.name}.py"
                ).exists():
                    found.append((f"{source}.{alias.name}", node.lineno))
    return found


def violation(module: str, imported: str) -> str | None:
    """Return why ``module`` may not import ``imported``. None if it may."""
    if within(imported, "game.server.conf") and not within(module, "game.server.conf"):
        return "no other package may import game.server.conf"
    pure = any(within(module, part) for part in (*_PURE, "keepsake.agent"))
    deferred = within(module, "keepsake.agent") and imported.startswith(DEFERREDS)
    if pure and imported.split(".", maxsplit=1)[0] in BANNED and not deferred:
        return "no framework and no client may be imported here (agents: only Twisted's Deferreds)"
    if imported.split(".", maxsplit=1)[0] not in PACKAGES or imported in ("game", "keepsake"):
        return None
    rule = max((prefix for prefix in RULES if within(module, prefix)), key=len)
    if any(within(imported, allowed) for allowed in RULES[rule]):
        return None
    return f"{rule} may import {', '.join(RULES[rule])}"


def test_imports_follow_the_rules():
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line} imports {imported}: {why}"
        for module, path in modules()
        for imported, line in imports(module, path)
        if (why := violation(module, imported))
    ]
    assert not wrong, "\n".join(wrong)


def test_pure_modules_import_only_a_few_libraries():
    for module, path in modules():
        if any(within(module, part) for part in _PURE):
            roots = {imported.split(".")[0] for imported, _ in imports(module, path)}
            assert roots <= {*sys.stdlib_module_names, "keepsake", *PURE_LIBRARIES}, module


def test_imports_have_no_cycle():
    """Late imports and imports for type checkers count too."""
    known = dict(modules())
    graph: dict[str, set[str]] = defaultdict(set)
    for module, path in known.items():
        for imported, _ in imports(module, path):
            # Importing a module imports its package too, but packages import nothing.
            if imported in known and known[imported].name != "__init__.py":
                graph[module].add(imported)
    TopologicalSorter(graph).prepare()  # its error names the cycle


def layer(module: str) -> str:
    """Return the package of the library that a module is in: ``archive``."""
    return module.split(".")[1]


def upward_imports() -> dict[tuple[str, str], list[str]]:
    """Return the imports of packages that are not before the importing one, with their places."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    of_library = [each for each in modules() if each[0].startswith("keepsake.")]
    for module, path in of_library:
        for imported, line in imports(module, path):
            if not imported.startswith("keepsake."):
                continue
            lower = layer(imported)
            upper = layer(module)
            if lower != upper and LAYERS.index(lower) > LAYERS.index(upper):
                found[upper, lower].append(f"{path.relative_to(REPOSITORY)}:{line}")
    return found


def test_every_package_has_its_layer():
    found = {layer(module) for module, _ in modules() if module.startswith("keepsake.")}
    assert found == set(LAYERS)


def test_packages_import_only_packages_before_them():
    assert not upward_imports()


def test_no_folder_is_too_large():
    folders: dict[str, int] = defaultdict(int)
    for _, path in modules():
        folders[path.parent.relative_to(REPOSITORY).as_posix()] += 1
    assert {folder for folder, count in folders.items() if count > MOST_MODULES} == set()


def test_no_class_name_is_used_twice():
    """The library and the village have names of their own: both have a ``Scene``."""
    defined: dict[tuple[bool, str], list[str]] = defaultdict(list)
    for module, path in modules():
        for node in nodes(path):
            if isinstance(node, ast.ClassDef) and module not in PUBLIC:
                defined[within(module, "keepsake"), node.name].append(module)
    assert {name: where for name, where in defined.items() if len(where) > 1} == {}


def test_package_files_import_nothing():
    """Importing any module of a package would load everything that its ``__init__.py`` imports."""
    for module, path in modules():
        if path.name == "__init__.py":
            loaded = {name for name, _ in imports(module, path)} - {"importlib"}
            assert not loaded, module


@pytest.mark.parametrize(
    ("module", "imported", "allowed"),
    [
        ("keepsake.memory.types", "keepsake.archive.records", True),
        ("keepsake.memory.types", "keepsake.agent.attention.attention", False),
        ("keepsake.agent.mind", "typeclasses.agents", False),
        ("keepsake.agent.mind", "twisted.internet.defer", True),
        ("keepsake.agent.mind", "twisted.internet.reactor", False),
        ("typeclasses.agents", "commands.base", False),
        ("game.server.launch", "game.server.conf", False),
        ("game.server.conf.at_server_startstop", "typeclasses.agents", True),
    ],
)
def test_rules_allow_or_forbid_these_imports(module, imported, allowed):
    assert (violation(module, imported) is None) is allowed
