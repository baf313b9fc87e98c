"""Recall by meaning without a server: vectors in a SQLite file."""

import sqlite3
from datetime import UTC, datetime

import numpy as np
import pytest

from keepsake import Memory, Speech
from keepsake.errors import IndexUnavailable
from keepsake.files import OWN
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.sqlite_vectors import SqliteVectors, VectorTable
from keepsake.recall.stores import VectorsUnusable
from tests.fakes.embedder import BagOfWords
from tests.unit.llm.conftest import until

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def document(number):
    return Document(f"memory:{number}", DocumentKind.MEMORY, f"line {number}", NOW)


def test_the_nearest_vectors_are_found_and_kept_over_a_restart(tmp_path):
    store = SqliteVectors(tmp_path / "index" / "vectors.db")
    made = store.create("Mira", "model-a")
    many = [(float(n), 1.0, 0.0) for n in range(300)]  # more than the first matrix has room for
    made.add([(document(n), [each]) for n, each in enumerate(many)])
    assert made.query((0.0, 1.0, 0.0), 2)[0] == ("memory:0", pytest.approx(1.0))
    made.add([(document(7), [(0.0, 0.0, 1.0)])])
    assert made.query((0.0, 0.0, 2.0), 1) == [("memory:7", pytest.approx(1.0))]
    made.remove(["memory:7", "memory:999"])
    assert made.count() == 299
    store.close()
    again = store.open(made.name)
    assert again.model == "model-a"
    assert again.query((0.0, 1.0, 0.0), 1)[0][0] == "memory:0"
    store.close()


@pytest.mark.parametrize("number", [1, 15, 16, 17, 100])
def test_the_nearest_of_any_number_of_vectors_are_those_of_a_full_sort(number):
    random = np.random.default_rng(number)
    vectors = random.standard_normal((number, 24)).astype(np.float32)
    vectors[number // 2] = vectors[0]  # equals come in the order in which they were added
    table = VectorTable()
    for place, vector in enumerate(vectors):  # one by one, as a talk goes on
        table.put([str(place)], [vector])
    asked = random.standard_normal(24).astype(np.float32)
    near = vectors @ asked
    for limit in (1, 10, number, number + 1):
        best = sorted(range(number), key=lambda place: -near[place])[:limit]
        found = table.nearest(asked, limit)
        if limit < number:  # which of two equals is cut off is not said
            assert sorted(like for _, like in found) == pytest.approx(sorted(near[best]))
        else:
            assert [key for key, _ in found] == [str(place) for place in best]
    assert len(table) == number
    assert VectorTable().nearest(asked, 3) == []


def test_another_index_and_a_broken_file_are_refused_and_made_anew(tmp_path):
    path = tmp_path / "vectors.db"
    store = SqliteVectors(path)
    with pytest.raises(VectorsUnusable, match="no vectors yet"):
        store.open("agent-1")
    store.create("Mira", "model-a")
    with pytest.raises(VectorsUnusable, match="another index"):
        store.open("agent-1")
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(VectorsUnusable, match="cannot be used"):
        store.open("agent-1")
    made = store.create("Mira", "model-a")
    assert made.count() == 0
    store.close()


def test_a_full_disk_costs_no_vectors(tmp_path, monkeypatch):
    connect = sqlite3.connect

    def connect_on_small_disk(*given, **options):
        file = connect(*given, **options)
        file.execute("PRAGMA max_page_count = 12")
        return file

    store = SqliteVectors(tmp_path / "vectors.db")
    with monkeypatch.context() as small:
        small.setattr(sqlite3, "connect", connect_on_small_disk)
        made = store.create("Mira", "model-a")
        made.add([(document(1), [(1.0, 0.0)])])
        many = [(document(n), [(0.0, 1.0)]) for n in range(2, 5000)]
        with pytest.raises(IndexUnavailable, match="full") as refused:
            made.add(many)
        assert not isinstance(refused.value, VectorsUnusable), "which is made anew"
        assert made.query((1.0, 0.0), 9) == [("memory:1", pytest.approx(1.0))]
        store.close()
    again = store.open(made.name)
    assert again.count() == 1
    again.add(many)
    assert again.count() == 4999
    store.close()


def test_a_memory_recalls_by_meaning_and_survives_the_loss_of_its_vectors(tmp_path):
    embedder = BagOfWords()

    def opened():
        return Memory(tmp_path / "mira", embedder=embedder)

    with opened() as mira:
        mira.perceive(Speech("Anneke", "My sister Liesbet drowned.", to=["Mira"]))
        until(lambda: mira.status().by_meaning)
        assert mira.status().problem == ""
        assert "meaning" in " ".join(mira.recall("sister drowned", limit=1)[0].why)
    (tmp_path / "mira" / OWN / "index" / "vectors.db").write_bytes(b"broken" * 1000)
    with opened() as mira:
        until(lambda: mira.status().by_meaning)
        assert mira.recall("sister", limit=1)[0].words == "My sister Liesbet drowned."
        mira.forget("Anneke")
        assert mira.recall("sister") == []
