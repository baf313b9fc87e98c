"""What a screen shows: rooms, people who come and go, and lines that end at words."""

from __future__ import annotations

import pytest
from evennia.utils.ansi import strip_ansi
from evennia.utils.create import create_object
from evennia.utils.test_resources import EvenniaTestCase

from game.server.telnet_session import wrap
from tests.world.built_world import BuiltWorld, shipped_world
from typeclasses.characters import Character
from world.build import find

ATLAS, _ = shipped_world()


class TestRooms(BuiltWorld, EvenniaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.kettle = find("room", "kettle")
        self.tom = create_object(Character, key="Tom", location=self.kettle)

    def test_a_room_reads_in_order_and_coming_and_going_is_told(self):
        lines = strip_ansi(self.kettle.return_appearance(self.tom)).splitlines()
        assert lines[0] == "The Kettle"
        assert lines[1].startswith("The only inn in Withy Hythe")
        assert lines[3].startswith("Exits: north to Pump Square, south to The Quay, west to")
        assert lines[4] == "Here: Mira."
        heard: list[str] = []
        mira, nell = find("agent", "mira"), find("agent", "nell")
        nell.move_to(find("room", "square"), quiet=True)
        for agent in (mira, nell):
            agent.msg = lambda text=None, **kwargs: heard.append(strip_ansi(text[0]))
        self.tom.execute_cmd("north")
        self.tom.move_to(find("room", "quay"))
        assert heard == [
            "Tom goes north to Pump Square.",
            "Tom arrives from The Kettle.",
            "Tom is gone.",
        ]


TABLE = "  a    b\n\n|r" + "=" * 78 + "|n\n  indented\t tab"


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        (TABLE, 78, TABLE),
        ("  one two three four five six", 20, "  one two three four\n  five six"),
        ("x" * 100 + " y", 78, "x" * 100 + "\ny"),
        (
            "  9.34  |ymemory 37|n  one two three",
            28,
            "  9.34  |ymemory 37|n  one two\n        three",
        ),
    ],
)
def test_what_fits_stays_and_what_is_wrapped_keeps_its_words_and_columns(text, width, shown):
    assert wrap(text, width) == shown
