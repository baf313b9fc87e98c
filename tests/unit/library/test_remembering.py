"""A memory of the library: what it remembers, recalls, refuses, and does for many threads."""

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest

from keepsake import (
    ArchiveInUse,
    Deed,
    IndexUnavailable,
    KeepsakeError,
    Memory,
    NameRefused,
    Person,
    Pose,
    Sight,
    Speech,
)
from keepsake.files import OWN
from keepsake.ports import FixedClock
from tests.unit.library.sayings import SISTER, texts

FRAMEWORKS = ("twisted", "django", "evennia", "numpy", "onnxruntime", "chromadb")


def test_what_was_perceived_is_recalled_after_a_restart_without_an_index(opened, tmp_path):
    with opened() as mira:
        assert mira.perceive(SISTER) == 1
        mira.perceive(Speech("Bram", "The bread is ready."))
    index = tmp_path / "mira" / OWN / "index"
    for path in index.rglob("*.db*"):
        path.unlink()
    with opened() as mira:
        assert texts(mira.recall("sister", limit=1)) == [SISTER.words]


def test_an_index_that_is_behind_the_archive_is_brought_up_to_date(opened, tmp_path):
    index = tmp_path / "mira" / OWN / "index" / "Mira" / "words.db"
    with opened() as mira:
        mira.perceive(SISTER)
        mira.recall("sister")
    old = index.read_bytes()
    with opened() as mira:
        mira.perceive(Speech("Bram", "Oswin sells honey."))
        mira.recall("honey")
    index.write_bytes(old)
    with opened() as mira:
        assert texts(mira.recall("honey", limit=1)) == ["Oswin sells honey."]


def test_the_four_happenings_are_archived_as_data(opened):
    with opened() as mira:
        mira.perceive(Speech("Anneke", 'He said "no".', to=["Mira"], manner="whisper"))
        mira.perceive(Deed("Anneke", "give", ["a blue cup"], to=["Mira"]))
        mira.perceive(Pose("Tom", "says he is Bram."))
        mira.perceive(Sight("The ferry leaves."))
        whisper, gift, pose, sight = mira._opened.archive.read(1, 4)
    assert whisper.heard.words == "He said 'no'."
    assert whisper.confidants == {whisper.heard.speaker.id}
    assert gift.gift_to_me == "a blue cup"
    assert pose.line.startswith("Tom poses: ")
    assert sight.text == "The ferry leaves."


def test_memories_are_numbered_and_timed_by_the_memory(opened):
    clock = FixedClock(datetime(2026, 5, 1, 12, tzinfo=UTC))
    with opened(clock=clock) as mira:
        mira.perceive(SISTER)
        clock.time += timedelta(hours=1)
        number = mira.perceive(Speech("Mira", "I am sorry.", to=["Anneke"]))
        past = mira.perceive(Sight("It rained."), time=datetime(2020, 1, 1, tzinfo=UTC))
        said, rain = mira._opened.archive.read(2, 3)
    assert (number, past) == (2, 3)
    assert said.is_own
    assert said.time == clock.time
    assert rain.time.year == 2020


@pytest.mark.parametrize(
    ("happening", "told"),
    [
        (Speech("", "Hello."), "no name"),
        (Speech("Anneke", "   \n"), "nothing in the words of a Speech"),
        (Speech("Anneke", "x" * 10_001), "several happenings"),
        (Speech("Anneke", "Hello.", to="Mira"), r"Write \['Mira'\]"),
        (Speech("Anneke", "Hello.", manner="sing"), "no manner"),
        (Speech("Anneke", "Hello.", manner="whisper"), "no addressee"),
        (Speech(Person("Anneke", "../x"), "Hello."), "id of a person"),
        (Speech(Person("Anneke", "me"), "Hello."), "id of a person"),
        (Deed("Anneke", "give", "cup"), "list of things"),
        (Sight(None), "but a NoneType"),
        ("Hello.", "pass a keepsake.Speech"),
    ],
)
def test_what_cannot_be_remembered_is_refused_with_its_cure(opened, happening, told):
    with opened() as mira:
        with pytest.raises(KeepsakeError, match=f"(?i){told}"):
            mira.perceive(happening)
        assert mira.status().memories == 0


