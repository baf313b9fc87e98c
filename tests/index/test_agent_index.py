"""The index of one agent follows its archive and its notes, whatever happens to it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import pytest

from keepsake.archive.forgetting import ForgottenPerson, forget
from keepsake.archive.records import Memory, MemoryKind, Summary, Tier
from keepsake.errors import BadAnswer, IndexUnavailable
from keepsake.index.agent_index import AgentIndex, _is_damage, stale_mark
from keepsake.index.chroma_server import ChromaServer, data_folder
from keepsake.index.vectors import Chroma, ChromaVectors
from keepsake.models.embedders import CachedEmbedder
from keepsake.ports import SystemClock
from keepsake.recall.documents import DocumentKind
from keepsake.recall.recall import MemorySearch
from tests.index.conftest import DAWN, BagOfWords, Life, Opener, by_meaning, by_words

LINE = {"type": "memory", "t": "2026-05-01T06:00:00Z", "kind": "perception"}


def test_memories_are_indexed_in_one_batch_when_they_leave_the_window(
    index: AgentIndex, life: Life, embedder: BagOfWords
):
    life.live("Ann says, “My brother sails on the Ostrey.”")
    life.live_days(9)
    index.follow(1)
    assert by_words(index, "brother") == []
    life.compact(1, 8, "Ann told of her brother.")
    embedder.texts.clear()
    index.follow(9)
    assert by_words(index, "Ostrey")[:1] == ["memory:1"]
    assert by_meaning(index, "My brother sails on the Ostrey", 1) == ["memory:1"]
    assert len(embedder.texts) == 9, "eight memories and a summary, each once"
    assert "memory:9" not in by_words(index, "9")
    assert index.status().memories == index.status().embedded == 8
    embedder.texts.clear()
    index.follow(9)
    assert embedder.texts == [], "what is done is not done again"


@pytest.mark.parametrize(
    ("line", "embedded"),
    [
        (('Tom says to you, "Where is my cup?"', "Tom"), "Where is my cup?"),
        (('Tom whispers to Ann, "He said "no", I fear."', "Tom"), 'He said "no", I fear.'),
        (("say Where is my cup?", ""), "Where is my cup?"),
        (("whisper Ann = Where is my cup?", ""), "Where is my cup?"),
        (("emote looks for a cup.", ""), "mira looks for a cup."),
        (("mira looks for a cup.", "mira"), "mira looks for a cup."),
        (("go up", ""), "go up"),
        (("Tom looks for a cup.", "Tom"), "Tom looks for a cup."),
        # Only the game says who speaks: this is a gesture of Tom's.
        (('Ann says, "Here it is."', "Tom"), 'Ann says, "Here it is."'),
    ],
)
def test_of_speech_the_bare_words_are_embedded(
    index: AgentIndex, life: Life, embedder: BagOfWords, line: tuple[str, str], embedded: str
):
    text, source = line
    kind = MemoryKind.PERCEPTION if source else MemoryKind.ACT
    life.archive.append_memory(Memory(1, DAWN, kind, text, "The Mill", source))
    index.follow(2)
    assert embedder.texts[-1] == embedded


def test_the_window_is_taken_from_the_archive_when_nobody_says_it(index: AgentIndex, life: Life):
    life.live_days(10)
    life.compact(1, 6, "Six sacks.")
    life.take_back(1, None, standing=0)
    index.follow()
    assert by_words(index, "sacks") == []
    assert index.status().memories == 0, "an undoing moves the window back"
    life.compact(1, 6, "Six sacks.")
    index.follow()
    assert index.status().memories == 6
    life.archive.append({"type": "clear", "n": 10, "t": DAWN.isoformat(), "compactions": 1})
    index.follow()
    assert index.status().memories == 10


def test_a_summary_that_was_taken_back_is_found_no_more(
    index: AgentIndex, life: Life, embedder: BagOfWords
):
    life.live_days(12)
    life.compact(1, 4, "Ann came to the mill.")
    index.follow(5)
    life.compact(5, 8, "Ann brought a goat.")
    index.follow(9)
    assert "summary:2" in by_words(index, "goat")
    restored = Summary(Tier.RECENT, 1, 4, "Ann came to the mill.", "bag", DAWN)
    life.take_back(2, restored, standing=1)
    index.follow(5)
    assert by_words(index, "goat") == []
    assert "summary:2" not in by_meaning(index, "Ann brought a goat.", 5)
    assert "summary:1" in by_words(index, "mill")
    life.edit("Ann came to the mill with a donkey.")
    index.follow(5)
    assert by_words(index, "donkey") == ["summary:1"], "an edit is of the one that holds again"
    embedder.texts.clear()
    index.follow(5)
    assert embedder.texts == []
    life.compact(5, 10, "Ann brought two goats.")
    index.follow(11)
    assert by_words(index, "goats") == ["summary:3"]


def test_a_summary_that_was_only_made_shorter_stays_as_it_was(index: AgentIndex, life: Life):
    life.live_days(8)
    life.compact(1, 4, "Ann came to the mill with a goat.")
    life.compact(1, 4, "Ann came.")
    index.follow(5)
    assert by_words(index, "goat") == ["summary:1"]
    assert index.words.get(["summary:2"]) == {}


def test_a_summary_says_what_it_covers_and_follows_edits(index: AgentIndex, life: Life):
    life.live_days(8)
    life.compact(1, 4, "Ann came to the mill.")
    index.follow(5)
    life.edit("Ann came to the mill with a goat.")
    index.follow(5)
    found = index.words.get(["summary:1"])["summary:1"]
    assert (found.first, found.last, found.kind) == (1, 4, DocumentKind.SUMMARY)
    assert found.text == "Ann came to the mill with a goat."
    assert by_meaning(index, "with a goat", 1) == ["summary:1"]
    life.live_days(8)
    life.compact(5, 9, "A quiet night.")
    index.follow(5)  # the lines are read again, and the edit must not go to the newer summary
    index.follow(10)
    both = index.words.get(["summary:1", "summary:2"])
    assert both["summary:1"].text.endswith("goat.")
    assert both["summary:2"].text == "A quiet night."


def test_chroma_keeps_what_a_summary_is(index: AgentIndex, life: Life, chroma: Chroma):
    life.live_days(8)
    life.compact(1, 4, "Ann came to the mill.")
    index.follow(5)
    name = index.words.progress.collection
    collection = chroma.client().get_collection(name, embedding_function=None)
    got = collection.get(ids=["summary:1"])
    assert got["metadatas"] == [
        {
            "type": "memory_summary",
            "timestamp": "2026-05-01T06:04:30+00:00",
            "memory_range_start": 1,
            "memory_range_end": 4,
            "summary_text": "Ann came to the mill.",
        }
    ]
    assert collection.count() == 5


def test_little_waits_in_chroma_also_for_a_collection_of_an_earlier_version(
    index: AgentIndex, life: Life, chroma: Chroma, server: ChromaServer
):
    life.live_days(300)
    index.follow(250)
    name = index.words.progress.collection
    with closing(sqlite3.connect(data_folder(server._places) / "chroma.sqlite3")) as database:
        asked = "SELECT count(*) FROM embeddings_queue WHERE topic LIKE '%' || ?"
        topic = str(chroma.client().get_collection(name, embedding_function=None).id)
        (waiting,) = database.execute(asked, [topic]).fetchone()
    assert waiting < 40
    former = ChromaVectors(chroma, f"{name}-former")
    chroma.client().create_collection(former.name, embedding_function=None)
    assert former.count() == 0
    kept = chroma.client().get_collection(former.name, embedding_function=None)
    assert kept.configuration_json["hnsw"]["sync_threshold"] == 40
    chroma.drop(former.name)


def test_notes_that_are_new_changed_or_gone(index: AgentIndex, life: Life):
    life.notes.write("Garden", "I planted flax.", now=DAWN)
    index.follow(1)
    assert by_meaning(index, "planted flax", 1) == by_words(index, "flax")
    (path,) = life.notes.folder.glob("*.md")
    path.write_text(path.read_text().replace("flax", "barley"))
    index.follow_notes()
    assert by_words(index, "flax") == []
    assert by_words(index, "barley") == by_meaning(index, "barley", 1)
    path.unlink()
    index.follow_notes()
    assert by_words(index, "barley") == by_meaning(index, "barley") == []


def test_a_note_that_goes_while_the_embedder_is_away_has_nothing_made_anew(
    life: Life, reopen: Opener, embedder: BagOfWords, said: list[str], monkeypatch
):
    life.notes.write("Garden", "I planted flax.", now=DAWN)
    index = reopen()
    life.leave_window(index, 60)
    (path,) = life.notes.folder.glob("*.md")
    path.unlink()
    life.live_days(40)
    life.compact(61, 100, "More sacks.")
    with monkeypatch.context() as away:
        away.setattr(embedder, "embed", Mock(side_effect=BadAnswer("No model", "Wait")))
        index.follow(101)
    index.close()
    embedder.texts.clear()
    again = reopen()
    again.follow(101)
    assert again.status().complete
    assert not any("lost" in line for line in said)
    made_anew = [text for text in embedder.texts if "Sack 1." in text]
    assert made_anew == []
    assert by_meaning(again, "planted flax") == [] or by_words(again, "flax") == []


def test_kinds_are_told_apart(index: AgentIndex, life: Life):
    life.live(*["Ann sings of the sea."] * 30)
    life.compact(1, 30, "Ann sang of the sea.")
    life.notes.write("Sea", "Ann sings well.", now=DAWN)
    index.follow(31)
    assert index.vectors is not None
    vector = BagOfWords().embed(["Ann sang of the sea."])[0]
    summaries = index.vectors.query(vector, 3, [DocumentKind.SUMMARY])
    assert [key for key, _ in summaries] == ["summary:1"]
    assert summaries[0][1] == pytest.approx(1.0, abs=0.01)
    rare = index.vectors.query(vector, 5, [DocumentKind.SUMMARY, DocumentKind.NOTE])
    assert len(rare) == 2
    memories = index.vectors.query(vector, 30, [DocumentKind.MEMORY])
    assert {key.partition(":")[0] for key, _ in memories} == {"memory"}
    assert len(memories) == 30


# -- what nobody should write


def test_strange_lines_in_an_archive_hold_nothing_up(index: AgentIndex, life: Life):
    (folder := life.archive.folder).mkdir(parents=True, exist_ok=True)
    lines = [
        {**LINE, "n": 1, "text": "Ann says, “My kite \ud83d flew.”"},
        {**LINE, "n": 2, "text": "\0 a zero"},
        {**LINE, "n": 3, "text": "A time without its zone.", "t": "2026-05-01T06:03:00"},
        [1],
        {"type": "memory", "n": "four", "t": 5},
        {"type": "edit", "tier": "recent", "text": "x", "t": "never"},
        {**LINE, "n": 4, "text": "The end.", "place": "x" * 10_000, "huge": 10**30},
    ]
    written = [*map(json.dumps, lines), "no json", "[" * 100_000]
    (folder / "0000000001.jsonl").write_text("\n".join([*written, *written, ""]))
    index.follow(5)
    assert index.problem is None
    assert by_words(index, "kite")[0] == "memory:1"
    assert by_words(index, "zone")[0] == "memory:3"
    assert by_words(index, "end")[0] == "memory:4"
    recall = MemorySearch(index.words, index.vectors, BagOfWords(), names=list, clock=SystemClock())
    hits = recall.search("a time without its zone, yesterday", limit=1)
    assert hits
    assert hits[0].document.first == 3


def test_hostile_words_are_words(index: AgentIndex, life: Life):
    hostile = 'x" OR text:* NEAR("a b") - ^ {kind} : "note" AND (; DROP TABLE documents; --'
    life.live(f"Ann says, “{hostile}”", "Soup.")
    life.notes.write("../../etc; DROP", "kind : note OR *", now=DAWN)
    index.follow(3)
    assert by_words(index, *hostile.split(), hostile)
    assert by_words(index, "near") == ["memory:1", "memory:2"]
    assert index.words.search([hostile], 5, [DocumentKind.NOTE]) == []
    (path,) = life.notes.folder.rglob("*.md")
    assert path.parent == life.notes.folder
    assert index.problem is None


# -- when something is lost


def test_what_is_no_damage_does_not_throw_an_index_away():
    def told(cause: str) -> IndexUnavailable:
        problem = IndexUnavailable("The index of words cannot be used")
        problem.__cause__ = sqlite3.OperationalError(cause)
        return problem

    for cause in ("database is locked", "database or disk is full", "disk I/O error"):
        assert not _is_damage(told(cause))
    for cause in ("database disk image is malformed", "file is not a database", "no such table: x"):
        assert _is_damage(told(cause))


def test_a_state_that_makes_no_sense_is_made_anew(
    life: Life, said: list[str], tmp_path: Path, reopen: Opener
):
    index = reopen()
    life.leave_window(index, 10)
    index.close()
    for state in ('{"rows": 1}', "[]", "null", '{"mark": {"line": 3}, "summary": [1]}'):
        with closing(sqlite3.connect(tmp_path / "index" / "mira" / "words.db")) as database:
            database.execute("UPDATE progress SET state = ?", [state])
            database.commit()
        again = reopen()
        again.follow(11)
        assert again.problem is None, state
        assert by_words(again, "10")[:1] == ["memory:10"]
        again.close()


def test_a_crash_between_archive_and_index_heals(
    tmp_path: Path, life: Life, reopen: Opener, monkeypatch
):
    """Whichever write is the last one that was made, the next follow arrives at the same."""
    life.live_days(12)
    life.compact(1, 10, "Twelve sacks.")
    life.notes.write("Sacks", "There are many.", now=DAWN)
    whole, step = None, 0
    while whole is None:
        index = reopen()
        store, left = index.words, step

        def crash_after(call, *, of):
            def called(*args):
                nonlocal left
                if left == 0:
                    raise KeyboardInterrupt("the power is gone")
                left -= 1
                return call(*args)

            monkeypatch.setattr(of, call.__name__, called)

        for name in ("add", "save", "keep", "embedded"):
            crash_after(getattr(store, name), of=store)
        try:
            index.follow(11)
        except KeyboardInterrupt:
            index.close()
            again = reopen()
            again.follow(11)
            check_whole(again)
            again.close()
            shutil.rmtree(tmp_path / "index")
            step += 1
        else:
            whole = index
    assert step >= 8
    check_whole(whole)
    whole.close()


def check_whole(index: AgentIndex) -> None:
    assert index.problem is None
    keys = {f"memory:{n}" for n in range(1, 11)} | {"summary:1", "note:sacks"}
    found = {key.lower() for key in by_meaning(index, "sack", 50)}
    assert found == keys
    assert len(index.words.get([f"memory:{n}" for n in range(1, 13)])) == 10


@pytest.mark.parametrize("damage", ["deleted", "garbage", "half", "folder"])
def test_damaged_words_are_made_anew_with_words_in_the_log(
    life: Life, said: list[str], tmp_path: Path, reopen: Opener, damage: str
):
    index = reopen()
    life.live_days(300)
    life.compact(1, 290, "Sacks.")
    index.follow(291)
    index.close()
    said.clear()
    path = tmp_path / "index" / "mira" / "words.db"
    match damage:
        case "deleted":
            path.unlink()
        case "garbage":
            path.write_bytes(b"no database at all" * 500)
        case "half":
            with path.open("r+b") as file:
                file.seek(4096)
                file.write(b"\xff" * (path.stat().st_size - 4096))
        case "folder":
            shutil.rmtree(tmp_path / "index")
    again = reopen()
    again.follow(291)
    assert again.problem is None
    assert by_words(again, "290")[:1] == ["memory:290"]
    assert by_meaning(again, "Tom says, “Sack 290.”", 1) == ["memory:290"]
    assert any("mira" in line and ("anew" in line or "making it" in line) for line in said), said
    again.close()


def test_lost_vectors_are_made_anew(index: AgentIndex, life: Life, chroma: Chroma, said: list[str]):
    life.leave_window(index, 20)
    collection = chroma.client().get_collection(
        index.words.progress.collection, embedding_function=None
    )
    collection.delete(ids=["memory:7"])
    index.recheck()
    index.follow(21)
    assert any("lost 1 of 21 vectors" in line for line in said)
    assert len(by_meaning(index, "sack", 50)) == 21
    chroma.drop(index.words.progress.collection)
    assert len(by_meaning(index, "sack", 50)) == 21, "its own copy answers meanwhile"
    index.recheck()
    index.follow(21)
    assert any("Chroma has lost the vectors" in line for line in said)
    assert len(by_meaning(index, "sack", 50)) == 21


@pytest.mark.parametrize("cached", [False, True])
def test_another_model_by_the_same_name_is_noticed_without_a_restart(
    reopen: Opener, life: Life, embedder: BagOfWords, cached: bool
):
    index = reopen(CachedEmbedder(embedder) if cached else embedder)
    life.leave_window(index, 20)
    embedder.dimension = 128
    life.live_days(5)
    index.follow(26)
    assert index.problem is not None
    index.recheck()  # as every half minute while there is a problem
    index.follow(26)
    assert index.problem is None
    assert index.words.progress.dimension == 128
    assert index.words.progress.embedded == 25


def test_an_archive_that_lost_lines_takes_them_out_of_the_index(
    index: AgentIndex, life: Life, said: list[str]
):
    """After a power cut the archive may be shorter than what the index knows."""
    life.live_days(10)
    life.live("Ann says, “I am a spy.”")
    life.archive.append({"type": "clear", "n": 11, "t": DAWN.isoformat(), "compactions": 0})
    index.follow(12)
    assert by_words(index, "spy")[:1] == ["memory:11"]
    (segment,) = life.archive.folder.glob("*.jsonl")
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:9]))
    index.follow(12)
    assert any("not the one that was indexed" in line for line in said)
    assert by_words(index, "spy") == []
    assert by_meaning(index, "I am a spy")[0] != "memory:11"
    assert len(by_meaning(index, "sack", 50)) == 9


@pytest.mark.parametrize("former", [False, True])
def test_words_taken_out_of_an_older_segment_are_gone_after_a_kill(
    life: Life, chroma: Chroma, reopen: Opener, monkeypatch, former: bool
):
    """Somebody is forgotten, and the process dies before any index hears of it."""
    monkeypatch.setattr("keepsake.archive.log.SEGMENT_LINES", 4)
    life.live("Tom says, “Never open the marzipan drawer.”")
    for number in range(2, 13):
        told = f"Ann says, “Sack {number}.”"
        life.archive.append_memory(Memory(number, DAWN, MemoryKind.PERCEPTION, told, "Mill", "Ann"))
    index = reopen()
    index.follow(12)
    assert by_words(index, "marzipan")[0] == "memory:1"
    index.close()
    file = index.words.path
    if former:  # an index of an earlier version, which died in the same way
        with closing(sqlite3.connect(file)) as database, database:
            database.execute("UPDATE progress SET state = json_remove(state, '$.mark.chain')")
    life.archive.close()
    newest = max(life.archive.folder.glob("*.jsonl"))
    before = newest.read_bytes()
    assert forget(life.folder, ForgottenPerson("12-1", "Tom"))
    assert newest.read_bytes() == before, "the line before the mark is as it was"
    again = reopen()
    again.follow(12)
    assert by_words(again, "marzipan") == []
    assert "memory:1" not in by_meaning(again, "the marzipan drawer", 50)
    assert len(by_meaning(again, "sack", 50)) == 10
    again.close()
    assert b"marzipan" not in file.read_bytes()
    assert len(chroma.collections_of({"home": str(life.folder.parent), "agent": "mira"})) == 1


def test_what_is_distrusted_is_searched_no_more_and_thrown_away_whole(life: Life, reopen: Opener):
    """Somebody of whom only a note tells: no line before the index's mark changes."""
    index = reopen()
    life.notes.write("Sweets", "Ann keeps marzipan in a drawer.", now=DAWN)
    life.leave_window(index, 10)
    index.close()
    stale_mark(index.words.path.parent).touch()
    assert forget(life.folder, ForgottenPerson("12-2", "Ann"))
    again = reopen()
    for search in (by_words, by_meaning):
        with pytest.raises(IndexUnavailable, match="being made anew"):
            search(again, "marzipan")
    again.follow(11)
    assert by_words(again, "12") == []
    assert by_words(again, "10")[0] == "memory:10"
    again.close()
    assert b"marzipan" not in again.words.path.read_bytes()
    third = reopen()
    assert by_words(third, "10")[0] == "memory:10", "it is trusted from then on"


