"""The index of one agent follows its archive and its notes, also after losses and crashes."""

from __future__ import annotations

import math
import re
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from keepsake.archive.records import MemoryKind
from keepsake.archive.summaries import Summary, Tier
from keepsake.erasure.person import ForgottenPerson
from keepsake.errors import IndexUnavailable, ModelFailed
from keepsake.json_lines import parsed
from keepsake.models.embedders import PROBE_SECONDS, CachedEmbedder, named_embedder
from keepsake.ports import PROBE, WordVector
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.chroma import Chroma
from keepsake.recall.chroma_server import ChromaServer
from keepsake.recall.documents import DocumentKind, split_key
from keepsake.recall.index.embeddings import Embeddings
from keepsake.recall.index.words import WordIndex
from keepsake.recall.stores import VectorsUnusable
from tests.fakes import model_server
from tests.fakes.embedder import BagOfWords
from tests.fakes.model_server import FakeModelServer, vector
from tests.fakes.odd_server import OddServer
from tests.forgetting import forget
from tests.log_lines import LogLines
from tests.memories import old_memory
from tests.unit.index.conftest import DAWN, AgentFolder, Opener, by_meaning, by_words, client, sync
from tests.unit.llm.conftest import places_in


def collection_of(index: AgentIndex, chroma: Chroma):
    return client(chroma).get_collection(index.words.embeddings.collection, embedding_function=None)


def test_new_memories_are_found_by_words_at_once_and_by_vector_later(
    index: AgentIndex, agent: AgentFolder, embedder: BagOfWords
):
    agent.add_many(9)
    sync(index)
    embedder.texts.clear()
    agent.add("Ann says, “My brother sails on the Ostrey.”")
    assert by_words(index, "Ostrey")[:1] == ["memory:10"]
    index.refresh(lambda: None)  # as the index thread does
    assert embedder.texts == []
    assert index.status().waiting == 1
    index.embed()
    assert by_meaning(index, "My brother sails on the Ostrey", 1) == ["memory:10"]
    sync(index)
    assert len(embedder.texts) == 2, "nothing is embedded twice"
    assert embedder.texts[1] == PROBE


def test_summaries_follow_edits_and_undo(index: AgentIndex, agent: AgentFolder, chroma: Chroma):
    agent.add_many(12)
    agent.compact(1, 4, "Ann came to the mill.")
    agent.compact(1, 4, "Ann came.")  # only shorter: the longer text stays in the index
    agent.compact(5, 8, "Ann brought a goat.")
    sync(index)
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
    agent.undo(3, Summary(Tier.RECENT, 1, 4, "Ann came.", "bag", DAWN), standing=1)
    agent.edit("Ann came to the mill with a donkey.")
    sync(index)
    assert by_words(index, "goat") == []
    assert "summary:3" not in by_meaning(index, "Ann brought a goat.", 50)
    assert by_words(index, "donkey") == by_meaning(index, "with a donkey", 1) == ["summary:1"]
    found = index.words.get(["summary:1"])["summary:1"]
    assert (found.first, found.last, found.kind) == (1, 4, DocumentKind.SUMMARY)


def test_new_changed_and_deleted_notes_are_followed(index: AgentIndex, agent: AgentFolder):
    agent.notes.write("Garden", "I planted flax.", now=DAWN)
    sync(index)
    assert by_meaning(index, "planted flax", 1) == by_words(index, "flax")
    (path,) = agent.notes.folder.glob("*.md")
    path.write_text(path.read_text().replace("flax", "barley"))
    sync(index)
    assert by_words(index, "flax") == []
    assert by_words(index, "barley") == by_meaning(index, "barley", 1)
    path.unlink()
    sync(index)
    assert by_words(index, "barley") == by_meaning(index, "barley") == []


def test_copies_at_the_same_path_on_two_machines_keep_separate_vectors(
    server: ChromaServer, tmp_path: Path
):
    here = places_in(tmp_path / "copy")
    ours = Chroma(server.address, here)
    mira = ours.create("Mira", "bag")
    again = ours.create("Mira", "bag")
    with pytest.raises(IndexUnavailable):
        mira.count()  # an agent has one collection, so the second one replaced it
    here.secret_key.unlink()  # another home has another secret
    theirs = Chroma(server.address, here)
    assert theirs.create("Mira", "bag").count() == again.count() == 0
    with pytest.raises(IndexUnavailable, match="another copy"):
        theirs.open(again.name)
    theirs.create("Mira", "bag", former=again.name)
    with pytest.raises(IndexUnavailable):
        again.count()
    ours.close()
    theirs.close()


