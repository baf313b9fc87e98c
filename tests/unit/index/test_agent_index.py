"""The index of one agent follows its archive and its notes, whatever happens to it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from keepsake.archive.forgetting import ForgottenPerson, forget
from keepsake.archive.records import Memory, MemoryKind, Summary, Tier
from keepsake.errors import IndexUnavailable
from keepsake.json_lines import parsed
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.chroma import Chroma
from keepsake.recall.chroma_server import ChromaServer
from keepsake.recall.documents import DocumentKind
from keepsake.recall.words import WordIndex
from tests.fakes.embedder import BagOfWords
from tests.unit.index.conftest import DAWN, Life, Opener, by_meaning, by_words, follow, inside
from tests.unit.llm.conftest import places_in


def collection_of(index: AgentIndex, chroma: Chroma):
    return inside(chroma).get_collection(index.words.collection, embedding_function=None)


def test_what_was_just_said_is_found_by_words_and_its_vector_follows(
    index: AgentIndex, life: Life, embedder: BagOfWords
):
    life.live_days(9)
    follow(index)
    embedder.texts.clear()
    life.live("Ann says, “My brother sails on the Ostrey.”")
    assert by_words(index, "Ostrey")[:1] == ["memory:10"]
    index.refresh(lambda: None)  # as the thread does
    assert embedder.texts == []
    assert index.status().waiting == 1
    index.embed()
    assert by_meaning(index, "My brother sails on the Ostrey", 1) == ["memory:10"]
    follow(index)
    assert len(embedder.texts) == 1, "what is done is not done again"


def test_summaries_follow_edits_and_are_taken_back(index: AgentIndex, life: Life, chroma: Chroma):
    life.live_days(12)
    life.compact(1, 4, "Ann came to the mill.")
    life.compact(1, 4, "Ann came.")  # only made shorter: the fuller text is there
    life.compact(5, 8, "Ann brought a goat.")
    follow(index)
    assert by_words(index, "goat") == ["summary:3"]
    kept = collection_of(index, chroma).get(ids=["summary:1"])
    assert kept["metadatas"] == [
        {
            "type": "memory_summary",
            "timestamp": "2026-05-01T06:04:30+00:00",
            "memory_range_start": 1,
            "memory_range_end": 4,
            "summary_text": "Ann came to the mill.",
        }
    ]
    life.take_back(3, Summary(Tier.RECENT, 1, 4, "Ann came.", "bag", DAWN), standing=1)
    life.edit("Ann came to the mill with a donkey.")
    follow(index)
    assert by_words(index, "goat") == []
    assert "summary:3" not in by_meaning(index, "Ann brought a goat.", 50)
    assert by_words(index, "donkey") == by_meaning(index, "with a donkey", 1) == ["summary:1"]
    found = index.words.get(["summary:1"])["summary:1"]
    assert (found.first, found.last, found.kind) == (1, 4, DocumentKind.SUMMARY)


def test_notes_that_are_new_changed_or_gone(index: AgentIndex, life: Life):
    life.notes.write("Garden", "I planted flax.", now=DAWN)
    follow(index)
    assert by_meaning(index, "planted flax", 1) == by_words(index, "flax")
    (path,) = life.notes.folder.glob("*.md")
    path.write_text(path.read_text().replace("flax", "barley"))
    follow(index)
    assert by_words(index, "flax") == []
    assert by_words(index, "barley") == by_meaning(index, "barley", 1)
    path.unlink()
    follow(index)
    assert by_words(index, "barley") == by_meaning(index, "barley") == []


def test_worlds_on_two_machines_with_homes_of_one_path_keep_their_own_vectors(
    server: ChromaServer, tmp_path: Path
):
    here = places_in(tmp_path / "copy")
    ours = Chroma(server.address, here)
    mira, again = ours.create("Mira", "bag"), ours.create("Mira", "bag")
    with pytest.raises(IndexUnavailable):
        mira.count()  # an agent has one collection
    here.secret_key.unlink()  # another home: its secret is another
    theirs = Chroma(server.address, here)
    assert theirs.create("Mira", "bag").count() == again.count() == 0
    with pytest.raises(IndexUnavailable, match="another copy"):
        theirs.open(again.name)
    theirs.create("Mira", "bag", former=again.name)
    with pytest.raises(IndexUnavailable):
        again.count()
    ours.close()
    theirs.close()


# -- when something is lost


def test_a_crash_between_two_writes_heals(
    tmp_path: Path, life: Life, reopen: Opener, monkeypatch: pytest.MonkeyPatch
):
    """Whichever write is the last one that was made, the next start arrives at the same."""
    life.live_days(10)
    life.compact(1, 10, "Ten sacks.")
    life.notes.write("Sacks", "There are many sacks.", now=DAWN)
    keys = {f"memory:{n}" for n in range(1, 11)} | {"summary:1", "note:sacks"}
    step, whole = 0, False
    while not whole:
        index, left = reopen(), step

        def crash_after(name: str):
            call = getattr(WordIndex, name)

            def called(self, *args, **named):
                nonlocal left
                if left == 0:
                    raise KeyboardInterrupt("the power is gone")
                left -= 1
                return call(self, *args, **named)

            patched.setattr(WordIndex, name, called)

        with monkeypatch.context() as patched:
            for name in ("add", "embedded", "save"):
                crash_after(name)
            try:
                follow(index)
                whole = True
            except KeyboardInterrupt:
                step += 1
        index.close()
        again = reopen()
        follow(again)
        assert again.problem is None
        assert {key.lower() for key in by_meaning(again, "sack", 50)} == keys
        again.close()
        shutil.rmtree(tmp_path / "index")
    assert step >= 4


@pytest.mark.parametrize("lost", ["a row", "the collection"])
def test_lost_vectors_are_made_anew_and_words_serve_meanwhile(
    reopen: Opener, life: Life, chroma: Chroma, embedder: BagOfWords, lost: str
):
    index = reopen()
    life.live_days(20)
    follow(index)
    if lost == "a row":
        collection_of(index, chroma).delete(ids=["memory:7"])
        index.close()
        index = reopen()
    else:
        inside(chroma).delete_collection(index.words.collection)
        with pytest.raises(IndexUnavailable, match="404"):
            by_meaning(index, "sack", 50)
    with pytest.raises(IndexUnavailable, match="being made"):
        by_meaning(index, "sack", 50)
    assert by_words(index, "sack")
    follow(index)
    vector = embedder.embed(["sack"])[0]
    assert len(index.query(vector, 50)) >= 20
    assert index.problem is None


def test_the_next_start_reads_only_what_is_new(life: Life, reopen: Opener, monkeypatch):
    life.live_days(9)
    life.compact(1, 4, "Ann came to the mill.")
    index, read = reopen(), list[bytes]()
    follow(index)
    index.close()
    monkeypatch.setattr(
        "keepsake.recall.documents.parsed", lambda line: read.append(line) or parsed(line)
    )
    life.live("Ann says, “My brother sails on the Ostrey.”")
    life.edit("Ann came with a donkey.")
    again = reopen()
    assert {"memory:10", "summary:1"} <= {*by_words(again, "Ostrey", "donkey")}
    assert len(read) == 2
    again.close()


@pytest.mark.parametrize("change", ["lines are lost", "somebody is forgotten"])
def test_an_archive_that_changed_has_the_index_made_anew(
    life: Life, reopen: Opener, said: list[str], monkeypatch, change: str
):
    """After a power cut or a restored backup, or where the process died while it forgot."""
    monkeypatch.setattr("keepsake.archive.log.SEGMENT_LINES", 4)
    life.live("Tom says, “Never open the marzipan drawer.”")
    for number in range(2, 13):
        told = f"Ann says, “Sack {number}.”"
        memory = Memory(number, DAWN, MemoryKind.PERCEPTION, told, "Mill", "Ann")
        life.archive.append(memory.to_record())
    index = reopen()
    follow(index)
    assert by_words(index, "marzipan")[0] == "memory:1"
    index.close()
    life.archive.close()
    if change == "lines are lost":
        (life.archive.folder / "0000000009.jsonl").unlink()
        gone, word = "memory:12", "12"
    else:
        assert forget(life.folder, ForgottenPerson("12-1", "Tom"))
        gone, word = "memory:1", "marzipan"
    again = reopen()
    follow(again)
    assert any("not the one that was indexed" in line for line in said)
    assert gone not in by_words(again, word)
    assert gone not in by_meaning(again, "the marzipan drawer", 50)
    again.close()
    if change == "somebody is forgotten":
        assert b"marzipan" not in again.words.path.read_bytes()
