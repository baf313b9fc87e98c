"""An error that is caught whatever it is must be seen: logged with its traceback, or passed on."""

import ast
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
PACKAGES = ("commands", "game", "keepsake", "typeclasses", "world")
BROAD = {"Exception", "BaseException"}
SHOWING = {"exception", "failure", "print_exc", "set_exception"}
"""Methods that log or print the traceback of the current error, or give it to who waits for it."""


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Whether it catches every error: ``except:``, ``except Exception``, also in a tuple."""
    if handler.type is None:
        return True
    return any(isinstance(n, ast.Name) and n.id in BROAD for n in ast.walk(handler.type))


def shows(handler: ast.ExceptHandler) -> bool:
    """Whether it raises, or makes a call that shows the traceback."""
    for node in ast.walk(handler):
        if isinstance(node, ast.Raise):
            return True
        if isinstance(node, ast.Call):
            named = isinstance(node.func, ast.Attribute) and node.func.attr in SHOWING
            if named or any(each.arg == "exc_info" for each in node.keywords):
                return True
    return False


def hiding(source: str) -> list[int]:
    """Return the lines of broad handlers, and of broad ``suppress`` calls, that hide an error."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler) and is_broad(node) and not shows(node):
            found.append(node.lineno)
        suppresses = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress")
        if suppresses and any(isinstance(a, ast.Name) and a.id in BROAD for a in node.args):
            found.append(node.lineno)
    return found


def test_no_broad_except_hides_an_error():
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line}"
        for package in PACKAGES
        for path in sorted((REPOSITORY / package).rglob("*.py"))
        for line in hiding(path.read_text(encoding="utf-8"))
    ]
    assert not wrong, "log with exc_info, narrow, or raise: " + ", ".join(wrong)


@pytest.mark.parametrize(
    ("body", "hides"),
    [
        ("try: f()\nexcept Exception: pass", True),
        ("try: f()\nexcept: log.error('it failed')", True),
        ("try: f()\nexcept (OSError, Exception) as e: log.error(f'{e!r}')", True),
        ("with suppress(Exception): f()", True),
        ("with contextlib.suppress(BaseException): f()", True),
        ("try: f()\nexcept Exception as e: log.error('it failed', exc_info=e)", False),
        ("try: f()\nexcept BaseException as e: raise Known from e", False),
        ("try: f()\nexcept OSError: pass", False),
        ("with suppress(OSError): f()", False),
    ],
)
def test_the_search_finds_handlers_that_hide_errors(body, hides):
    assert bool(hiding(body)) is hides
