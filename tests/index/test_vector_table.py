"""Words and vectors in one file: what is nearest, what is closed for a while, earlier files."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from keepsake.errors import IndexUnavailable
from keepsake.index import rows
from keepsake.index.open_files import OpenFiles
from keepsake.index.rows import VectorRows, packed
from keepsake.index.state import IndexFile
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.fusion import stemmed
from tests.index.conftest import BagOfWords, Life, Opener, by_meaning, by_words

BEGIN = datetime(2026, 5, 1, 12, tzinfo=UTC)
FORMER = """
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, text TEXT NOT NULL,
    time TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, speaker TEXT NOT NULL,
    place TEXT NOT NULL, title TEXT NOT NULL, around TEXT NOT NULL DEFAULT ''
);
CREATE INDEX documents_by_number ON documents (kind, first);
CREATE VIRTUAL TABLE words USING fts5(
    kind, text, title, around,
    content='documents', content_rowid='id', tokenize='porter unicode61'
);
CREATE TRIGGER documents_added AFTER INSERT ON documents BEGIN
    INSERT INTO words (rowid, kind, text, title, around)
    VALUES (new.id, new.kind, new.text, new.title, new.around);
END;
CREATE TRIGGER documents_removed AFTER DELETE ON documents BEGIN SELECT 1; END;
CREATE TRIGGER documents_changed AFTER UPDATE ON documents BEGIN SELECT 1; END;
DROP TABLE IF EXISTS vectors;
INSERT INTO documents SELECT NULL, key, kind, text, time, first, last, speaker, place, title,
    around FROM later ORDER BY id DESC;
