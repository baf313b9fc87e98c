"""When compactions of the game run: in company, and after a start."""

from __future__ import annotations

from unittest.mock import patch

from keepsake.agent.attention.recent_talks import TALK_SECONDS
from keepsake.contrib.evennia import lifecycle
from keepsake.events.values import CompactReason
from keepsake.memory.types import CompactionRequest
from keepsake.models.tickets import Priority
from tests.world.ladder_world import LadderWorld


class TestCompany(LadderWorld):
    """Two agents with a player at the inn, whose compactions fall due together."""

    def setUp(self):
        super().setUp()
        self.joss = self.add_agent("Joss")
        self.pass_time(2)
        self.budget(immediate_window=4, recent_window=4, preserve_memories=4, count_from=0.0)
        self.char1.execute_cmd("talk Mira Good evening.")
        for agent in (self.mira, self.joss):
            agent.db.paused = True
        for number in range(12):
            self.char2.execute_cmd(f"say Cask {number} came from Ostrey, and left for home again.")
        self.minds = [self.mind, self.joss.mind]
        assert all(mind.memory.memory.may_be_due() for mind in self.minds)

    def compacting(self):
        """Do the housekeeping; return who compacts then."""
        lifecycle._do_housekeeping()
        return [mind for mind in self.minds if mind.compactions.compacting]

    def test_the_company_waits_for_a_pause_also_who_is_not_spoken_to(self):
        assert not self.joss.mind.presence.in_talk
        assert self.compacting() == []
        self.clock.advance(TALK_SECONDS + 1)
        assert self.compacting() != []
        self.settle()

    def test_they_come_one_after_the_other(self):
        self.clock.advance(TALK_SECONDS + 1)
        assert self.compacting() == [self.mind]
        assert self.compacting() == [self.mind]
        self.settle()
        assert self.compacting() == [self.joss.mind]
        self.settle()

    def test_a_summary_for_which_a_thought_waits_gives_way_to_nobody(self):
        asked = []
        with patch.object(self.services, "asker", lambda _, priority: asked.append(priority)):
            for reason in (CompactReason.EMERGENCY, CompactReason.COUNT):
                limits = self.services.compaction_config
                self.mind.memory._summarizer(CompactionRequest(reason=reason, limits=limits))
        assert asked == [Priority.EVENT, Priority.COMPACTION]

    def test_where_no_player_is_they_run_at_once(self):
        for player in (self.char1, self.char2):
            player.move_to(self.add_room("The Quay"), quiet=True)
        assert self.compacting() == self.minds
        self.settle()


class TestAfterAStart(LadderWorld):
    """Mira's window became full while another model had more room; the world starts again."""

    def setUp(self):
        super().setUp()
        self.mira.db.paused = True
        self.budget(immediate_window=400, recent_window=400)
        self.mumble(12)
        self.start_again()

    def mumble(self, count):
        """Tom says things to nobody, of which no agent thinks."""
        for number in range(count):
            self.char1.execute_cmd(f"say Cask {number} came from Ostrey, and left for home again.")

    def start_again(self):
        """Start the world anew with windows so small that Mira's is full."""
        self.stop_services()
        self.services = self.start_services()
        self.addCleanup(lifecycle.stop, reload=True)
        self.budget(immediate_window=4, recent_window=4, preserve_memories=4, count_from=0.0)
        lifecycle.open_agents(self.services)
        self.settle(lambda: not self.mind.opening)
        assert self.mind.memory.memory.may_be_due() is CompactReason.COUNT

    def compacts(self):
        """Do the housekeeping; return whether she compacts then."""
        lifecycle._do_housekeeping()
        compacts = self.mind.compactions.compacting
        self.settle()
        return compacts

    def test_a_start_summarises_nothing_that_people_only_look_at(self):
        self.pass_time(3600)
        assert not self.compacts()
        assert self.logged.having("The window is full at the start")
        assert self.mind.memory.memory.tiers.state.summarised == 0
        newest = self.mind.memory.memory.tiers.last_number
        when = f"after the next talk with a player, or at memory {newest + 4:,}"
        assert self.mind.compactions.when_due() == when

    def test_after_a_talk_with_a_player_it_is_summarised_in_a_pause(self):
        self.char1.execute_cmd("talk Mira Good evening.")
        assert not self.compacts()
        self.clock.advance(TALK_SECONDS + 1)
        assert self.compacts()

    def test_a_world_without_a_player_summarises_as_it_grows(self):
        self.mumble(3)
        assert not self.compacts()
        self.mumble(1)
        assert self.compacts()
        assert self.mind.compactions.when_due() == ""

    def test_after_a_prompt_the_marks_decide(self):
        self.mira.db.paused = False
        self.ask("Good evening.", "> say Good evening, Tom.")
        self.clock.advance(TALK_SECONDS + 1)
        assert self.compacts()
