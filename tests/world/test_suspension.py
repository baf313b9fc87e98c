"""While a player's words are deleted from an agent's files, nothing else is lost or delayed."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

from evennia.objects.models import ObjectDB

from keepsake.contrib.evennia import forgetting, minds
from keepsake.contrib.evennia.forgetting import forget_everywhere
from keepsake.contrib.evennia.minds import mind_of, suspension_of
from keepsake.erasure.folder import AgentCleaner
from keepsake.paths import REPOSITORY
from tests.bench.open_world import write_archive
from tests.world.agents_world import AgentsWorld, Building

KEEPSAKE = str(REPOSITORY / "keepsake") + "/"


class CallCount:
    """Counts the calls of Keepsake's functions in this thread, which is the reactor's."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()

    def _count(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(KEEPSAKE):
            self.calls[frame.f_code.co_qualname] += 1

    @contextmanager
    def counting(self) -> Iterator[None]:
        sys.setprofile(self._count)
        try:
            yield
        finally:
            sys.setprofile(None)


class TestSuspension(Building, AgentsWorld):
    """Tom is forgotten; Ann talks to Mira while Mira's folder is cleaned."""

    def setUp(self) -> None:
        super().setUp()
        self.ann = self.add_player(2, "Ann")
        self.problems: list[list[str]] = []

    def forget_tom(self) -> None:
        forget_everywhere(self.char1, self.problems.append)

    def is_done(self) -> bool:
        return bool(self.problems)

    @contextmanager
    def cleaning(self) -> Iterator[None]:
        """Let the worker thread stop before it cleans Mira's folder, within the block."""
        clean = AgentCleaner.clean
        may_go_on = threading.Event()

        def wait_and_clean(cleaner: AgentCleaner, traces: Any) -> None:
            assert may_go_on.wait(60)
            clean(cleaner, traces)

        with patch.object(AgentCleaner, "clean", wait_and_clean):
            try:
                self.forget_tom()
                self.settle(lambda: suspension_of(self.mira) is not None)
                yield
            finally:
                may_go_on.set()
            if minds.running():
                self.settle(self.is_done)

    def texts(self) -> list[str]:
        archive = self.mind.memory.memory.archive
        return [each.text for each in archive.read(1, archive.last_number)]

    def say_as_tom(self) -> None:
        self.char1.execute_cmd("talk mira I breed axolotls.")
        self.pass_time(4)

    def test_what_is_said_meanwhile_is_remembered_and_answered(self):
        self.say_as_tom()
        shown = self.capture(self.ann)
        with self.cleaning():
            self.ann.execute_cmd("talk mira Where is the ferry?")
            assert mind_of(self.mira) is None
            assert "Where is the ferry?" in (self.services.places.spill).read_text()
            assert not any("Mira says" in each for each in shown)
            self.replies = ["It left at noon."]
        self.pass_time(6)
        assert self.problems == [[]]
        asked = [each for each in self.texts() if "Where is the ferry?" in each]
        assert len(asked) == 1
        assert not any("axolotl" in each for each in self.texts())
        assert 'Mira says to you, "It left at noon."' in shown

    def test_an_answer_that_was_owed_before_is_given_after_it(self):
        self.say_as_tom()
        shown = self.capture(self.ann)
        self.ann.execute_cmd("talk mira Where is the ferry?")
        with self.cleaning():
            self.replies = ["It left at noon."]
        self.pass_time(6)
        assert 'Mira says to you, "It left at noon."' in shown

    def test_words_that_are_deleted_before_their_turn_has_begun_get_none(self):
        self.replies = ["So you breed them."]
        for line in ("whisper mira = I breed axolotls.", "talk mira I breed axolotls."):
            self.char1.execute_cmd(line)
            self.forget_tom()
            self.settle(self.is_done)
            before = len(self.prompts())
            self.pass_time(12)
            assert len(self.prompts()) == before
            assert not any("breed" in each for each in self.texts())
            self.problems.clear()

    def test_a_kill_meanwhile_loses_nothing(self):
        self.say_as_tom()
        with self.cleaning():
            self.ann.execute_cmd("say The ferry is late.")
            self.stop_services()  # as a kill, which no step of the deletion survives
        forgetting._running.clear()
        for pool in self.pools:
            pool.shutdown()
        self.services = self.start_services()
        forgetting.continue_requests()
        self.settle(lambda: bool(self.char1.attributes.get(forgetting.FORGOTTEN_AT)))
        assert any("The ferry is late." in each for each in self.texts())
        assert not any("axolotl" in each for each in self.texts())

    def test_a_disk_that_takes_nothing_meanwhile_loses_nothing(self):
        with self.cleaning(), patch.object(type(self.services.spill), "keep", lambda *_: False):
            self.ann.execute_cmd("say The ferry is late.")
        self.settle()
        assert any("The ferry is late." in each for each in self.texts())

    def test_a_builder_reads_why_it_cannot_be_inspected_now(self):
        with self.cleaning():
            told = self.type("@why mira", "being deleted from Mira's memory")
        assert "Try again in a moment" in told

    def test_a_renamed_agent_has_its_new_name_after_it(self):
        self.say_as_tom()
        with self.cleaning():
            self.mira.key = "Mirabel"
        self.settle()
        assert self.mind.memory.name == "Mirabel"
        assert not any("axolotl" in each for each in self.texts())

    def test_a_deleted_agent_does_not_stop_it(self):
        self.say_as_tom()
        number = self.mira.id
        folder = self.services.places.agents / self.mira.memory_folder
        with self.cleaning():
            self.mira.delete()
        assert self.problems == [[]]
        assert not ObjectDB.objects.filter(id=number).exists()
        assert not any("axolotl" in each for each in _texts_in(folder))

    def test_two_requests_at_once_are_carried_out_one_after_the_other(self):
        self.say_as_tom()
        self.ann.execute_cmd("talk mira I keep a wombat.")
        self.pass_time(4)
        with self.cleaning():
            forget_everywhere(self.ann, self.problems.append)
            self.settle(lambda: len(list(self.services.places.forgetting.glob("*.json"))) == 2)
        self.settle(lambda: len(self.problems) == 2)
        assert self.problems == [[], []]
        folder = self.services.places.agents / self.mira.memory_folder
        left = " ".join(_texts_in(folder))
        assert "axolotl" not in left
        assert "wombat" not in left

    def test_the_reactors_part_does_not_grow_with_the_archive(self):
        self.calls_on_the_reactor(memories=300)  # what is done only the first time
        few = self.calls_on_the_reactor(memories=300)  # more than are read when it is opened
        many = self.calls_on_the_reactor(memories=6000)
        assert many == few

    def calls_on_the_reactor(self, *, memories: int) -> Counter[str]:
        """Return how many of Keepsake's functions the reactor calls to forget Tom."""
        minds.close_all()
        folder = self.services.places.agents / self.mira.memory_folder
        for path in folder.rglob("*.jsonl"):
            path.unlink()
        write_archive(folder / "archive", memories)
        self.say_as_tom()
        self.settle()
        self.mind.read_edits()  # else it is luck whether this is done before or while it counts
        self.problems.clear()
        count = CallCount()
        with count.counting():
            self.forget_tom()
            self.settle(self.is_done)
            self.settle()
        assert self.problems == [[]]
        assert not any("axolotl" in each for each in _texts_in(folder))
        # Whether a thread had ended before its callback was added is a matter of luck.
        return Counter({name: n for name, n in count.calls.items() if "in_thread" not in name})


def _texts_in(folder: Path) -> list[str]:
    return [path.read_text() for path in folder.rglob("*.jsonl")]
