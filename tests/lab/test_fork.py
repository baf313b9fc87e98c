"""A copy of a world at a point of its log; the original is only read."""

import gzip
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest

from game.lab.forks.cuts import Until, copy_agent
from game.lab.forks.database_copy import AgentPlacement, copy_database
from game.lab.forks.fork import ABOUT, fork
from game.lab.forks.points import NOW, point_at
from keepsake.archive import history
from keepsake.archive.log import Archive
from keepsake.archive.tiers import load_tiers
from keepsake.books.commitments import Commitments
from keepsake.books.commitments_file import Commitment, CommitmentKind
from keepsake.books.journal.book import Journal
from keepsake.books.journal.entries import EntryOrigin
from keepsake.books.journal.importance import Importance
from keepsake.books.notes import NoteBook
from keepsake.errors import KeepsakeError
from keepsake.events.files import files_of, wait_until_packed
from keepsake.events.log import EventLog
from keepsake.events.prompts import PromptStore
from keepsake.events.reader import events
from keepsake.events.types import MemoryChange, Thought
from keepsake.paths import REPOSITORY, Places, Ports
from keepsake.sleep.log import SleepLog
from tests.lab.archived import APART, NAME, START, fingerprint, lived, places
from tests.mind.lives import ManualClock

COUNT = 200
CUT = 150
CUT_AT = START + CUT * APART


@pytest.fixture
def world(original, tmp_path):
    """A world of its own for each test."""
    shutil.copytree(original, tmp_path / "original")
    return places(tmp_path / "original")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Mira's archive with what follows from it, and an event log of several files."""
    folder = tmp_path_factory.mktemp("made")
    here = places(folder)
    here.config.mkdir(parents=True)
    (here.config / "memory_compaction.md").write_text("**immediate_window**: 8\n")
    mira = here.agents / "Mira"
    made = lived(mira, COUNT, immediate_window="16", recent_window="16", preserve_memories="4")
    assert any(number <= CUT for number in made)
    assert any(number > CUT for number in made)
    _write_what_follows(mira)
    _write_log(here)
    (here.home / "secret-key").write_text("hush")
    (here.home / "admin-password").write_text("hush-hush")
    return folder


def _write_what_follows(folder):
    before, after = CUT_AT - timedelta(minutes=30), CUT_AT + timedelta(minutes=30)
    notes = NoteBook(folder / "notes")
    notes.write("garden", "I planted beans.", now=before, place="The Green", reason="")
    notes.write("garden", "The beans came up.", now=after, place="The Green", reason="")
    notes.write("ferry", "It is late.", now=after, place="The Jetty", reason="")
    nights = SleepLog(folder)
    nights.begin("tired", before)
    nights.woke("its hour", after)


def _write_log(here):
    clock = ManualClock(START)
    log = EventLog(here.events, clock=clock, file_bytes=20_000)
    for number in range(1, COUNT + 1):
        clock.time = START + number * APART
        log.emit(MemoryChange(agent=NAME, op="append", n=number, of="perception"))
        if number % 5 == 0:
            log.emit(_thought(f"You are Mira.\n{'The Kettle. ' * 30}\nMemory {number}."))
        if number % 40 == 0:
            assert log.flush(60)
    log.close()
    assert wait_until_packed(60)  # files change their names until then, under a copy's hands


def _thought(prompt):
    return Thought(agent=NAME, trigger="idle", priority="idle", outcome="acted", prompt=prompt)


def forked(world, tmp_path, at=f"Mira memory {CUT}"):
    return fork(world, tmp_path / "copy", point_at(world, at))


