"""Documents that searches have read are kept, and are never older than the file."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.index import document_cache
from keepsake.recall.index.words import WordIndex

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def document(number: int, text: str) -> Document:
    return Document(f"memory:{number}", DocumentKind.MEMORY, text, NOW, number, number, "Tom")


def texts(index: WordIndex, *rows: int) -> list[str]:
    return [each.text for each in index.documents_at(rows).values()]


def test_documents_come_in_the_order_of_their_rows_whether_they_are_kept_or_read():
    index = WordIndex()
    index.add([document(number, f"line {number}") for number in range(1, 7)])
    again = WordIndex()
    again.add([document(4, "another index")])
    assert texts(index, 5, 2) == ["line 2", "line 5"]
    assert [*index.documents_at([6, 3, 5, 9, 1])] == [1, 3, 5, 6]
    assert texts(again, 4, 5) == ["another index"]


def test_a_kept_document_is_the_one_that_the_file_has(tmp_path):
    path = tmp_path / "words.db"
    index = WordIndex(path)
    zone = ZoneInfo("Europe/Amsterdam")
    odd = document(1, 'a\0b "q" \\ \u2028 \x7f')._replace(time=NOW.astimezone(zone), said="é")
    index.add([odd])
    kept = index.documents_at([1])
    assert kept == WordIndex(path).documents_at([1]) == {1: odd}
    assert str(kept[1].time.tzinfo) == str(WordIndex(path).documents_at([1])[1].time.tzinfo)


def test_changes_of_this_and_of_another_connection_are_seen(tmp_path):
    index = WordIndex(tmp_path / "words.db")
    index.add([document(1, "old"), document(2, "two")])
    assert texts(index, 1, 2) == ["old", "two"]
    index.add([document(1, "new")])
    assert texts(index, 1, 2) == ["new", "two"]
    index.remove(["memory:2"])
    assert texts(index, 1, 2) == ["new"]
    other = WordIndex(tmp_path / "words.db")
    other.add([document(1, "newest"), document(2, "again")])
    assert texts(index, 1, 2) == ["newest", "again"]
    other.close()
    index.delete()
    assert texts(index, 1, 2) == []


def test_what_was_not_read_for_long_is_dropped_and_read_again(monkeypatch):
    monkeypatch.setattr(document_cache, "_GENERATION", 3)
    kept = document_cache.Generations()
    monkeypatch.setattr(document_cache, "_kept", kept)
    index = WordIndex()
    index.add([document(number, f"line {number}") for number in range(1, 9)])
    assert len(kept.young) + len(kept.old) <= 6
    for number in (1, 2, 1, 3, 1, 4, 1, 5):
        assert texts(index, number, 1) == list(dict.fromkeys(["line 1", f"line {number}"]))
        assert len(kept.young) + len(kept.old) <= 6
    assert any(row == 1 for _, row in (*kept.young, *kept.old))


@pytest.mark.parametrize("rows", [[], [99]])
def test_rows_without_documents_give_none(rows):
    assert WordIndex().documents_at(rows) == {}
