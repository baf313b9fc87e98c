"""How large the code is: ``make size`` prints it."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PACKAGES = ("keepsake", "game", "typeclasses", "commands", "world")
LARGEST = 8
_SETTING = re.compile(r"^\*\*[^*\n]+\*\*:", re.M)
_EXAMPLE = re.compile(r"^```.*?^```", re.M | re.S)


def sources(*folders: str) -> Iterator[tuple[Path, str]]:
    """Every module in the folders, with its text."""
    for folder in folders:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            yield path, path.read_text(encoding="utf-8")


def figures() -> dict[str, int]:
    """Return the current counts, by name."""
    found = list(sources(*PACKAGES))
    # models.md looks like settings, but it sets nothing.
    pages = {*(REPOSITORY / "vault/config").glob("*.md")} - {REPOSITORY / "vault/config/models.md"}
    documents = {*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")}
    documents -= {REPOSITORY / "CHANGELOG.md"}
    return {
        "lines": sum(len(text.splitlines()) for _, text in found),
        "modules": len(found),
        "compiled patterns": sum(text.count("re.compile(") for _, text in found),
        "settings": sum(
            len(_SETTING.findall(_EXAMPLE.sub("", p.read_text("utf-8")))) for p in pages
        ),
        "lines of tests": sum(len(text.splitlines()) for _, text in sources("tests")),
        "words of documents": sum(len(each.read_text("utf-8").split()) for each in documents),
    }


def main() -> None:
    """Print the counts, and the folders with the most modules."""
    names = (path.parent.relative_to(REPOSITORY).as_posix() for path, _ in sources(*PACKAGES))
    for name, value in [*figures().items(), *Counter(names).most_common(LARGEST)]:
        print(f"{name:30}{value:>12,}")


if __name__ == "__main__":
    main()
