"""Tidying removes what a crash of ours left, and nothing of anybody's."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keepsake.agent.sleep.night_tasks import tidy
from keepsake.books import files as vault_files

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


def aged(path: Path, hours: float) -> Path:
    time = (NOW - timedelta(hours=hours)).timestamp()
    os.utime(path, (time, time), follow_symlinks=False)
    return path


def put(path: Path, hours: float = 48, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return aged(path, hours)


@pytest.fixture
def crashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What is left behind when the game is killed in the middle of writing, by the real code."""
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda *_, **__: None)  # killed before it could clear up
        vault_files.change(tmp_path / "notes" / "a long title of a note.md", lambda _: "text")
        vault_files.change(tmp_path / "journal" / "2026-11-20.md", lambda _: "text")
        vault_files.create_beside(tmp_path / "summaries" / "recent-1.md", "text")
    return [aged(path, 48) for path in tmp_path.rglob("*.tmp")]


def test_what_a_crash_left_is_removed(tmp_path: Path, crashed: list[Path]):
    assert len(crashed) == 3
    assert tidy(tmp_path, None, NOW)["temporary files"] == 3
    assert not any(path.exists() for path in crashed)
    assert (tmp_path / "notes" / "a long title of a note.md").read_text() == "text"
    assert (tmp_path / "journal" / "2026-11-20.md").exists()


@pytest.mark.parametrize(
    ("name", "hours"),
    [
        (".recent-abcd1234.tmp", 23),  # it may be in use
        *((name, 10_000) for name in ("recent-abcd1234.tmp", ".recent-abcd1234.md", ".lock")),
        *((name, 10_000) for name in (".recent.tmp", ".recent-ABCD1234.tmp", "notes.tmp")),
        *((name, 10_000) for name in (".recent-abcd1234.tmp.md", ".~lock.recent.md#")),
    ],
)
def test_what_is_not_ours_stays_and_the_folders_that_hold_it(
    tmp_path: Path, name: str, hours: float
):
    path = put(tmp_path / "notes" / name, hours)
    aged(path.parent, 480)
    nothing = {"temporary files": 0, "empty folders": 0, "unreadable": 0}
    assert tidy(tmp_path, None, NOW) == tidy(tmp_path / "nobody", None, NOW) == nothing
    assert path.exists()


def test_links_lead_nowhere(tmp_path: Path):
    folder, outside = tmp_path / "Mira", tmp_path / "outside"
    target = put(outside / ".recent-abcd1234.tmp")
    folder.mkdir()
    (folder / "elsewhere").symlink_to(outside)
    link = folder / ".other-abcd1234.tmp"
    link.symlink_to(target)
    aged(link, 480)
    assert tidy(folder, None, NOW)["temporary files"] == 0
    assert target.exists()
    assert link.is_symlink()
    assert (folder / "elsewhere").is_symlink()
