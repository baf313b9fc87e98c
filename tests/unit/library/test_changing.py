"""What changes a memory of the library: compaction and its undo, plans, forgetting."""

import threading
from datetime import datetime, timedelta

from keepsake import (
    Sight,
    Speech,
)
from keepsake.erasure.folder import ArchiveCleaner
from keepsake.ports import FixedClock
from tests.fakes.model_server import Reply
from tests.unit.library.conftest import CHAT
from tests.unit.library.sayings import SISTER, SMALL, texts


def test_compact_and_undo_move_memories_and_lose_none(opened):
    with opened(model=None, settings=SMALL) as mira:
        mira.perceive(SISTER)
        mira.perceive(Speech("Mira", "How sad.", to=["Anneke"]))
        for number in range(7):
            mira.perceive(Speech("Bram", f"Loaf number {number} is baked today."))
        mira.compact()
        assert "Liesbet" in mira.summaries().recent
        assert mira.summaries().window[0] > 1
    with opened(model=None, settings=SMALL) as mira:
        assert "Liesbet" in mira.summaries().recent
        mira.undo()
        assert mira.summaries().window == (1, 9)
        assert mira.status().memories == 9


def test_a_full_window_is_compacted_in_the_background(opened):
    with opened(model=None, settings={"immediate_window": 8, "recent_window": 8}) as mira:
        done = threading.Event()
        mira._opened.archive.append = _notifying(mira._opened.archive.append, done)
        for number in range(30):
            mira.perceive(Speech("Bram", f"Loaf number {number} is baked today."))
        assert done.wait(30)
    with opened(model=None) as mira:
        assert mira.status().compactions > 0


def _notifying(append, done):
    def notify(record):
        append(record)
        if record["type"] == "compaction":
            done.set()

    return notify


def test_plans_come_from_the_model_and_from_the_program_and_are_missed(opened, server):
    clock = FixedClock(datetime(2026, 5, 1, 9).astimezone())
    with opened(clock=clock) as mira:
        server.plan(CHAT, Reply("I will.\n> plan today 12:00, Anneke: show her the ferry"))
        [made] = mira.answer("Will you show me the ferry?", by="Anneke").plans
        mira.plan("ask Bram for honey")
        assert [plan.what for plan in mira.plans()] == ["show her the ferry", "ask Bram for honey"]
        assert made.whom.name == "Anneke"
        mira.end_plan(2)
        clock.time += timedelta(hours=6)
        assert mira.plans() == []
    with opened(clock=clock) as mira:
        assert [plan.state for plan in mira.plans(ended=True)] == ["missed", "done"]


def test_forgetting_deletes_the_words_from_every_file(opened, tmp_path):
    with opened(model=None, settings=SMALL) as mira:
        mira.perceive(SISTER)
        for number in range(8):
            mira.perceive(Speech("Bram", f"Loaf number {number} is baked today."))
        mira.compact()
        mira.people()
        done = mira.forget("anneke")
        assert (done.memories, done.problems) == (1, ())
        assert mira.perceive(Sight("It rains.")) == 10
        assert texts(mira.recall("loaf", limit=1))
    for path in (tmp_path / "mira").rglob("*"):
        assert not path.is_file() or b"Liesbet" not in path.read_bytes(), path


def test_an_interrupted_forgetting_goes_on_at_the_next_opening(opened, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    with opened(model=None) as mira:
        mira.perceive(SISTER)
        with monkeypatch.context() as patched:
            patched.setattr(ArchiveCleaner, "clean", fail)
            assert mira.forget("Anneke").problems
        assert texts(mira.recall("sister"))
    with opened(model=None) as mira:
        assert texts(mira.recall("sister")) == []