# -- losses and crashes


def test_a_crash_between_any_two_writes_is_repaired(
    tmp_path: Path, agent: AgentFolder, reopen: Opener, monkeypatch: pytest.MonkeyPatch
):
    """Whichever write was the last one, the next start makes the same index."""
    agent.add_many(10)
    agent.compact(1, 10, "Ten sacks.")
    agent.notes.write("Sacks", "There are many sacks.", now=DAWN)
    keys = {f"memory:{n}" for n in range(1, 11)} | {"summary:1", "note:sacks"}
    step = 0
    complete = False
    while not complete:
        index = reopen()
        left = step

        def crash_after(store: type, name: str):
            call = getattr(store, name)

            def called(self, *args, **named):
                nonlocal left
                if left == 0:
                    raise KeyboardInterrupt("power failure")
                left -= 1
                return call(self, *args, **named)

            patched.setattr(store, name, called)

        with monkeypatch.context() as patched:
            crash_after(WordIndex, "add")
            crash_after(Embeddings, "embedded")
            crash_after(Embeddings, "save")
            try:
                sync(index)
                complete = True
            except KeyboardInterrupt:
                step += 1
        index.close()
        again = reopen()
        sync(again)
        assert again.problem is None
        assert {key.lower() for key in by_meaning(again, "sack", 50)} == keys
        again.close()
        shutil.rmtree(tmp_path / "index")
    assert step >= 4


@pytest.mark.parametrize("lost", ["a row", "the collection"])
def test_lost_vectors_are_rebuilt_while_words_still_work(
    reopen: Opener, agent: AgentFolder, chroma: Chroma, embedder: BagOfWords, lost: str
):
    index = reopen()
    agent.add_many(20)
    sync(index)
    if lost == "a row":
        collection_of(index, chroma).delete(ids=["memory:7"])
        index.close()
        index = reopen()
    else:
        client(chroma).delete_collection(index.words.embeddings.collection)
        with pytest.raises(IndexUnavailable, match="404"):
            by_meaning(index, "sack", 50)
    with pytest.raises(IndexUnavailable, match="being made"):
        by_meaning(index, "sack", 50)
    assert by_words(index, "sack")
    sync(index)
    vector = embedder.embed(["sack"])[0]
    assert len(index.query(vector, 50)) >= 20
    assert index.problem is None


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("(code: 13) database or disk is full", IndexUnavailable),
        ("No space left on device (os error 28)", IndexUnavailable),
        ("(code: 11) database disk image is malformed", VectorsUnusable),
    ],
)
def test_vectors_are_given_up_for_damage_and_not_for_a_full_disk(
    tmp_path: Path, said: str, kind: type[IndexUnavailable]
):
    body = b'{"error":"InternalError","message":"Database error: %s"}' % said.encode()
    answer = b"HTTP/1.1 500 Sorry\r\nConnection: close\r\n\r\n" + body
    with OddServer(lambda send, _: send(answer)) as server:
        chroma = Chroma(server.address, places_in(tmp_path))
        with pytest.raises(IndexUnavailable, match=re.escape(said)) as refused:
            chroma.request("POST", "/tenants", {})
        chroma.close()
    assert type(refused.value) is kind


class Reversed(BagOfWords):
    """Another model of as many numbers."""

    def _vector(self, text: str) -> list[float]:
        return super()._vector(text)[::-1]


def test_another_model_under_the_same_name_is_noticed_at_the_next_start(
    agent: AgentFolder, embedder: BagOfWords, reopen: Opener, monkeypatch: pytest.MonkeyPatch
):
    agent.add("Tom says, “The ferry leaves.”", "Tom says, “Soup at noon.”")
    sync(reopen())
    embedder.texts.clear()
    sync(reopen())
    assert embedder.texts == [PROBE]  # nothing is made again
    other = Reversed()
    monkeypatch.setattr(embedder, "_vector", other._vector)
    index = reopen()
    sync(index)
    soup = [key for key, _ in index.query(other.embed(["Soup at noon."])[0], 1)]
    assert soup == ["memory:2"]
    embedder.texts.clear()
    sync(reopen())
    assert embedder.texts == [PROBE]


def reversed_vector(text: str) -> list[float]:
    return vector(text)[::-1]


def doubled_vector(text: str) -> list[float]:
    return [each / math.sqrt(2.0) for each in vector(text) * 2]