def test_a_collection_of_before_goes_though_the_world_ended_before_it_did(
    life: Life, chroma: Chroma, reopen: Opener, monkeypatch
):
    owner = {"home": str(life.folder.parent), "agent": "mira"}
    index = reopen()
    life.leave_window(index, 10)
    index.close()
    stale_mark(index.words.path.parent).touch()
    index = reopen()
    with monkeypatch.context() as patched:
        patched.setattr(chroma, "drop", Mock(side_effect=KeyboardInterrupt("the power is gone")))
        with pytest.raises(KeyboardInterrupt):
            index.follow(11)
    index.close()
    assert len(chroma.collections_of(owner)) == 2
    again = reopen()
    again.follow(11)
    assert chroma.collections_of(owner) == [again.words.progress.collection]
    assert again.words.progress.dropping == ()
    assert again.status().embedded == 10


def test_an_index_of_an_earlier_version_is_not_made_anew_without_need(
    life: Life, reopen: Opener, tmp_path: Path, said: list[str]
):
    index = reopen()
    life.leave_window(index, 10)
    index.close()
    said.clear()
    with closing(sqlite3.connect(tmp_path / "index" / "mira" / "words.db")) as database, database:
        database.execute("UPDATE progress SET state = json_remove(state, '$.mark.chain')")
    for _ in range(2):
        again = reopen()
        again.follow(11)
        assert again.problem is None
        assert again.words.progress.mark.chain
        again.close()
    assert said == []


