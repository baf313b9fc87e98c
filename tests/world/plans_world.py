"""An agent that means to do something, at an inn and a quay, and players who whisper to it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.world.agents_world import AgentsWorld


class PlansWorld(AgentsWorld):
    """Mira, who means to do something, at the inn and at the quay.

    Attributes:
        quay: The room north of the inn, where all are in the beginning.
        plans: Mira's plans.
        bram: An agent at the quay; only after ``bram_and_ada_at_the_quay``.
        ada: A player there.
    """

    START = datetime(2026, 11, 27, 12, tzinfo=UTC)

    def setUp(self) -> None:
        super().setUp()
        self.set_thinking(idle_interval=1e9)
        self.quay = self.add_room("The Quay")
        self.add_exits(self.room1, "north", "south", self.quay)
        self.plans = self.mind.books.plans

    def pass_minutes(self, minutes: float) -> None:
        """Let time pass, on the wall clock and on the timers."""
        for _ in range(int(minutes * 4)):
            self.time.time += timedelta(seconds=15)
            self.pass_time(15)

    def whisper_before(self) -> None:
        """Let Tom whisper something, alone with Mira."""
        self.char2.move_to(self.add_room("The Loft"), quiet=True)
        self.replies = ["I keep it to myself.", "> wait"]
        self.char1.execute_cmd("whisper Mira = My brother forged the harbour seal.")
        self.pass_time(5)

    def bram_and_ada_at_the_quay(self) -> list[str]:
        """Put Bram and Ada at the Quay; return what Ada is shown from now on."""
        self.bram = self.add_agent("Bram")
        self.bram.move_to(self.quay)
        self.bram.db.paused = True
        self.ada = self.add_player(2, "Ada")
        self.ada.move_to(self.quay)
        return self.capture(self.ada)
