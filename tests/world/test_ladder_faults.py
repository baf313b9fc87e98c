"""What goes wrong around a compaction must cost no thought, no line of talk and no archive."""

from __future__ import annotations

from keepsake.contrib.evennia.minds import close_mind
from keepsake.memory.types import CompactReason
from tests.world.test_ladder_world import LadderWorld


class TestConfiguration(LadderWorld):
    """Files that are wrong while the world runs: what was good before goes on."""

    def test_a_template_that_was_never_usable_leaves_the_last_good_way_until_it_is_mended(self):
        folder = self.services.places.config / "compaction"
        (folder / "mine.md").write_text("# Mine\n\n```prompt\n{% for x in %}\n```\n")
        self.fill(0.87, context_tokens=1600)
        self.budget(context_tokens=1600, strategy="mine")
        self.mind.memory.remember("Somebody coughs.")
        self.compacted()
        assert [(past.reason, past.strategy) for past in self.past()] == [("high", "narrative")]
        (folder / "mine.md").write_text((folder / "structured.md").read_text())
        assert self.services.strategy().name == "mine"


class TestClosed(LadderWorld):
    """A memory that was closed stays closed: its archive may have another owner by now."""

    def setUp(self):
        super().setUp()
        self.fill(1.1, context_tokens=1600)
        self.budget(context_tokens=1600, high=9.0)
        self.component = self.mind.memory

    def close(self):
        close_mind(self.mira.id)
        self.clock.advance(20)  # a disk that could not be written would be tried again now
        self.component._try_again_at = 0.0

    def test_the_same_agent_under_another_name_has_its_archive(self):
        gate = self.slow()
        self.component.compact(CompactReason.MANUAL, lambda _: None)
        self.mira.key = "Moira"
        gate.set()
        self.settle(lambda: not self.component.compacting)
        assert self.mind.memory is not self.component
        assert self.mind.memory.remember("I am Moira now.")
        assert self.past() == [], "what had begun under the old name came to nothing"


class TestThoughts(LadderWorld):
    """A thought that breaks off, or is overtaken, leaves an agent that can think."""

    def test_neither_a_fault_before_it_nor_a_pause_while_it_waits_for_room_stops_all_others(self):
        self.budget()
        context = self.mind.memory.context

        def broken():
            raise RuntimeError("a fault of ours")

        self.mind.memory.context = broken
        self.thinks("Well?")
        self.mind.memory.context = context
        assert self.thinks("And now?", "say Here I am.")
        assert "~say Here I am." in self.lines()

        self.fill(1.1, context_tokens=1600)
        self.budget(context_tokens=1600, high=9.0)
        gate = self.slow()
        self.char1.execute_cmd("talk Mira Well?")
        self.clock.advance(2.0)
        self.mira.db.paused = True
        gate.set()
        self.compacted()
        assert not self.thinking()
        self.mira.db.paused = False
        assert self.thinks("Hello?", "say Hi.")


class TestWatchers(LadderWorld):
    """What is lived through comes before what anything makes of it."""

    def test_a_fault_in_a_watcher_doubles_no_memory(self):
        def broken(_):
            raise RuntimeError("a fault of ours")

        memory = self.mind.memory
        watchers, memory.watchers = memory.watchers, (broken,)
        assert self.mind.memory.remember("Somebody coughs.")
        assert self.mind.memory.remember("Somebody sneezes.")
        memory.watchers = watchers
        assert self.mind.memory.remember("Somebody laughs.")
        assert self.lines()[-3:] == ["Somebody coughs.", "Somebody sneezes.", "Somebody laughs."]
