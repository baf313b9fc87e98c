"""The soak's check of tracebacks: of a chain of errors the last one counts."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from keepsake.errors import KeepsakeError, ModelUnavailable
from keepsake.paths import places
from tests.slow.soak import checks


def refused() -> None:
    raise ConnectionRefusedError("nobody listens")


def reported() -> None:
    try:
        refused()
    except OSError as error:
        raise ModelUnavailable("The model does not answer", "Start it") from error


def broken() -> None:
    try:
        reported()
    except KeepsakeError:
        {}["a bug"]


def full() -> None:
    raise OSError(28, "No space left on device")


def caused_by_full() -> None:
    try:
        full()
    except OSError as error:
        raise RuntimeError("It was not saved") from error


def broken_by_full() -> None:
    try:
        full()
    except OSError:
        {}["a bug"]


@pytest.mark.parametrize("head", ["    ", "2026-11-29 11:26:46 [EE] "])
@pytest.mark.parametrize(
    ("fails", "kinds"),
    [
        (refused, 1),
        (reported, 0),
        (broken, 1),
        (full, 0),
        (caused_by_full, 0),
        (broken_by_full, 1),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_only_bugs_are_problems(
    tmp_path: Path, fails: Callable[[], None], kinds: int, head: str
) -> None:
    here = places({"KEEPSAKE_HOME": str(tmp_path), "KEEPSAKE_VAULT": str(tmp_path / "v")})
    here.logs.mkdir()
    try:
        fails()
    except Exception:
        told = traceback.format_exc()
    lines = [f"{head}{line}" for line in told.splitlines() if line]
    text = "\n".join(["2026-11-29 11:26:45 INFO Before", *lines, "2026-11-29 11:26:47 INFO After"])
    (here.logs / "agents.log").write_text(f"{text}\n")
    assert len([*checks._tracebacks(here)]) == kinds
