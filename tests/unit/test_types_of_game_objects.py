"""The type checker goes on where Evennia begins: objects of the game are Protocols, not ``Any``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from keepsake.paths import REPOSITORY

FOLDERS = ("keepsake/agent", "keepsake/contrib/evennia")
PASSED_THROUGH = {
    # arguments of Evennia's own methods, in its wide forms
    "text",
    "from_obj",
    "session",
    "account",
    "options",
    "msg_self",
    "msg_location",
    "receivers",
    "msg_receivers",
    # values that a game stores
    "db",
    "ndb",
    "attributes",
    # classes that a game's settings name
    "agent_cmdset",
    "_Character",
    "COMMAND",
    # what a game's hook has returned, before it is checked
    "found",
    # Twisted's
    "clock",
    "reactor",
    "call",
}
"""What may be ``Any``: it is no object of the game."""
OTHER_VALUES = {"Mapping", "dict", "Callable", "Awaitable", "Deferred"}
"""Generic types whose values may be anything: options of messages, fields of events."""


def is_any(annotation: ast.expr | None) -> bool:
    """Return whether an annotation is ``Any``, or has it in a union, a list or a tuple."""
    match annotation:
        case ast.Name(id="Any") | ast.Attribute(attr="Any"):
            return True
        case ast.BinOp(left=left, right=right):
            return is_any(left) or is_any(right)
        case ast.Subscript(value=ast.Name(id=name)) if name in OTHER_VALUES:
            return False
        case ast.Subscript(slice=inside):
            return is_any(inside)
        case ast.Tuple(elts=several):
            return any(map(is_any, several))
    return False


def unchecked(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the names that a module takes for ``Any``, with their lines.

    Keyword arguments that a hook passes on may be anything.
    """
    for node in ast.walk(tree):
        match node:
            case ast.arguments():
                several = (*node.posonlyargs, *node.args, *node.kwonlyargs)
                given = (*several, *([node.vararg] if node.vararg is not None else []))
                yield from ((each.arg, each.lineno) for each in given if is_any(each.annotation))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if is_any(node.returns):
                    yield f"the result of {name}", node.lineno
            case ast.AnnAssign(target=target) if is_any(node.annotation):
                yield ast.unparse(target), node.lineno
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.TypeAlias(name=ast.Name(id=name)):
                if is_any(node.value):
                    yield name, node.lineno


def test_no_object_of_the_game_is_any():
    found = [
        f"{path.relative_to(REPOSITORY)}:{line}: {name}"
        for folder in FOLDERS
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
        for name, line in unchecked(ast.parse(path.read_text(encoding="utf-8")))
        if name not in PASSED_THROUGH
    ]
    assert not found, "use a Protocol of keepsake/agent/body.py: " + ", ".join(found)


def test_any_is_found_in_every_place():
    source = """
Body = Any
type Room = Any | None
def f(agent: Any, *, rooms: list[Any]) -> tuple[Any, int]:
    here: Any = agent.location
def g(facts: Mapping[str, Any], **kwargs: Any) -> Callable[[], Any]: ...
"""
    names = [name for name, _ in unchecked(ast.parse(source))]
    assert sorted(names) == ["Body", "Room", "agent", "here", "rooms", "the result of f"]
