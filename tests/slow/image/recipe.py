"""Reads the Dockerfile and .dockerignore, and copies the build context as Docker would."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keepsake.paths import REPOSITORY

DOCKERFILE = REPOSITORY / "Dockerfile"
IGNORE = REPOSITORY / ".dockerignore"


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction of a Dockerfile, in upper case, and the rest of its line."""

    name: str
    rest: str

    @property
    def words(self) -> list[str]:
        """The words of the rest, without options such as ``--from=build``."""
        return [each for each in shlex.split(self.rest) if not each.startswith("--")]

    @property
    def source_stage(self) -> str:
        """The stage from which a COPY takes its files; empty for the build context."""
        found = re.search(r"--from=(\S+)", self.rest)
        return found[1] if found else ""


def stages(text: str) -> dict[str, list[Instruction]]:
    """Return the instructions of each stage by the stage's name; the last one is ``""``."""
    found = dict[str, list[Instruction]]()
    for line in _whole_lines(text):
        name, _, rest = line.partition(" ")
        instruction = Instruction(name.upper(), rest.strip())
        if instruction.name == "FROM":
            named = re.search(r"\sAS\s+(\S+)", f" {rest}", re.I)
            found[named[1] if named else ""] = []
        else:
            list(found.values())[-1].append(instruction)
    return found


def _whole_lines(text: str) -> Iterator[str]:
    """Yield each instruction as one line, without comments."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    yield from re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()


# -- .dockerignore


def ignores(text: str) -> list[tuple[bool, re.Pattern[str]]]:
    """Return for each pattern of a .dockerignore whether it excludes, and its expression."""
    patterns = [line.strip() for line in text.splitlines()]
    return [
        (not each.startswith("!"), re.compile(_expression(each.removeprefix("!"))))
        for each in patterns
        if each and not each.startswith("#")
    ]


def _expression(pattern: str) -> str:
    """Translate a pattern as Docker does: ``*`` ends at a slash, ``**/`` is any folders or none."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]*\])", pattern.strip("/"))
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(
        known.get(each) or (each if each.startswith("[") else re.escape(each)) for each in parts
    )


def excluded(path: str, patterns: list[tuple[bool, re.Pattern[str]]]) -> bool:
    """Return whether Docker leaves a path out: the last pattern for it or a parent decides."""
    parts = path.split("/")
    prefixes = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    result = False
    for excludes, expression in patterns:
        if any(expression.fullmatch(each) for each in prefixes):
            result = excludes
    return result


def context(root: Path) -> list[str]:
    """Return the files below a folder that its .dockerignore sends to Docker, sorted."""
    patterns = ignores((root / ".dockerignore").read_text(encoding="utf-8"))
    files = (each.relative_to(root).as_posix() for each in root.rglob("*") if each.is_file())
    return sorted(name for name in files if not excluded(name, patterns))