@pytest.mark.parametrize("swapped", [reversed_vector, doubled_vector])
def test_another_model_behind_a_running_server_is_noticed_at_the_next_embedding(
    *,
    agent: AgentFolder,
    chroma: Chroma,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    logged: LogLines,
    swapped: Callable[[str], list[float]],
):
    clock = [0.0]
    agent.add("Tom says, “The ferry leaves.”", "Tom says, “Soup at noon.”")
    with FakeModelServer() as fake:
        server = named_embedder(f"openai:fake@{fake.address}")
        assert server is not None
        embedder = CachedEmbedder(server, seconds=lambda: clock[0])
        made = {"chroma": chroma, "embedder": embedder}
        index = AgentIndex(tmp_path / "index" / "mira", agent.archive.folder, agent.notes, **made)
        sync(index)
        embedder.embed(["Soup at noon."])
        before = index.words.embeddings.collection
        monkeypatch.setattr(model_server, "vector", swapped)
        clock[0] += PROBE_SECONDS
        agent.add("Tom says, “It rains.”")
        sync(index)
        sync(index)
        asked = embedder.embed(["Soup at noon."])
        assert [*asked[0]] == pytest.approx(swapped("Soup at noon."))
        assert index.query(asked[0], 1)[0][0] == "memory:2"
        assert collection_of(index, chroma).count() == 3
        assert index.words.embeddings.collection != before
        told = "Another model answers under the name openai:fake now"
        assert sum(told in line for line in logged.lines) == 1
        index.close()


def test_an_index_of_an_earlier_version_keeps_its_vectors(
    agent: AgentFolder, embedder: BagOfWords, reopen: Opener
):
    agent.add("Tom says, “The ferry leaves.”")
    index = reopen()
    sync(index)
    index.words.keep("probe", "")
    embedder.texts.clear()
    sync(reopen())
    assert embedder.texts == [PROBE]


def test_a_long_text_has_a_vector_for_each_passage_and_a_shorter_one_fewer(
    index: AgentIndex, agent: AgentFolder, chroma: Chroma, reopen: Opener
):
    """An embedding model reads the beginning of a long text alone."""
    story = " ".join(f"On day {n} we passed the village of Dell{n}." for n in range(60))
    agent.add(f"Ann says, “{story} There an Ostrich laid an egg.”")
    agent.add_many(3)
    agent.notes.write("Road", "We walked.", now=DAWN)
    (path,) = agent.notes.folder.glob("*.md")
    path.write_text(path.read_text().replace("We walked.", story))
    sync(index)
    whole = collection_of(index, chroma).count()
    assert whole > 4 + 2 * 5
    (best,) = by_meaning(index, "There an Ostrich laid an egg", 1)
    assert split_key(best)[0] == "memory:1"
    assert split_key(best)[1] > 3
    path.write_text(path.read_text().replace(story, "We walked."))
    sync(index)
    left = collection_of(index, chroma).count()
    assert left < whole
    path.unlink()
    sync(index)
    assert collection_of(index, chroma).count() == left - 1
    assert index.problem is None
    index.close()
    again = reopen()
    again.embed()  # nothing is missing, so nothing is made anew
    assert again.words.embeddings.collection == collection_of(again, chroma).name
    assert collection_of(again, chroma).count() == left - 1