def test_a_copy_ends_at_the_point_and_lives_on_while_the_original_stays_the_same(world, tmp_path):
    before = fingerprint(world.home.parent)
    made = forked(world, tmp_path)
    assert fingerprint(world.home.parent) == before
    assert (made.agents[NAME].memories, made.agents[NAME].left_out) == (CUT, COUNT - CUT)
    original = (world.agents / "Mira/archive/0000000001.jsonl").read_bytes()
    copied = (made.places.agents / "Mira/archive/0000000001.jsonl").read_bytes()
    assert original.startswith(copied)
    assert copied.endswith(b"\n")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    with closing(Archive(made.places.agents / "Mira" / "archive")) as archive:
        tiers, past = load_tiers(archive), history.compactions(archive)
        assert archive.reports == []
        assert tiers.last_number == CUT
        assert past
        assert all(each.time <= CUT_AT for each in past)
        assert tiers.state.standing == past[-1].number
        archive.append({"type": "memory", "n": CUT + 1, "t": CUT_AT.isoformat(), "kind": "act"})
    assert fingerprint(world.home.parent) == before
    everything = b"".join(p.read_bytes() for p in (tmp_path / "copy").rglob("*") if p.is_file())
    assert b"hush" not in everything  # keys and passwords stay behind
    about = json.loads((tmp_path / "copy" / ABOUT).read_text())
    assert about["event"] == made.point.seq
    assert about["of"]["home"] == str(world.home)
    assert about["as_now"]
    assert about["not_exact"]
    assert (made.places.config / "memory_compaction.md").exists()


def test_what_follows_from_the_archive_is_cut_by_its_times_and_numbers(world, tmp_path):
    folder = forked(world, tmp_path).places.agents / "Mira"
    notes = NoteBook(folder / "notes").all()
    assert [note.title for note in notes] == ["garden"]
    assert notes[0].text == "I planted beans."
    assert notes[0].updated <= CUT_AT
    nights = SleepLog(folder).nights()
    assert len(nights) == 1
    assert nights[0].woke is None
    assert not (folder / "summaries" / "recent.md").exists()  # written anew at the opening
    kept, there = set(fingerprint(folder / "summaries")), fingerprint(world.agents / "Mira")
    assert kept
    assert {f"summaries/{name}" for name in kept} < set(there)
    assert not list(folder.rglob(".lock"))


def test_promises_that_came_later_are_gone(world, tmp_path):
    book = Commitments(world.agents / "Mira" / "noticed.md")
    for number in (1, CUT + 1):
        book.add(Commitment(CommitmentKind.PROMISE, "Tom", f"mend net {number}", number))
    try:
        made = forked(world, tmp_path)
    finally:
        book.path.unlink()
    copied = Commitments(made.places.agents / "Mira" / "noticed.md")
    assert [item.number for item in copied.items] == [1]


def test_the_log_ends_at_the_point_with_the_prompts_that_it_names(world, tmp_path):
    made = forked(world, tmp_path)
    original = list(events(world.events))
    copied = list(events(made.places.events))
    assert copied == original[: len(copied)]
    assert made.events == len(copied) == made.point.seq
    assert copied[-1]["n"] == CUT
    names = {each["prompt"] for each in copied if each["kind"] == "thought"}
    later = {each["prompt"] for each in original if each["kind"] == "thought"} - names
    assert later
    prompts = dict(PromptStore(made.places.events).each(names | later))
    assert set(prompts) == names
    log = EventLog(made.places.events)
    log.emit(MemoryChange(agent=NAME, op="append", n=CUT + 1, of="act"))
    assert log.flush(60)
    log.close()
    assert [each["seq"] for each in events(made.places.events)] == list(range(1, len(copied) + 2))


def test_a_packed_file_of_the_log_stays_packed(world, tmp_path):
    first = files_of(world.events, "events")[0].path
    if first.suffix != ".gz":
        first.with_name(f"{first.name}.gz").write_bytes(gzip.compress(first.read_bytes()))
        first.unlink()
    made = fork(world, tmp_path / "copy", NOW)
    assert list(events(made.places.events)) == list(events(world.events))
    assert files_of(made.places.events, "events")[0].packed


def test_a_copy_of_now_leaves_only_a_torn_line_behind(world, tmp_path):
    segment = world.agents / "Mira" / "archive" / "0000000001.jsonl"
    whole = segment.read_bytes()
    segment.write_bytes(whole + b'{"type":"memory","n":201,"t":"2026')
    made = fork(world, tmp_path / "copy", point_at(world, ""))
    assert (made.places.agents / "Mira/archive" / segment.name).read_bytes() == whole
    assert made.agents[NAME].memories == COUNT
    there, copied = fingerprint(world.agents / "Mira"), fingerprint(made.places.agents / "Mira")
    assert {k: v for k, v in there.items() if "archive" not in k} == {
        k: v for k, v in copied.items() if "archive" not in k
    }


