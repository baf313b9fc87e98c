"""What became of one cell, as its file in the sweep's folder has it."""

from __future__ import annotations

import json
import platform
import subprocess
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from keepsake.errors import refusing
from keepsake.lab.trials.cell import TrialCell
from keepsake.lab.trials.journal import Row
from keepsake.paths import REPOSITORY

_PACKAGES = ("keepsake", "numpy", "onnxruntime", "chromadb", "mem0ai", "ray")


@dataclass(frozen=True, slots=True)
class CellRecord:
    """One cell that was run."""

    key: str  # names its file
    name: str  # memory and settings
    source: str
    cell: dict[str, Any]  # the exact configuration
    problem: str = ""  # why there are no rows; empty where there are
    seconds: float = 0.0  # that it took
    versions: dict[str, str] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        """Put it into the folder of the sweep's cells.

        Raises:
            KeepsakeError: It cannot be written.
        """
        path = folder / f"{self.key}.json"
        part = path.with_suffix(".new")
        text = json.dumps({n: getattr(self, n) for n in self.__slots__}, ensure_ascii=False)
        with refusing(f"{path} could not be written", "Free some disk space; what is done is kept"):
            part.write_text(f"{text}\n", encoding="utf-8")
            part.replace(path)


def record_of(cell: TrialCell, **fields: Any) -> CellRecord:
    """The record of a cell."""
    profile = f", {cell.profile}" if cell.profile else ""
    name, source = f"{cell.name}{profile}", cell.source.name
    return CellRecord(cell.key(), name, source, cell.as_json(), versions=versions(), **fields)


def read_record(folder: Path, key: str) -> CellRecord | None:
    """A cell that came to an end before; None where there is none, or it failed."""
    try:
        found = CellRecord(**json.loads((folder / f"{key}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return None if found.problem else found


@cache
def versions() -> dict[str, str]:
    """The versions that the figures depend on, and the commit."""
    found = {"python": platform.python_version(), "commit": _commit()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return {name: each for name, each in found.items() if each}


def _commit() -> str:
    """The commit of the checkout, with a ``+`` where files differ from it; empty without git."""
    try:
        told = subprocess.run(
            ["git", "describe", "--always", "--abbrev=12", "--dirty=+"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return told.stdout.strip()
