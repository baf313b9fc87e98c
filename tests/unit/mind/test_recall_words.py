"""The index of words, in memory and in a file."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.errors import IndexUnavailable
from keepsake.recall.documents import Document, DocumentKind
from keepsake.recall.words import WordIndex

BEGIN = datetime(2026, 5, 1, 12, tzinfo=UTC)


def memory(number: int, text: str, minutes: int | None = None) -> Document:
    time = BEGIN + timedelta(minutes=number if minutes is None else minutes)
    return Document(f"memory:{number}", DocumentKind.MEMORY, text, time, number, number, "Tom")


def keys(index: WordIndex, *terms: str, **how) -> list[str]:
    return [document.key for document, _ in index.search(terms, 10, **how)]


def test_words_are_found_by_their_stems_best_first():
    index = WordIndex()
    index.add([memory(10, "He mended a net."), memory(20, "Nets, nets and mending of nets!"),
               memory(30, "Leek soup.")])  # fmt: skip
    found = index.search(["net", "mend"], 10)
    assert {document.key for document, _ in found} == {"memory:10", "memory:20"}
    assert found[0][1] >= found[1][1] > 0.0


@pytest.mark.parametrize("term", ['"', "a OR b", "col:x", "(", "*", "^", "NEAR", "it's", "", "\0"])
def test_no_term_is_taken_for_a_query(term):
    index = WordIndex()
    index.add([memory(1, "The cup.")])
    assert keys(index, term) == []
    assert keys(index, term, "cup") == ["memory:1"]


def test_a_file_that_is_no_database_is_named_with_its_cure(tmp_path):
    path = tmp_path / "words.db"
    path.write_bytes(b"not a database, whatever it says " * 100)
    with pytest.raises(IndexUnavailable, match=r"words\.db.*Delete it"):
        WordIndex(path).count()


@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(1, 8), st.sampled_from(["cup", "bell", "net"])),
        max_size=25,
    )
)
def test_words_and_documents_never_disagree(steps):
    index, held = WordIndex(), {}
    for adds, number, word in steps:
        if adds:
            index.add([memory(number, word)])
            held[number] = word
        else:
            index.remove([f"memory:{number}"])
            held.pop(number, None)
    for word in ("cup", "bell", "net"):
        near = {n for n in held if any(held.get(m) == word for m in (n - 1, n, n + 1))}
        assert set(keys(index, word)) == {f"memory:{n}" for n in near}