def test_files_that_nobody_can_read_are_copied_as_they_are(world, tmp_path):
    folder = world.agents / "Mira"
    (folder / "journal").mkdir()
    odd = b"\xff\xfe no text"
    for name in ("noticed.md", "journal/2026-05-01.md", "journal/2026-13-32.md", "notes/odd.md"):
        (folder / name).write_bytes(odd)
    copied = forked(world, tmp_path).places.agents / "Mira"
    for name in ("noticed.md", "journal/2026-05-01.md", "journal/2026-13-32.md", "notes/odd.md"):
        assert (copied / name).read_bytes() == odd


def test_a_journal_loses_what_was_written_later(world, tmp_path):
    journal = Journal(world.agents / "Mira" / "journal")
    for minutes, text in ((-30, "Tom knows about the nets."), (30, "Tom left for Ostrey.")):
        journal.write(
            text,
            importance=Importance(6),
            origin=EntryOrigin.SEEN,
            now=CUT_AT + timedelta(minutes=minutes),
        )
    (world.agents / "Mira" / "journal" / "reflection.json").write_text(
        json.dumps({"through": journal.entries()[-1].id})
    )
    folder = forked(world, tmp_path).places.agents / "Mira" / "journal"
    copied = Journal(folder)
    assert [entry.text for entry in copied.entries()] == ["Tom knows about the nets."]
    assert not (folder / "reflection.json").exists()
    assert len(journal.entries()) == 2


# -- points


def test_points_are_events_times_and_memories(world):
    by_memory = point_at(world, f"mira memory {CUT}")
    assert by_memory.time == CUT_AT
    by_event = point_at(world, str(by_memory.seq))
    assert (by_event.seq, by_event.numbers) == (by_memory.seq, {"mira": CUT})
    by_time = point_at(world, CUT_AT.isoformat())
    assert by_time.seq is not None
    assert by_memory.seq is not None
    # At that very moment there was a thought as well.
    assert by_memory.seq <= by_time.seq <= by_memory.seq + 1
    assert point_at(world, "  ") is NOW


def rewritten(world, *happened):
    """The world with another event log: ``memory 150`` or ``thought 150``, of Mira."""
    for path in world.events.iterdir():
        path.unlink()
    log = EventLog(world.events, clock=ManualClock(CUT_AT))
    for each in happened:
        kind, _, number = each.partition(" ")
        if kind == "memory":
            log.emit(MemoryChange(agent=NAME, op="append", n=int(number), of="act"))
        elif kind == "thought":
            log.emit(replace(_thought(""), memory=int(number)))
        else:
            log.emit(MemoryChange(agent="Oswin", op="append", n=1))
    assert log.flush(60)
    log.close()
    return world


@pytest.mark.parametrize(
    ("happened", "seq"),
    [
        (("memory 149", "memory 150", "other", "thought 150", "memory 151"), 4),
        (("memory 149", "thought 149", "memory 150", "memory 151", "thought 151"), 3),
        (("memory 149", "memory 150"), 2),
        (("memory 150", "memory 151", "thought 150"), 1),
    ],
)
def test_a_copy_at_an_act_ends_behind_the_thought_that_it_came_of(world, tmp_path, happened, seq):
    made = forked(rewritten(world, *happened), tmp_path)
    assert [made.point.seq, made.events] == [seq, seq]
    assert made.agents[NAME].memories == CUT


def test_a_time_before_anybody_had_lived_is_refused(world):
    with pytest.raises(KeepsakeError, match=r"nothing yet.*The first memory is of 2026-05-01"):
        point_at(world, START.isoformat())
    assert point_at(world, (START + APART).isoformat()).seq == 1
    for path in world.events.iterdir():
        path.unlink()
    assert point_at(world, CUT_AT.isoformat()).seq == 0  # the archives tell as well
    with pytest.raises(KeepsakeError, match="nothing yet"):
        point_at(world, START.isoformat())