DROP TABLE later;
PRAGMA user_version = 2;
"""
"""What an earlier version made, from a file of this one."""


def memory(number: int, text: str) -> Document:
    time = BEGIN + timedelta(minutes=number)
    return Document(f"memory:{number}", DocumentKind.MEMORY, text, time, number, number, "Tom")


def unit_rows(count: int, dimension: int = 64) -> np.ndarray:
    found = np.random.default_rng(7).normal(size=(count, dimension))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def as_before(path: Path) -> None:
    """Make the file what an earlier version would have left."""
    with closing(sqlite3.connect(path)) as database:
        for trigger in ("added", "removed", "changed"):
            database.execute(f"DROP TRIGGER documents_{trigger}")
        database.executescript(
            "DROP TRIGGER vectors_removed; DROP TABLE words; DROP INDEX documents_by_number;"
            f"ALTER TABLE documents RENAME TO later; {FORMER}"
        )
        row = database.execute("SELECT state FROM progress").fetchone()
        if row:
            state = json.loads(row[0])
            del state["copied"]
            database.execute("UPDATE progress SET state = ?", [json.dumps(state)])
        database.commit()


@pytest.mark.parametrize("scanned", [20_000, 100])
def test_the_nearest_are_those_of_full_precision(monkeypatch, scanned: int):
    monkeypatch.setattr(rows, "_SCANNED", scanned)
    vectors = unit_rows(2_000)
    held = VectorRows(np.arange(len(vectors)), packed(vectors.tolist()))
    for asked in unit_rows(2_050)[2_000:]:
        likeness = vectors @ asked
        best = np.argsort(-likeness)[:10].tolist()
        found = held.nearest((3 * asked).tolist(), 10)
        nearest = pytest.approx(likeness[best].tolist(), abs=2e-5)
        assert [near for _, near in found] == nearest
        assert likeness[[place for place, _ in found]].tolist() == nearest


def test_of_very_many_those_that_agree_in_most_signs_are_compared(monkeypatch):
    monkeypatch.setattr(rows, "_SCANNED", 100)
    monkeypatch.setattr(rows, "_AGREEING", 200)
    vectors = unit_rows(5_000, 40)  # no whole number of 64 bits
    held = VectorRows(np.arange(len(vectors)), packed(vectors.tolist()))
    for place in range(0, 5_000, 250):
        assert held.nearest(vectors[place].tolist(), 3)[0][0] == place
    within = held.nearest(vectors[7].tolist(), 5, [slice(1_000, 2_000), slice(3_000, 3_005)])
    assert all(1_000 <= place < 2_000 or 3_000 <= place < 3_005 for place, _ in within)


def test_a_vector_of_another_dimension_is_refused(tmp_path: Path):
    index = IndexFile(tmp_path / "words.db")
    index.add([memory(1, "The cup.")])
    index.put_vectors(["memory:1"], unit_rows(1).tolist())
    assert index.nearest(unit_rows(1)[0].tolist(), 3)[0][0] == "memory:1"
    with pytest.raises(IndexUnavailable, match=r"other than|numbers"):
        index.nearest([1.0] * 32, 3)
    index.add([memory(n, "The cup.") for n in range(1, 18)])
    index.put_vectors([f"memory:{n}" for n in range(1, 18)], unit_rows(17).tolist())
    index.close()
    with pytest.raises(IndexUnavailable, match=r"other than"):  # 17 of 64 take as much as 33 of 32
        index.nearest([1.0] * 32, 3)
    index.close()


@pytest.mark.parametrize("scanned", [20_000, 10])
def test_what_is_added_while_it_is_read_is_found_as_in_a_file_read_anew(
    monkeypatch, tmp_path: Path, scanned: int
):
    monkeypatch.setattr(rows, "_SCANNED", scanned)
    index, vectors = IndexFile(tmp_path / "words.db"), unit_rows(60).tolist()
    note = Document("note:sacks", DocumentKind.NOTE, "Four.", BEGIN, title="Sacks")
    index.add([*(memory(n, f"Sack {n}.") for n in range(1, 41)), note])
    index.put_vectors(["note:sacks", "memory:5", "memory:6"], vectors[40:43])
    for first in (7, 1, 30):  # in no order, and some of them again
        assert index.nearest(vectors[0], 1)
        keys = [f"memory:{n}" for n in range(first, first + 11)]
        index.put_vectors([*keys, "memory:99", keys[0]], vectors[first : first + 13])
    index.remove(["memory:9"])
    index.put_vectors(["memory:9", "memory:10"], vectors[50:52])
    again = IndexFile(index.path)
    for asked in vectors:
        assert index.nearest(asked, 20) == again.nearest(asked, 20)
    index.close()
    again.close()


def test_what_is_removed_has_no_vector_and_no_place_any_more(tmp_path: Path):
    index = IndexFile(tmp_path / "words.db")
    index.add([memory(n, f"Sack {n}.") for n in range(1, 5)])
    note = Document("note:sacks", DocumentKind.NOTE, "Four.", BEGIN, title="Sacks")
    index.add([note])
    vectors = unit_rows(6).tolist()
    index.put_vectors(["memory:1", "memory:2", "memory:3", "note:sacks", "note:gone"], vectors[:5])
    assert [key for key, _ in index.nearest(vectors[3], 1)] == ["note:sacks"]
    index.remove(["memory:2", "note:sacks"])
    assert {key for key, _ in index.nearest(vectors[0], 9)} == {"memory:1", "memory:3"}
    index.remove_vectors(["memory:3"])
    assert [key for key, _ in index.nearest(vectors[0], 9)] == ["memory:1"]
    assert index.get(["memory:3"])
    index.close()
    with closing(sqlite3.connect(tmp_path / "words.db")) as database:
        assert database.execute("SELECT id FROM vectors").fetchall() == [(1,)]


def test_files_that_were_not_used_for_longest_are_closed_and_answer_again(tmp_path: Path):
    used = OpenFiles(most_open=3)
    files = [IndexFile(tmp_path / f"{n}.db", used) for n in range(8)]
    vectors = unit_rows(8).tolist()
    for number, file in enumerate(files):
        file.add([memory(number + 1, f"Sack {number}.")])
        file.put_vectors([f"memory:{number + 1}"], [vectors[number]])
    for number, file in enumerate(files):
        assert file.nearest(vectors[number], 1)[0][0] == f"memory:{number + 1}"
    assert sum(file._is_open for file in files) == 3
    assert sum(file.held_bytes > 0 for file in files) == 3
    assert [key for key, _ in files[0].search(["sack"], 3)] == ["memory:1"]
    little = OpenFiles(most_bytes=1)
    first, second = (IndexFile(tmp_path / f"{n}.db", little) for n in (0, 1))
    first.nearest(vectors[0], 1)
    second.nearest(vectors[1], 1)
    assert first.held_bytes == 0 < second.held_bytes
    for file in (*files, first, second):
        file.close()


def test_a_file_of_an_earlier_version_is_converted_when_it_is_opened(tmp_path: Path):
    path = tmp_path / "words.db"
    index = IndexFile(path)
    held: Sequence[Document] = [
        *(memory(n, f"Sack {n} of flour.") for n in range(1, 30)),
        Document("summary:2", DocumentKind.SUMMARY, "Days with sacks.", BEGIN, 1, 9),
        Document("note:mill", DocumentKind.NOTE, "It grinds sacks.", BEGIN, title="Mill"),
    ]
    index.add(held)
    before = index.search(["sack"], 50)
    index.close()
    as_before(path)
    again = IndexFile(path)
    assert dict(again.search(["sack"], 50)) == pytest.approx(dict(before))
    keys = [each.key for each in held]
    plain = {key: each._replace(stemmed="") for key, each in again.get(keys).items()}
    assert plain == {each.key: each for each in held}
    assert again.get(["memory:5"])["memory:5"].stemmed == stemmed(memory(5, "Sack 5 of flour."))
    again.add([Document("note:well", DocumentKind.NOTE, "Sacks and water.", BEGIN, title="Well")])
    assert set(by_kind(again, DocumentKind.NOTE)) == {"note:mill", "note:well"}
    assert by_kind(again, DocumentKind.SUMMARY) == ["summary:2"]
    again.check()
    again.close()


def by_kind(index: IndexFile, kind: DocumentKind) -> list[str]:
    return [key for key, _ in index.search(["sack"], 9, [kind])]


def test_vectors_of_an_earlier_version_come_from_chroma_and_not_from_the_embedder(
    tmp_path: Path, life: Life, reopen: Opener, embedder: BagOfWords
):
    index = reopen()
    life.leave_window(index, 700)
    before = by_meaning(index, "Tom says, “Sack 77.”", 20)
    index.close()
    as_before(tmp_path / "index" / "mira" / "words.db")
    embedder.texts.clear()
    again = reopen()
    assert by_words(again, "77")[:1] == ["memory:77"]
    with pytest.raises(IndexUnavailable, match="being made"):
        by_meaning(again, "sack")
    again.follow(701)
    (asked,) = embedder.texts
    assert asked.startswith("How many numbers?")
    assert by_meaning(again, "Tom says, “Sack 77.”", 20) == before
    assert again.problem is None
