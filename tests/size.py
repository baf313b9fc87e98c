"""How large the code is: ``make size`` prints it beside what it was before."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PACKAGES = ("keepsake", "game", "typeclasses", "commands", "world")
BEFORE = {
    "lines": 82_841,
    "code lines": 55_433,
    "modules": 588,
    "classes": 847,
    "compiled patterns": 481,
    "settings": 57,
    "lines of tests": 62_436,
    "words of documents": 69_206,
}
"""What this script found at 2939b97d, before the model spoke for itself."""
LARGEST = 8
_SETTING = re.compile(r"^\*\*[^*\n]+\*\*:", re.M)
_EXAMPLE = re.compile(r"^```.*?^```", re.M | re.S)
_CATALOGUE = REPOSITORY / "vault" / "config" / "models.md"
"""What can be fetched: it has the form of settings, and sets nothing."""
_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


def sources(*folders: str) -> Iterator[tuple[Path, str]]:
    """Every module in the folders, with its text."""
    for folder in folders:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            yield path, path.read_text(encoding="utf-8")


def code_lines(text: str) -> int:
    """Lines that hold code: no blank ones, no comments, no texts that only stand there."""
    told: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            told.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - told)


def classes(text: str) -> Iterator[str]:
    """The names of all classes, inner ones too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef):
            yield node.name


def patterns(text: str) -> int:
    """How many regular expressions are compiled."""
    return sum(
        isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
        for node in ast.walk(ast.parse(text))
    )


def settings(text: str) -> int:
    """How many settings a page of the configuration makes; what an example shows is none."""
    return len(_SETTING.findall(_EXAMPLE.sub("", text)))


def figures() -> dict[str, int]:
    """What there is now."""
    found = list(sources(*PACKAGES))
    named = Counter(name for _, text in found for name in classes(text))
    config = {*(REPOSITORY / "vault" / "config").glob("*.md")} - {_CATALOGUE}
    return {
        "lines": sum(len(text.splitlines()) for _, text in found),
        "code lines": sum(code_lines(text) for _, text in found),
        "modules": len(found),
        "classes": named.total(),
        "compiled patterns": sum(patterns(text) for _, text in found),
        "settings": sum(settings(each.read_text("utf-8")) for each in config),
        "lines of tests": sum(len(text.splitlines()) for _, text in sources("tests")),
        "words of documents": sum(len(each.read_text("utf-8").split()) for each in documents()),
    }


def documents() -> list[Path]:
    """The pages that people read: those at the top but the change log, and those in ``docs``."""
    top = {*REPOSITORY.glob("*.md")} - {REPOSITORY / "CHANGELOG.md"}
    return sorted(top | {*(REPOSITORY / "docs").glob("*.md")})


def folders() -> Counter[str]:
    """How many modules each folder has."""
    return Counter(path.parent.relative_to(REPOSITORY).as_posix() for path, _ in sources(*PACKAGES))


def main() -> None:
    """Print it."""
    print(_row("", "now", "2939b97d"))
    for name, value in figures().items():
        print(_row(name, value, BEFORE[name]))
    print()
    print(_row("largest folders", "modules"))
    for folder, count in folders().most_common(LARGEST):
        print(_row(folder, count))
    print()
    print(_row("package", "lines", "code lines", "modules"))
    for package in PACKAGES:
        texts = [text for _, text in sources(package)]
        lines = sum(len(text.splitlines()) for text in texts)
        print(_row(package, lines, sum(map(code_lines, texts)), len(texts)))


def _row(name: str, *values: int | str) -> str:
    cells = (f"{v:,}" if isinstance(v, int) else v for v in values)
    return f"{name:30}" + "".join(f"{cell:>12}" for cell in cells)


if __name__ == "__main__":
    main()