def test_a_time_behind_the_last_event_says_so(world):
    last = START + COUNT * APART
    late = point_at(world, (last + timedelta(days=400)).isoformat())
    assert late.told.endswith(f"after its last event, which was at {last.isoformat()}")
    assert late.seq == point_at(world, last.isoformat()).seq
    assert "last event" not in point_at(world, CUT_AT.isoformat()).told


def test_an_agent_that_is_named_only_later_has_lived_as_far_as_the_memory_before(world):
    with closing(EventLog(world.events, clock=ManualClock(START + 300 * APART))) as log:
        log.emit(MemoryChange(agent="Joss", op="append", n=8, of="act"))
        assert log.flush(60)
    assert point_at(world, "20").numbers["joss"] == 7


def test_an_agent_that_was_made_again_has_one_archive(world):
    """Two ids of one name: before the first life there is nothing, then what was lived last."""
    with closing(EventLog(world.events, clock=ManualClock(START + 300 * APART))) as log:
        for who, number in ((72, 1), (72, 9), (73, 10), (73, 12)):
            log.emit(MemoryChange(agent="Bo", agent_id=who, op="append", n=number, of="act"))
        assert log.flush(60)
    last = max(record["seq"] for record in events(world.events))
    found = [point_at(world, str(seq)).numbers["bo"] for seq in (20, last - 2, last - 1, last)]
    assert found == [0, 9, 10, 12]


def test_what_is_no_point_is_refused_with_what_there_is(world):
    for at, message in {
        "yesterday": "no point of a log",
        "999999": "There is no event 999,999.*events 1 to",
        "Mira memory 201": "They go from 1 to 200",
        "Nobody memory 1": "There are: Mira",
    }.items():
        with pytest.raises(KeepsakeError, match=message):
            point_at(world, at)


def test_without_a_log_the_archive_tells(world, tmp_path):
    for path in world.events.iterdir():
        path.unlink()
    made = forked(world, tmp_path)
    assert (made.agents[NAME].memories, made.events) == (CUT, 0)


def test_a_compaction_is_copied_whole_or_not_at_all(world, tmp_path):
    with closing(Archive(world.agents / "Mira" / "archive")) as archive:
        past = history.compactions(archive)
    for number, each in enumerate(past, start=1):
        for moment, wanted in ((timedelta(0), number), (-timedelta(microseconds=1), number - 1)):
            target = tmp_path / f"{number}{moment.total_seconds()}"
            copy_agent(world.agents / "Mira", target, NAME, Until(each.time + moment))
            with closing(Archive(target / "archive")) as copied:
                assert len(history.compactions(copied)) == wanted


# -- all or nothing


def test_a_target_that_cannot_be_is_left_alone(world, tmp_path):
    (tmp_path / "copy").mkdir()
    with pytest.raises(KeepsakeError, match="is there already"):
        fork(world, tmp_path / "copy", NOW)
    (tmp_path / "way").symlink_to(world.home)
    for inside in (world.home / "sub", world.vault / "sub", tmp_path / "way" / "sub"):
        with pytest.raises(KeepsakeError, match="that is to be copied"):
            fork(world, inside, NOW)
        assert not inside.exists()
    with pytest.raises(KeepsakeError, match="There is no world"):
        fork(places(tmp_path / "nothing"), tmp_path / "other", NOW)


def test_a_copy_that_breaks_off_leaves_nothing(world, tmp_path):
    def full(line):
        if "disk" in line:  # the last that is said
            raise OSError(28, "No space left on device")

    with pytest.raises(KeepsakeError, match=r"No space left on device.*Free some disk space"):
        fork(world, tmp_path / "copy", NOW, full)

    def interrupted(line):
        if "disk" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fork(world, tmp_path / "copy", NOW, interrupted)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["original"]


_KILLED = """
import os, signal, sys
from pathlib import Path
from game.lab.forks.fork import fork
from game.lab.forks.points import NOW
from tests.lab.archived import places
fork(places(Path(sys.argv[1])), Path(sys.argv[2]), NOW,
     lambda line: "disk" in line and os.kill(os.getpid(), signal.SIGKILL))
"""


