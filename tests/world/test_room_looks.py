"""What a room looks like now, as Evennia has it, and without asking the database."""

from __future__ import annotations

from django.db import connection
from django.test.utils import CaptureQueriesContext
from evennia.contrib.grid.extended_room import ExtendedRoom

from tests.world.agents_world import AgentsWorld


class TestRoomLooks(AgentsWorld):
    """The description of this moment."""

    def test_it_is_the_one_that_evennia_would_choose(self):
        now = self.room1.almanac
        texts = (
            f"desc_{now.part}",
            f"desc_{now.season}",
            "desc_flooded",
            "spring_desc",
            "desc_nothing",
        )
        found = set()
        for chosen in range(2 ** len(texts)):
            for bit, key in enumerate(texts):
                self.room1.attributes.remove(key)
                if chosen >> bit & 1:
                    self.room1.attributes.add(key, f"As of {key}.")
            for flooded in (False, True):
                change = self.room1.add_room_state if flooded else self.room1.remove_room_state
                change("flooded")
                ours = self.room1.get_stateful_desc()
                assert ours == ExtendedRoom.get_stateful_desc(self.room1)
                found.add(ours)
        assert len(found) >= 4

    def test_a_look_asks_nothing_of_the_database(self):
        self.room1.db.desc = "A low room."
        assert "A low room." in self.room1.get_display_desc(self.char1)
        with CaptureQueriesContext(connection) as asked:
            self.room1.get_display_desc(self.char1)
        assert not asked.captured_queries
        self.room1.db.desc = "A high room."
        assert "A high room." in self.room1.get_display_desc(self.char1)