@pytest.mark.parametrize("other", [BagOfWords("new", 256), BagOfWords("bag", 32)])
def test_another_model_is_noticed_and_named(
    life: Life, chroma: Chroma, reopen: Opener, said: list[str], other: BagOfWords
):
    index = reopen()
    life.leave_window(index, 10)
    index.close()
    again = reopen(other)
    assert by_words(again, "sack"), "words serve meanwhile"
    assert again.vectors
    vector = other.embed(["sack"])[0]
    with pytest.raises(IndexUnavailable):
        again.vectors.query(vector, 3)
    again.follow(11)
    (told,) = [line for line in said if "were made with" in line]
    assert "bag (256 dimensions)" in told
    assert f"{other.model_name} ({other.dimension} dimensions)" in told
    assert len(again.vectors.query(vector, 50)) == 11
    owned = [c for c in chroma.client().list_collections() if c.count() == 11]
    assert {c.metadata["model"] for c in owned if c.metadata["dimension"] == other.dimension}
    again.close()


def test_words_go_on_and_a_rebuild_changes_nothing_when_the_embedder_fails(
    index: AgentIndex, life: Life, embedder: BagOfWords, said: list[str], monkeypatch
):
    life.live_days(10)

    def broken(texts):
        raise BadAnswer("no vectors today")

    with monkeypatch.context() as patch:
        patch.setattr(embedder, "embed", broken)
        index.follow(11)
        index.follow(11)
        with pytest.raises(BadAnswer):
            index.rebuild()
    assert by_words(index, "sack")
    assert isinstance(index.problem, BadAnswer)
    assert sum("no vectors today" in line for line in said) == 1
    index.follow(11)
    assert len(by_meaning(index, "sack", 50)) == 10


