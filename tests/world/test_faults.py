"""A failure of any background job is a fault with its agent, and its traceback is in the log."""

from __future__ import annotations

import logging
from unittest.mock import patch

from keepsake.agent.attention.impulse import IDLE
from keepsake.archive.log import Archive
from keepsake.books.people import PeopleBook
from keepsake.contrib.evennia import characters, lifecycle
from keepsake.contrib.evennia.characters import show_absence_news
from keepsake.contrib.evennia.forgetting import forget_everywhere
from keepsake.erasure.folder import AgentCleaner
from keepsake.errors import ArchiveUnwritable, ModelFailed, ModelTimeout, ModelUnavailable
from keepsake.events.files import events
from keepsake.events.log_file import FaultHandler
from keepsake.events.values import CompactReason
from keepsake.logs import ROOT
from keepsake.memory.compactor import Compactor
from keepsake.memory.config import CompactionConfig
from keepsake.models.detection import Detection
from keepsake.models.gateway import Gateway
from keepsake.models.local.minilm import MiniLMEmbedder
from keepsake.recall.agent_index import AgentIndex
from keepsake.recall.meaning import MeaningIndex
from keepsake.recall.service import IndexService
from keepsake.recall.stores import NONE
from tests.log_lines import LogLines
from tests.world.agents_world import FixedConfig, LoggedWorld


class Broken(Exception):
    """A bug."""


def boom(*_args, **_kwargs):
    raise Broken("a bug")


def full_disk(*_args, **_kwargs):
    raise OSError(28, "No space left on device")


def unwritable(*_args, **_kwargs):
    raise ArchiveUnwritable("the archive cannot be written", "Free some disk space")


class FaultsWorld(LoggedWorld):
    """A world whose warnings and errors are events, too."""

    def start_services(self):
        new = super().start_services()
        handler = FaultHandler(self.log)
        logging.getLogger(ROOT).addHandler(handler)
        self.addCleanup(logging.getLogger(ROOT).removeHandler, handler)
        self.lines = self.enterContext(LogLines())
        return new

    def fault(self, subsystem, agent="Mira", place="boom"):
        """Return the text of the only fault of a subsystem; its traceback must name ``place``."""
        assert self.log.flush(60)
        found = [each for each in events(self.log.folder) if each["kind"] == "error"]
        (fault,) = [each for each in found if each["subsystem"] == subsystem]
        assert fault["agent"] == agent
        assert fault["agent_id"] == (self.mira.id if agent == "Mira" else 0)
        written = self.lines.having(f" {subsystem} {agent and f'{agent}: '}", f", in {place}\n")
        assert written, self.lines.lines
        return fault["text"]


