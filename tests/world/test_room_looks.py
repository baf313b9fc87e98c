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

    def test_calls_and_marks_in_it_are_heeded_and_all_else_stands_as_it_is(self):
        part = self.room1.almanac.part
        for text in (
            f"A low room.$state({part}, It is {part}.)",
            "A low room.$state(flooded, All wet.)",
            f"A low room. <{part}>Just so.</{part}>",
            r"Five \$state(x) a night, and 3$$.",
            "(A 'low' room: \"old\", {{dark}} | cold = 1.)\n\n  Indeed!",
        ):
            self.room1.db.desc = text
            theirs = ExtendedRoom.get_display_desc(self.room1, self.char1)
            assert self.room1.get_display_desc(self.char1) == theirs

    def test_what_is_in_it_stands_in_the_order_in_which_it_came_whoever_is_left_out(self):
        first = self.room1.contents[0]
        first.move_to(self.room2, quiet=True)
        first.move_to(self.room1, quiet=True)
        there = self.room1.contents
        assert there[-1] is first
        assert self.room1.contents_get(exclude=self.char1) == [
            each for each in there if each is not self.char1
        ]
        assert self.room1.contents_get(exclude=[self.char1, first]) == [
            each for each in there if each not in (self.char1, first)
        ]
