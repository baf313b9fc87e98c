"""After a start the world is there before its agents are: they are opened in turn, or when needed.

Nothing goes on by itself here: what threads hand back waits in a mailbox until a test takes it.
"""

from __future__ import annotations

from evennia.utils.ansi import strip_ansi

from keepsake.contrib.evennia import lifecycle as runtime
from keepsake.contrib.evennia.creation import create_agent
from keepsake.contrib.evennia.minds import mind_by_number, open_minds, unopened
from tests.world.agents_world import AgentsWorld


class TestOpenedInTurn(AgentsWorld):
    """Mira is with Tom in the inn; Ada, Bram and Zoe are where nobody plays."""

    def setUp(self) -> None:
        super().setUp()
        self.cellar = self.room("The Cellar")
        for name in ("Ada", "Bram", "Zoe"):
            agent = create_agent(name, location=self.cellar, profile=f"You are {name}.")
            setattr(self, name.lower(), agent)
        self.settle()

    def restart(self) -> None:
        """The Server goes down and comes back; nobody's turn to be opened has come yet."""
        self.stop_services()
        while not self.posted.empty():
            self.posted.get()
        self.services = self.start_services()
        self.addCleanup(runtime.stop, reload=True)
        runtime.live(self.services)
        assert unopened() == 4

    def test_a_line_said_to_an_agent_that_is_not_open_is_archived_and_answered(self):
        self.restart()
        self.said = ["say The soup is leek.", "wait"]
        heard = self.hears(self.char1)
        self.char1.execute_cmd("talk Mira What soup is there?")
        archive = mind_by_number(self.mira.id).memory.memory.archive
        read = archive.read(1, archive.last_number)
        assert any("What soup is there?" in each.text for each in read)
        assert unopened() == 3, "and nobody else was opened for it"
        self.pass_time(4)
        assert "The soup is leek." in strip_ansi("\n".join(heard))

    def test_an_agent_that_nobody_speaks_to_is_open_in_the_end_and_thinks(self):
        self.restart()
        self.settle()
        assert unopened() == 0
        assert {each.memory.name for each in open_minds()} == {"Ada", "Bram", "Mira", "Zoe"}
        assert self.zoe.thinker.state.value == "idle"
        self.set_thinking(idle_interval=60.0, idle_away_factor=1.0)
        self.clock.advance(20_000)
        self.settle()
        assert any("You are Zoe." in prompt for prompt in self.fake.prompts())