class TestFaults(FaultsWorld):
    """Each test breaks one job of Mira's."""

    def remember_much(self):
        self.services.compaction = FixedConfig(
            CompactionConfig(
                immediate_window=4, recent_window=4, preserve_memories=4, min_saving_tokens=0
            )
        )
        for n in range(9):
            self.char1.execute_cmd(f"say Number {n} of the old songs is about the river.")

    def compact(self):
        self.mind.compactions.compact(CompactReason.MANUAL)
        self.settle(lambda: not self.mind.compactions.compacting)

    def test_a_bug_in_a_compaction(self):
        self.remember_much()
        with patch.object(Compactor, "make", boom):
            self.compact()
        assert "nothing was changed" in self.fault("compaction")

    def test_a_compaction_on_a_full_disk(self):
        self.remember_much()
        with patch.object(Archive, "append", unwritable):
            self.compact()
        assert "Free some disk space" in self.fault("compaction", place="unwritable")

    def test_a_bug_in_an_undo(self):
        self.remember_much()
        self.compact()
        with patch.object(Compactor, "write_undo", boom):
            self.mind.compactions.undo()
            self.settle(lambda: not self.mind.compactions.compacting)
        assert "Broken: a bug" in self.fault("compaction")

    def test_an_undo_on_a_full_disk(self):
        self.remember_much()
        self.compact()
        with patch.object(Archive, "append", unwritable):
            self.mind.compactions.undo()
            self.settle(lambda: not self.mind.compactions.compacting)
        assert "The undo failed" in self.fault("compaction", place="unwritable")

    def test_a_task_of_the_night(self):
        nights = self.mind.sleeper.nights
        with patch.object(nights, "_tasks", {"reflect": boom}):
            self.mind.sleeper.fall_asleep("it was late")
            self.settle(lambda: not nights.working)
        assert "step=reflect" in self.fault("night")

    def test_the_whole_night(self):
        nights = self.mind.sleeper.nights
        with patch.object(nights, "_run_tasks", boom):
            self.mind.sleeper.fall_asleep("it was late")
            self.settle(lambda: not nights.working)
        assert "The night's work failed" in self.fault("night")

    def test_the_pages_of_people(self):
        self.char1.execute_cmd("say I am a baker.")
        with patch.object(PeopleBook, "take", boom):
            self.mind.read_edits()
        assert "pages of people" in self.fault("people")

    def test_the_copy_of_memories_that_wait(self):
        with (
            patch.object(Archive, "append", unwritable),
            patch("keepsake.archive.spill.os.pwrite", full_disk),
        ):
            self.char1.execute_cmd("say I am a baker.")
        assert "only in RAM" in self.fault("waiting memories", place="full_disk")
        assert "Free some disk space" in self.fault("archive", place="unwritable")

    def test_the_news_of_an_absence(self):
        self.char1.attributes.add(characters.LEFT, "2026-01-01T00:00:00+00:00")
        with patch.object(characters, "news_of", full_disk):
            show_absence_news(self.char1)
            self.settle()
        assert "No space left" in self.fault("news", place="full_disk")

    def test_a_bug_in_the_news_of_an_absence(self):
        self.char1.attributes.add(characters.LEFT, "2026-01-01T00:00:00+00:00")
        with patch.object(characters, "news_of", boom):
            show_absence_news(self.char1)
            self.settle()
        assert "Tom" in self.fault("news", agent="")

    def test_a_warm_up(self):
        def submit(*_):
            raise ModelUnavailable("no model answers", "Start it")

        with patch.object(Gateway, "submit", submit):
            self.mind.thinker._read_ahead(IDLE)
        assert "Start it" in self.fault("warm-up", place="submit")

    def test_a_model_too_slow_to_read_ahead_is_no_fault(self):
        def submit(_gateway, _profile, _priority, _key, _build, ended):
            ended(ModelTimeout("The model gave no answer within 60 s", "Use a smaller model"))

        with patch.object(Gateway, "submit", submit):
            self.mind.thinker._read_ahead(IDLE)
        assert self.lines.having("INFO warm-up Mira: ", "only in part", "no answer within 60 s")
        assert not self.lines.having("Traceback")
        assert self.log.flush(60)
        assert "error" not in {each["kind"] for each in events(self.log.folder)}

    def test_housekeeping(self):
        memory = self.mind.memory
        self.settle()  # an agent whose memory is being opened is left out
        with patch.object(memory, "save_backlog", boom):
            lifecycle._do_housekeeping()
        assert "Housekeeping failed" in self.fault("housekeeping")

    def test_forget_me(self):
        with patch.object(AgentCleaner, "clean", full_disk):
            forget_everywhere(self.char1, lambda _: None)
            self.settle()
        assert "Forgetting failed" in self.fault("erasure", place="full_disk")

    def test_the_detection_of_a_model(self):
        gateway = self.services.gateway
        with (
            patch.object(Detection, "find", boom),
            patch.object(gateway.profiles, "detects", True),
        ):
            gateway._detect()
        assert "could not be detected" in self.fault("detection", agent="")


class TestIndexFaults(FaultsWorld):
    """Mira's index fails; the thread that indexes goes on."""

    def index_with(self, embedder):
        """Start a service for Mira's index; the test stops it."""
        service = IndexService(self.services.places, NONE, embedder)
        service.open(self.mind.memory.folder.name, self.mind.memory.folder / "archive", name="Mira")
        self.addCleanup(service.close, stop_server=True)
        return service

    def test_indexing(self):
        service = self.index_with(MiniLMEmbedder())
        with patch.object(AgentIndex, "refresh", boom):
            service._run_round()
            service._run_round()
        assert "Broken: a bug" in self.fault("index")

    def test_embedding(self):
        def embed(*_):
            raise ModelFailed("the embedder is broken", "See its log")

        service = self.index_with(MiniLMEmbedder())
        (index,) = service._agents.values()
        with patch.object(MeaningIndex, "embed", embed):
            index.embed()
            index.embed()
        assert "See its log" in self.fault("embedding", place="embed")
