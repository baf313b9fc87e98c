"""Faults made by hand in a copy of the code: how many of them do the tests notice?

``tests/data/faults.yaml`` lists them. Each is one line of the code made wrong, with the tests that
must fail then; the same tests pass on the copy before. A fault whose line is not there any more
is an error, so that the list follows the code.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from tests.bench.figures import Figure
from tests.size import REPOSITORY

FAULTS = REPOSITORY / "tests" / "data" / "faults.yaml"
_NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "*.sqlite3")


def measure() -> Iterator[Figure]:
    """Make each fault in turn; a survivor is printed with what it did."""
    faults = yaml.safe_load(FAULTS.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(REPOSITORY, copy, ignore=_NOT_COPIED)
        everything = sorted({test for fault in faults for test in fault["tests"]})
        if not _passes(copy, everything):
            raise SystemExit("The tests fail without any fault: mend them first")
        caught = sum(_is_caught(copy, fault) for fault in faults)
    yield Figure("faults caught", len(faults), caught, "faults", f"{len(faults)} made by hand")


def _is_caught(copy: Path, fault: dict[str, str]) -> bool:
    path = copy / fault["file"]
    whole = path.read_text(encoding="utf-8")
    old, new = fault["old"].rstrip("\n"), fault["new"].rstrip("\n")
    if whole.count(old) != 1:
        raise SystemExit(f"{fault['file']} has {whole.count(old)} times, not once: {old}")
    path.write_text(whole.replace(old, new), encoding="utf-8")
    try:
        caught = not _passes(copy, list(fault["tests"]))
    finally:
        path.write_text(whole, encoding="utf-8")
    print(f"{'caught' if caught else 'NOT CAUGHT'}: {fault['fault']}", flush=True)
    return caught


def _passes(copy: Path, tests: list[str]) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False)
    return done.returncode == 0
