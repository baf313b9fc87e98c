"""A worker thread opens an agent's memory, and nothing is lost or told meanwhile."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from unittest.mock import patch

from keepsake.agent.memory.memory import MemoryComponent
from keepsake.archive.log import Archive
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.archive.spill import not_yet_in
from keepsake.contrib.evennia import lifecycle, minds
from keepsake.events.files import events
from tests.world.agents_world import LoggedWorld


class World(LoggedWorld):
    """Mira has heard three lines; then her mind is closed."""

    def setUp(self):
        super().setUp()
        for number in range(3):
            self.char1.execute_cmd(f"say {number}")
        self.settle()
        self.last = self.mind.memory.memory.archive.last_number
        minds.close_all()

    @contextmanager
    def busy_workers(self):
        """Let no worker thread begin anything."""
        gate = threading.Event()
        jobs = [self.services.workers.submit(gate.wait) for _ in range(6)]
        try:
            yield
        finally:
            gate.set()
            for job in jobs:
                job.result()


class TestOpening(World):
    def test_the_thread_of_the_game_reads_no_archive(self):
        readers = []
        opened = Archive.__init__

        def note(archive, *args, **kwargs):
            readers.append(threading.current_thread())
            opened(archive, *args, **kwargs)

        with patch.object(Archive, "__init__", note):
            minds.open_all()
            self.settle()
        assert readers
        assert threading.main_thread() not in readers
        assert self.mind.memory.memory.archive.last_number == self.last

    def test_whoever_needs_the_memory_at_once_opens_it(self):
        with self.busy_workers():
            assert self.mind.opening
            assert self.mind.memory.memory.archive.last_number == self.last

    def test_a_line_that_arrives_meanwhile_gets_the_next_number(self):
        with self.busy_workers():
            assert self.mind.opening
            self.char1.execute_cmd("say meanwhile")
            assert self.mind.memory.newest == self.last + 1
        self.settle()
        assert self.lines()[-1] == 'Tom says, "meanwhile"'
        assert not self.mind.memory.waiting

    def test_a_line_that_arrives_while_a_thread_opens_the_archive_is_kept(self):
        begun = threading.Event()
        go_on = threading.Event()

        def slow(archive, lines):
            found = not_yet_in(archive, lines)
            begun.set()
            assert go_on.wait(60)
            return found

        with patch("keepsake.agent.memory.memory.not_yet_in", slow):
            mind = self.mind
            assert begun.wait(60)
            threading.Timer(0.05, go_on.set).start()
            self.char1.execute_cmd("say meanwhile")
        self.settle()
        assert self.lines()[-1] == 'Tom says, "meanwhile"'
        assert mind.memory.memory.archive.last_number == self.last + 1

    def test_a_mind_that_is_closed_meanwhile_gives_the_archive_back(self):
        with self.busy_workers():
            first = self.mind
            minds.close_all()
        self.settle()
        assert first.opening
        assert self.mind.memory.memory.archive.last_number == self.last

    def test_nothing_counts_as_public_before_the_archive_is_read(self):
        with self.busy_workers():
            private = self.mind.memory.private
            assert not private.may_hear([1], NO_PRIVATE_WORDS)
            assert not private.may_hear([10**9], NO_PRIVATE_WORDS)
        self.settle()
        assert self.mind.memory.private.may_hear([1], NO_PRIVATE_WORDS)

    def test_housekeeping_does_not_wait_for_it(self):
        with self.busy_workers(), patch.object(MemoryComponent, "save_backlog") as save:
            assert self.mind.opening
            lifecycle._do_housekeeping()
        assert not save.called

    def test_calls_that_wait_for_it_are_made_afterwards_or_never(self):
        called = []
        with self.busy_workers():
            closed = self.mind
            closed.when_open(lambda: called.append("closed"))
            minds.close_all()
            self.mind.when_open(lambda: called.append("open"))
            assert not called
        self.settle()
        assert called == ["open"]
        self.mind.when_open(lambda: called.append("now"))
        assert called == ["open", "now"]


class TestWaitingLines(World):
    def test_only_lines_of_an_earlier_process_are_searched_in_the_archive(self):
        self.stop_services()
        self.services = self.start_services()
        with patch("keepsake.agent.memory.memory.not_yet_in", wraps=not_yet_in) as search:
            self.char1.execute_cmd("say new")
        ((_, searched),) = [call.args for call in search.call_args_list]
        assert searched == []
        assert self.lines()[-1] == 'Tom says, "new"'


class TestRenaming(World):
    def test_a_rename_searches_for_no_other_memory(self):
        self.settle()
        mind = self.mind
        self.settle()
        with patch.object(minds, "settle_memory") as settle:
            self.mira.key = "Zora"
        assert not settle.called
        assert mind.closed
        assert self.mind is not mind
        assert self.mind.memory.folder == mind.memory.folder

    def test_its_event_names_the_newest_memory(self):
        self.mira.key = "Zora"
        self.settle()
        assert self.log.flush(60)
        (renamed,) = [each for each in events(self.log.folder) if each.get("op") == "renamed"]
        assert (renamed["agent"], renamed["about"]) == ("Zora", "Mira")
        assert renamed["n"] == self.last

    def test_an_agent_that_was_awake_for_an_hour_is_so_under_its_new_name(self):
        self.mind.sleeper._last_tick -= 3600
        self.mind.sleeper.tick()
        before = self.mind.sleeper.awake_seconds
        assert before >= 3600
        self.mira.key = "Zora"
        assert round(self.mind.sleeper.awake_seconds, 1) == round(before, 1)