def test_a_copy_that_is_killed_is_not_there(world, tmp_path):
    command = [sys.executable, "-c", _KILLED, str(world.home.parent), str(tmp_path / "copy")]
    ended = subprocess.run(command, cwd=REPOSITORY, env=os.environ, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not (tmp_path / "copy").exists()
    assert forked(world, tmp_path).agents[NAME].memories == CUT


# -- the database


_SCHEMA = """
CREATE TABLE django_session (session_key TEXT);
CREATE TABLE accounts_accountdb (id INTEGER PRIMARY KEY, db_is_connected INTEGER);
CREATE TABLE objects_objectdb (id INTEGER PRIMARY KEY, db_key TEXT, db_typeclass_path TEXT,
    db_location_id INTEGER, db_sessid TEXT);
CREATE TABLE typeclasses_attribute (id INTEGER PRIMARY KEY, db_key TEXT);
CREATE TABLE objects_objectdb_db_attributes (objectdb_id INTEGER, attribute_id INTEGER);
INSERT INTO django_session VALUES ('a');
INSERT INTO accounts_accountdb VALUES (1, 1);
INSERT INTO objects_objectdb VALUES (1, 'The Kettle', 'typeclasses.rooms.Room', NULL, NULL),
    (2, 'The Jetty', 'typeclasses.rooms.Room', NULL, NULL),
    (3, 'A shed', 'typeclasses.rooms.Room', NULL, NULL),
    (4, 'A shed', 'typeclasses.rooms.Room', NULL, NULL),
    (5, 'Mira', 'typeclasses.agents.Agent', 1, NULL),
    (6, 'Joss', 'typeclasses.agents.Agent', 1, NULL),
    (7, 'Tom', 'typeclasses.characters.Character', 1, '12');
INSERT INTO typeclasses_attribute VALUES (1, 'asleep'), (2, 'profile');
INSERT INTO objects_objectdb_db_attributes VALUES (5, 1), (5, 2);
"""


@pytest.mark.parametrize("running", [True, False])
def test_agents_go_back_and_nobody_is_logged_in(tmp_path, running):
    source = tmp_path / "evennia.db3"
    writing = sqlite3.connect(source)
    writing.executescript(f"PRAGMA journal_mode = WAL; {_SCHEMA}")
    if not running:
        writing.close()
    before = fingerprint(tmp_path)
    wanted = {
        "Mira": AgentPlacement("The Jetty", asleep=False),
        "Joss": AgentPlacement("A shed", asleep=False),
    }
    here = Places(tmp_path, tmp_path / "vault", Ports())
    placed = copy_database(here, tmp_path / "copy.db3", wanted)
    assert placed.moved == (("Mira", "The Jetty"),)
    assert placed.lost == ("Joss",)
    assert placed.woken == ("Mira",)
    after = fingerprint(tmp_path)
    # The shared memory beside a database that is open changes with every reader.
    same = {k: v for k, v in before.items() if not k.endswith("-shm")}
    assert {k: after[k] for k in same} == same
    assert running or set(after) - set(before) == {"copy.db3"}
    copy = sqlite3.connect(tmp_path / "copy.db3")
    places_of = dict(copy.execute("SELECT db_key, db_location_id FROM objects_objectdb"))
    assert (places_of["Mira"], places_of["Joss"], places_of["Tom"]) == (2, 1, 1)
    assert copy.execute("SELECT count(*) FROM django_session").fetchone() == (0,)
    assert copy.execute("SELECT max(db_is_connected) FROM accounts_accountdb").fetchone() == (0,)
    assert copy.execute("SELECT db_key FROM typeclasses_attribute").fetchall() == [("profile",)]
    copy.close()
    writing.close()


def test_a_database_that_is_none_is_said(tmp_path):
    (tmp_path / "evennia.db3").write_bytes(b"no database" * 1000)
    here = Places(tmp_path, tmp_path / "vault", Ports())
    with pytest.raises(KeepsakeError, match="could not be copied"):
        copy_database(here, tmp_path / "copy.db3", {})