@pytest.mark.parametrize("name", ["..", "a/b", "Tom: the baker", "|rRed", "x" * 60])
def test_a_name_that_is_no_name_is_refused(tmp_path, name):
    with pytest.raises(NameRefused, match="An agent cannot be called"):
        Memory(tmp_path / "x", name=name)
    assert not (tmp_path / "x").exists()


def test_settings_are_known_by_name_and_checked(opened):
    with pytest.raises(KeepsakeError, match="There is no setting windows"):
        opened(settings={"windows": 3})
    with pytest.raises(KeepsakeError, match="immediate_window"):
        opened(settings={"immediate_window": 0})
    with opened(settings={"immediate_window": 8, "recent_window": 8, "memories": 7}) as mira:
        assert mira._opened.limits.immediate_window == 8


def test_what_the_agent_said_and_did_itself_is_recalled_with_its_name(opened):
    with opened() as mira:
        mira.perceive(Speech("Mira", "The loft is free.", to=["Anneke"]))
        mira.perceive(Speech("Mira", "The loft has a ghost.", to=["Bram"], manner="whisper"))
        mira.perceive(Pose("Mira", "sweeps the loft."))
        mira.perceive(Deed("Mira", "rent", ["the loft"], to=["Tom"]))
        mira.perceive(Speech("Tom", "The loft is mine."))
        found = sorted((each.number, each.text) for each in mira.recall("loft"))
    assert [text for _, text in found] == [
        'Mira says to Anneke, "The loft is free."',
        'Mira whispers to Bram, "The loft has a ghost."',
        "Mira sweeps the loft.",
        "Mira does: rent the loft to Tom",
        'Tom says, "The loft is mine."',
    ]


def test_without_an_embedder_recall_is_by_words_and_says_so(opened):
    with opened() as mira:
        mira.perceive(SISTER)
        assert texts(mira.recall("sister"))
        status = mira.status()
    assert not status.by_meaning
    assert "evennia-keepsake[vectors]" in status.problem


def test_an_index_that_cannot_be_searched_is_an_error(opened, monkeypatch):
    with opened() as mira:
        mira.perceive(SISTER)

        def fail(*_, **__):
            raise IndexUnavailable("The disk is full")

        monkeypatch.setattr(mira._opened.index.words, "search", fail)
        with pytest.raises(IndexUnavailable):
            mira.recall("sister")


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_a_limit_out_of_range_is_refused(opened, limit):
    with opened() as mira, pytest.raises(KeepsakeError, match="limit"):
        mira.recall("sister", limit=limit)


def test_a_second_opening_is_refused_and_the_error_names_the_cure(opened, tmp_path):
    with opened() as mira:
        mira.perceive(SISTER)
        with pytest.raises(ArchiveInUse, match="keepsake serve"):
            Memory(tmp_path / "mira")
        program = f"from keepsake import Memory; Memory({str(tmp_path / 'mira')!r})"
        command = [sys.executable, "-c", program]
        other = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "is open already" in other.stderr
    with opened() as mira:
        assert mira.status().memories == 1


def test_threads_remember_together_and_nothing_is_lost(opened):
    with opened(model=None) as mira:

        def tell(who):
            for number in range(50):
                mira.perceive(Speech(who, f"My word number {number} of {who}."))
                mira.recall(who, limit=1)

        threads = [threading.Thread(target=tell, args=(f"Tom{n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        numbers = [memory.number for memory in mira._opened.archive.read(1, 1000)]
    assert numbers == list(range(1, 201))


def test_a_closed_memory_says_so(opened):
    mira = opened()
    mira.close()
    mira.close()
    with pytest.raises(KeepsakeError, match="closed"):
        mira.perceive(SISTER)


def test_no_framework_and_no_client_is_loaded(tmp_path):
    program = (
        "import sys\n"
        "from keepsake import Memory, Speech\n"
        f"with Memory({str(tmp_path / 'mira')!r}) as mira:\n"
        "    mira.perceive(Speech('Anneke', 'Liesbet drowned.', to=['Mira']))\n"
        "    mira.recall('Liesbet'), mira.prompt('Who drowned?', by='Anneke')\n"
        "    mira.plan('tomorrow: light a candle'), mira.plans(), mira.people()\n"
        "    mira.compact(), mira.forget('Anneke')\n"
        "print(' '.join({name.partition('.')[0] for name in sys.modules}))\n"
    )
    command = [sys.executable, "-c", program]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not {*FRAMEWORKS, "httpx", "ollama"} & set(said.stdout.split())
