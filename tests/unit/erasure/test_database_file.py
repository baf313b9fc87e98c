"""SQLite keeps no remains of deleted rows: not in free pages, and not in its log."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from keepsake.database import scrub

WORD = b"axolotls"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    """A database in WAL mode, as the game's, whose rows have been deleted."""
    path = tmp_path / "evennia.db3"
    keep = sqlite3.connect(path, isolation_level=None)
    keep.execute("PRAGMA journal_mode=WAL")
    keep.execute("PRAGMA secure_delete=OFF")
    keep.execute("CREATE TABLE said (words TEXT)")
    keep.executemany("INSERT INTO said VALUES (?)", [("I breed axolotls.",)] * 50)
    keep.execute("INSERT INTO said VALUES ('It rains.')")
    keep.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    keep.execute("DELETE FROM said WHERE words LIKE '%axolotls%'")
    yield path
    keep.close()


def remains(path: Path) -> set[str]:
    return {each.name for each in path.parent.iterdir() if WORD in each.read_bytes()}


def test_deleted_rows_are_in_no_file_while_the_game_has_the_database_open(database):
    with closing(sqlite3.connect(database)) as game:
        assert game.execute("SELECT * FROM said").fetchall() == [("It rains.",)]
        game.commit()
        assert remains(database)
        scrub(database)
        assert remains(database) == set()
        assert game.execute("SELECT * FROM said").fetchall() == [("It rains.",)]


def test_a_database_in_use_is_reported(database, monkeypatch):
    monkeypatch.setattr("keepsake.database._SCRUB_SECONDS", 0.1)
    with closing(sqlite3.connect(database, isolation_level=None)) as busy:
        busy.execute("BEGIN IMMEDIATE")
        with pytest.raises(OSError, match=r"evennia\.db3"):
            scrub(database)
