"""What a room looks like now, as Evennia has it, and without asking the database."""

from __future__ import annotations

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.world.agents_world import AgentsWorld


class TestRoomLooks(AgentsWorld):
    """The description of this moment."""

    def test_a_look_asks_nothing_of_the_database(self):
        self.room1.db.desc = "A low room."
        assert "A low room." in self.room1.get_display_desc(self.char1)
        with CaptureQueriesContext(connection) as asked:
            self.room1.get_display_desc(self.char1)
        assert not asked.captured_queries
        self.room1.db.desc = "A high room."
        assert "A high room." in self.room1.get_display_desc(self.char1)