class Choosy(BagOfWords):
    """An embedder that fails on some texts, as Ollama does on those that give NaN."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if any("cursed" in text for text in texts):
            raise ModelFailed("HTTP 500: json: unsupported value: NaN", "Use another model")
        return super().embed(texts)


@pytest.mark.parametrize("embedder", [Choosy()])
def test_a_text_that_cannot_be_embedded_leaves_all_others_findable(
    agent: AgentFolder, embedder: BagOfWords, reopen: Opener, logged: LogLines
):
    agent.add_many(10)
    agent.add("Ann says, “A cursed ring.”")
    agent.add_many(80)
    agent.add("Ann says, “My brother sails on the Ostrey.”")
    for _ in range(2):  # a restart finds the same
        index = reopen()
        sync(index)
        sync(index)
        assert by_meaning(index, "My brother sails on the Ostrey", 1) == ["memory:92"]
        assert (index.status().waiting, index.problem) == (1, None)
        assert len(logged.having("memory:11 is not found by meaning")) == 1
        logged.lines.clear()
        embedder.texts.clear()
        sync(index)
        assert embedder.texts == [], "it is not asked again and again"
        index.close()


def test_an_embedder_that_embeds_nothing_is_not_asked_for_each_text(
    agent: AgentFolder, embedder: BagOfWords, index: AgentIndex
):
    agent.add("Tom says, “The ferry leaves.”")
    sync(index)
    agent.add_many(60)
    calls: list[Sequence[str]] = []

    def fail(texts: Sequence[str]) -> list[list[float]]:
        if texts == [PROBE]:  # from a cache
            return BagOfWords().embed(texts)
        calls.append(texts)
        raise ModelFailed("HTTP 500: out of memory", "See its log")

    embedder.embed = fail  # type: ignore[method-assign]  # for a while
    sync(index)
    assert [len(texts) for texts in calls] == [60, 1]
    del embedder.embed
    sync(index)
    assert (index.status().waiting, index.problem) == (0, None)


def test_the_next_start_reads_only_new_lines(agent: AgentFolder, reopen: Opener, monkeypatch):
    agent.add_many(9)
    agent.compact(1, 4, "Ann came to the mill.")
    index = reopen()
    read = list[bytes]()
    sync(index)
    index.close()
    monkeypatch.setattr(
        "keepsake.recall.documents.parsed", lambda line: read.append(line) or parsed(line)
    )
    agent.add("Ann says, “My brother sails on the Ostrey.”")
    agent.edit("Ann came with a donkey.")
    again = reopen()
    assert {"memory:10", "summary:1"} <= {*by_words(again, "Ostrey", "donkey")}
    assert len(read) == 2
    again.close()


@pytest.mark.parametrize("change", ["lines are lost", "somebody is forgotten"])
def test_a_changed_archive_is_indexed_again(
    agent: AgentFolder, reopen: Opener, logged: LogLines, monkeypatch, change: str
):
    """After a power failure, a restored backup, or a kill while somebody was forgotten."""
    monkeypatch.setattr("keepsake.archive.log.SEGMENT_LINES", 4)
    agent.add("Tom says, “Never open the marzipan drawer.”")
    for number in range(2, 13):
        told = f"Ann says, “Sack {number}.”"
        memory = old_memory(number, DAWN, MemoryKind.PERCEPTION, told, "Mill", "Ann")
        agent.archive.append(memory.to_record())
    index = reopen()
    sync(index)
    assert by_words(index, "marzipan")[0] == "memory:1"
    index.close()
    agent.archive.close()
    if change == "lines are lost":
        (agent.archive.folder / "0000000009.jsonl").unlink()
        gone = "memory:12"
        word = "12"
    else:
        assert forget(agent.folder, ForgottenPerson("12-1", "Tom")).theirs
        gone = "memory:1"
        word = "marzipan"
    again = reopen()
    sync(again)
    assert logged.having("WARNING index mira: ", "not the one that was indexed")
    assert gone not in by_words(again, word)
    assert gone not in by_meaning(again, "the marzipan drawer", 50)
    again.close()
    if change == "somebody is forgotten":
        assert b"marzipan" not in again.words.path.read_bytes()


class Worded(BagOfWords):
    """A bag of words that also makes vectors of words."""

    def embed_words(self, texts: Sequence[str]) -> list[list[WordVector]]:
        return [[(word, [1.0, -1.0] * 4) for word in text.split()] for text in texts]


def test_only_texts_of_one_passage_keep_the_signs_of_their_words(
    tmp_path: Path, agent: AgentFolder, chroma: Chroma
):
    agent.add("Tom says, “The mill is old.”", f"Tom says, “{'The mill is old. ' * 60}”")
    index = AgentIndex(
        tmp_path / "worded", agent.archive.folder, None, chroma=chroma, embedder=Worded()
    )
    try:
        index.refresh()
        index.embed()
        assert [*index.words.embeddings.signs_at([1, 2])] == [1]
        assert {*index.words.embeddings.signs_at([1])[1]} == {0b10101010}
    finally:
        index.close()


def test_an_index_of_another_version_is_built_anew_and_is_no_fault(
    agent: AgentFolder, reopen: Opener, logged: LogLines, tmp_path: Path
):
    agent.add_many(9)
    agent.add("Ann says, “My brother sails on the Ostrey.”")
    before = reopen()
    sync(before)
    before.close()
    [path] = (tmp_path / "index").rglob("words.db")
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 1")
    after = reopen()
    after.refresh(lambda: None)
    assert by_words(after, "Ostrey")[:1] == ["memory:10"]
    [line] = [each for each in logged.lines if "rebuilding" in each]
    assert "INFO" in line
    assert "is of another version; rebuilding" in line