def test_without_chroma_there_are_words(life: Life, reopen: Opener):
    index = reopen(vectors=False)
    life.leave_window(index, 10)
    assert index.vectors is None
    assert by_words(index, "sack")
    assert index.problem is None
    index.close()


def test_a_rebuild_serves_the_old_until_the_new_is_there(
    index: AgentIndex, life: Life, chroma: Chroma, embedder: BagOfWords, monkeypatch
):
    life.leave_window(index, 200)
    old = index.words.progress.collection
    seen: list[tuple[int, int, int, int]] = []

    def report(done: int, total: int) -> None:
        seen.append((done, total, len(by_words(index, "sack")), len(by_meaning(index, "sack"))))

    index.rebuild(report)
    assert len(seen) >= 3
    assert all(words and meaning for _, _, words, meaning in seen)
    assert seen[-1][:2] == (200, 200)
    assert index.words.progress.collection != old
    assert ChromaVectors(chroma, index.words.progress.collection).count() == 201
    assert by_meaning(index, "Sack 77", 1) == ["memory:77"]
    names = {c.name for c in chroma.client().list_collections()}
    assert old not in names
    assert not index.words.path.with_name("words.new.db").exists()


def test_words_serve_while_the_vectors_of_another_model_are_made(
    life: Life, reopen: Opener, said: list[str]
):
    """The search that agents use, at each step of the rebuild for a changed embedder."""
    index = reopen()
    life.leave_window(index, 200)
    index.close()
    other = BagOfWords("new", 64)
    again = reopen(other)
    recall = MemorySearch(
        again.words,
        again.vectors,
        other,
        names=list,
        clock=SystemClock(),
        complain=lambda problem: said.append(str(problem)),
    )
    seen: list[tuple[str, ...]] = []

    def report(_done: int, _total: int) -> None:
        hits = recall.search("Which sack was 77?", limit=3)
        assert hits, "words go on"
        assert hits[0].document.key == "memory:77"
        seen.extend(hits[0].reasons for hit in hits)

    again.follow(201, report)
    assert len(seen) >= 9
    assert not any("meaning" in reason for reasons in seen for reason in reasons)
    assert sum("The vectors are being made" in line for line in said) == 1, "told once"
    (best,) = recall.search("Which sack was 77?", limit=1) or ()
    assert any(reason.startswith("meaning") for reason in best.reasons), "now both are asked"
