"""The index of words, in memory and in a file."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.errors import IndexUnavailable
from keepsake.index.words import Fts5Index
from keepsake.recall.documents import Document, DocumentKind

BEGIN = datetime(2026, 5, 1, 12, tzinfo=UTC)


def memory(number: int, text: str, minutes: int | None = None) -> Document:
    time = BEGIN + timedelta(minutes=number if minutes is None else minutes)
    return Document(f"memory:{number}", DocumentKind.MEMORY, text, time, number, number, "Tom")


def held(index: Fts5Index) -> set[str]:
    return {f"memory:{n}" for n in range(9)} & index.get([f"memory:{n}" for n in range(9)]).keys()


def keys(index: Fts5Index, *terms: str, **how) -> list[str]:
    return [key for key, _ in index.search(terms, how.pop("limit", 10), **how)]


def test_what_is_added_comes_back_whole():
    index = Fts5Index()
    note = Document("note:g", DocumentKind.NOTE, "Rosemary.", BEGIN, 0, 0, "", "Garden", "Herbs")
    index.add([memory(1, "Nets"), note])
    held = index.get(["note:g", "memory:1", "memory:2"])
    assert {key: each._replace(stemmed="") for key, each in held.items()} == {
        "note:g": note,
        "memory:1": memory(1, "Nets"),
    }


def test_words_are_found_by_their_stems_best_first():
    index = Fts5Index()
    index.add([memory(10, "He mended a net."), memory(20, "Nets, nets and mending of nets!"),
               memory(30, "Leek soup.")])  # fmt: skip
    found = index.search(["net", "mend"], 10)
    assert {key for key, _ in found} == {"memory:10", "memory:20"}
    assert found[0][1] >= found[1][1] > 0.0


def test_a_memory_is_found_by_its_neighbours_but_less():
    index = Fts5Index()
    index.add([memory(1, "Whose is the cup?"), memory(2, "My mother's."), memory(3, "I see.")])
    assert keys(index, "cup") == ["memory:1", "memory:2"]
    assert keys(index, "mother")[0] == "memory:2"


def test_lines_of_another_scene_are_no_neighbours():
    index = Fts5Index()
    index.add([memory(1, "Whose is the cup?"), memory(2, "Good morning.", minutes=600)])
    assert keys(index, "cup") == ["memory:1"]


def test_neighbours_are_the_same_however_the_batches_fall():
    lines = [memory(n, f"word{n} common") for n in range(1, 8)]
    whole, single, backwards = Fts5Index(), Fts5Index(), Fts5Index()
    whole.add(lines)
    for line in lines:
        single.add([line])
    for line in reversed(lines):
        backwards.add([line])
    for term in ("word1", "word4", "word7"):
        found = dict(whole.search([term], 10))
        assert len(found) > 1
        assert dict(single.search([term], 10)) == pytest.approx(found)
        assert dict(backwards.search([term], 10)) == pytest.approx(found)


def test_a_known_key_is_replaced_also_in_its_neighbours():
    index = Fts5Index()
    index.add([memory(1, "The cup."), memory(2, "Yes.")])
    index.add([memory(1, "The bell.")])
    assert keys(index, "cup") == []
    assert keys(index, "bell") == ["memory:1", "memory:2"]
    index.check()


def test_what_is_removed_is_gone_also_from_its_neighbours():
    index = Fts5Index()
    index.add([memory(1, "The cup."), memory(2, "Yes.")])
    index.remove(["memory:1", "memory:77"])
    assert keys(index, "cup") == []
    assert held(index) == {"memory:2"}
    index.check()


def test_what_was_read_is_read_anew_when_it_changes_and_else_is_not():
    index = Fts5Index()
    index.add([memory(1, "The cup."), memory(2, "The bell."), memory(3, "Yes.")])
    first = index.get(["memory:1", "memory:2", "memory:3"])
    index.add([memory(1, "The net."), memory(4, "No.")])
    index.remove(["memory:3"])
    then = index.get(["memory:1", "memory:2", "memory:3"])
    assert then["memory:1"].text == "The net."
    assert then["memory:2"] is first["memory:2"]
    assert "memory:3" not in then


def test_what_a_failed_write_would_have_changed_is_as_it_was():
    index = Fts5Index()
    index.add([memory(1, "The cup.")])
    index.get(["memory:1"])
    with pytest.raises(IndexUnavailable):
        index.add([memory(1, "The net."), memory(2, "Odd.")._replace(first=1 << 70)])
    assert index.get(["memory:1"])["memory:1"].text == "The cup."


def test_only_the_kinds_asked_for():
    index = Fts5Index()
    summary = Document("summary:1", DocumentKind.SUMMARY, "A cup was lost.", BEGIN, 1, 9)
    index.add([memory(1, "The cup."), summary])
    assert keys(index, "cup", kinds=[DocumentKind.SUMMARY]) == ["summary:1"]
    assert keys(index, "cup", kinds=[DocumentKind.NOTE]) == []
    assert held(index) == {"memory:1"}


def test_a_common_word_is_left_out_beside_a_rarer_one(monkeypatch):
    monkeypatch.setattr("keepsake.index.words._MOST_ROWS", 4)
    index = Fts5Index()
    index.add([memory(10 * n, "The mill.") for n in range(1, 8)])
    index.add([memory(100, "A cup."), memory(200, "The cup from the mill.")])
    assert sorted(keys(index, "mill", "cup")) == ["memory:100", "memory:200"]
    assert len(keys(index, "mill")) == 8
    assert len(keys(index, "mill", "bell")) == 8, "a word that nothing holds leaves room"


def test_a_common_word_finds_a_summary_all_the_same(monkeypatch):
    monkeypatch.setattr("keepsake.index.words._MOST_ROWS", 4)
    index = Fts5Index()
    index.add([memory(10 * n, "The mill.") for n in range(1, 8)] + [memory(100, "A cup.")])
    index.add([Document("summary:1", DocumentKind.SUMMARY, "Days at the mill.", BEGIN, 1, 9)])
    assert keys(index, "mill", "cup", kinds=[DocumentKind.SUMMARY]) == ["summary:1"]


def test_the_word_for_a_kind_is_a_word_like_any_other():
    index = Fts5Index()
    index.add([memory(n, f"Sack {n}.") for n in range(1, 5)])
    garden = Document("note:garden", DocumentKind.NOTE, "Rosemary.", BEGIN, title="Garden")
    index.add([memory(50, "A note lay on the mill stone."), garden])
    assert keys(index, "note") == ["memory:50"]
    assert keys(index, "memory", "memory_summary") == []
    assert keys(index, "rosemary", kinds=[DocumentKind.NOTE]) == ["note:garden"]
    assert keys(index, "stone", kinds=[DocumentKind.NOTE, DocumentKind.SUMMARY]) == []


@pytest.mark.parametrize("term", ['"', "a OR b", "col:x", "(", "*", "^", "NEAR", "it's", "", "\0"])
def test_no_term_is_taken_for_a_query(term):
    index = Fts5Index()
    index.add([memory(1, "The cup.")])
    assert keys(index, term) == []
    assert keys(index, term, "cup") == ["memory:1"]


def test_scores_are_those_of_one_statement_of_sqlite_before_and_after_a_change():
    index, chance = Fts5Index(), Random(4)
    words = ["a", "cup", "bell", "net", "mill", "boat", "soup"]
    lines = [" ".join(chance.choices(words, k=6)) for _ in range(90)]
    questions = [["cup"], ["net", "bell", "cup"], ["mill", "cup", "zebra"], ["boat soup", "net"]]

    def as_sqlite_has_them(*terms: str) -> list[tuple[str, float]]:
        match = " OR ".join(index._telling([f'"{term}"' for term in terms]))
        asked = "SELECT rowid, -rank FROM words WHERE words MATCH ? ORDER BY rank, rowid LIMIT 30"
        rows = index._database.execute(asked, [match])
        return [(f"memory:{number}", score) for number, score in rows]

    index.add([memory(3 * n, line) for n, line in enumerate(lines)])
    for gone, new in ("memory:0", "Net"), ("memory:3", "Cup"), ("memory:6", "Bell"):
        for terms in questions * 2:
            assert index.search(terms, 30) == as_sqlite_has_them(*terms)
        index.remove([gone])
        index.add([memory(1, new)])


def test_several_searches_at_once_find_what_each_alone_finds(monkeypatch):
    monkeypatch.setattr("keepsake.index.words._MOST_ROWS", 4)
    index = Fts5Index()
    index.add([memory(10 * n, "The mill.") for n in range(1, 8)] + [memory(100, "A cup.")])
    index.add([Document("summary:1", DocumentKind.SUMMARY, "Days at the mill.", BEGIN, 1, 9)])
    index.add([Document("note:cup", DocumentKind.NOTE, "Blue.", BEGIN, title="Cup")])
    wanted = [(5, kinds) for kinds in ([DocumentKind.SUMMARY], [DocumentKind.MEMORY], [],
              [DocumentKind.NOTE, DocumentKind.MEMORY])]  # fmt: skip
    for terms in (["mill", "cup"], ["mill"], [], ["cup", "mill", "cup"]):
        alone = []
        for limit, kinds in wanted:
            index._scores.forget()
            alone.append(index.search(terms, limit, kinds))
        assert index.search_each(terms, wanted) == alone


def test_more_terms_than_a_statement_of_sqlite_takes_are_looked_for():
    index = Fts5Index()
    index.add([memory(1, "The cup.")])
    assert keys(index, *(f"word{n}" for n in range(1200)), "cup") == ["memory:1"]


def test_rows_of_terms_are_counted_and_forgotten_when_they_are_many(monkeypatch):
    monkeypatch.setattr("keepsake.index.scored._MOST_ROWS", 3)
    index = Fts5Index()
    index.add([memory(10 * n, "A cup, a bell.") for n in range(1, 5)])
    for _ in range(2):
        for term in ("cup", "bell", "bell"):
            assert len(keys(index, term)) == 4
            assert index._scores.nbytes == (4 + 24) * 16, "four rows, and the term itself"


def test_a_file_keeps_what_was_added(tmp_path):
    path = tmp_path / "words.db"
    index = Fts5Index(path)
    index.add([memory(1, "The cup.")])
    index.close()
    assert keys(Fts5Index(path), "cup") == ["memory:1"]


def test_a_file_that_is_no_database_is_named_with_its_cure(tmp_path):
    path = tmp_path / "words.db"
    path.write_bytes(b"not a database, whatever it says " * 100)
    with pytest.raises(IndexUnavailable, match=r"words\.db.*keepsake index rebuild"):
        Fts5Index(path)


def test_a_half_batch_does_not_stay():
    index = Fts5Index()

    def broken():
        yield memory(1, "The cup.")
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError):
        index.add(broken())
    assert held(index) == set()
    index.add([memory(2, "The bell.")])
    assert held(index) == {"memory:2"}


@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(1, 8), st.sampled_from(["cup", "bell", "net"])),
        max_size=25,
    )
)
def test_words_and_documents_never_disagree(steps):
    index, held = Fts5Index(), {}
    for adds, number, word in steps:
        if adds:
            index.add([memory(number, word)])
            held[number] = word
        else:
            index.remove([f"memory:{number}"])
            held.pop(number, None)
    index.check()
    for word in ("cup", "bell", "net"):
        near = {n for n in held if any(held.get(m) == word for m in (n - 1, n, n + 1))}
        assert set(keys(index, word)) == {f"memory:{n}" for n in near}
