"""What a screen shows: rooms, people who come and go, and lines that end at words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from evennia.utils.ansi import strip_ansi
from evennia.utils.create import create_object
from evennia.utils.test_resources import EvenniaTestCase

from game.server.telnet_session import WrappingSession, wrap
from tests.world.built_world import BuiltWorld, shipped_world
from typeclasses.characters import Character
from world.build import find

ATLAS, _ = shipped_world()


class TestRooms(BuiltWorld, EvenniaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.kettle = find("room", "kettle")
        self.tom = create_object(Character, key="Tom", location=self.kettle)

    def look(self, room: Any) -> list[str]:
        return strip_ansi(room.return_appearance(self.tom)).splitlines()

    def test_a_room_reads_in_order(self):
        lines = self.look(self.kettle)
        assert lines[0] == "The Kettle"
        assert lines[1].startswith("The only inn in Withy Hythe")
        assert lines[2:] == [
            "",
            "Exits: north to Pump Square, south to The Quay, west to The Kettle's Kitchen"
            " and up to The Guest Loft.",
            "Here: Mira.",
        ]
        assert self.look(find("room", "loft"))[-1] == "You see: a stick of green wax."

    def test_coming_and_going_is_told(self):
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
BARS = " ".join(["||"] * 39)  # each is shown as one


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        (TABLE, 78, TABLE),
        (BARS, 78, BARS),
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


@pytest.mark.parametrize(
    ("protocol", "flags", "widest"),
    [
        ("telnet", {}, 78),
        ("telnet/ssl", {"SCREENWIDTH": {0: 40}}, 40),
        ("telnet", {"SCREENWIDTH": {0: 300}}, 100),
        ("telnet", {"SCREENWIDTH": {0: 0}}, 78),
        ("webclient/websocket", {}, 10_000),
    ],
)
def test_only_telnet_is_wrapped(protocol, flags, widest):
    session, sent = WrappingSession(), []
    session.sessionhandler = SimpleNamespace(data_out=lambda _, **kwargs: sent.append(kwargs))
    session.protocol_key, session.protocol_flags = protocol, flags
    session.data_out(text=("word " * 200, {"type": "say"}))
    session.data_out(logged_in={})
    longest = max(map(len, sent[0]["text"][0].split("\n")))
    assert longest <= widest
    assert widest == 10_000 or longest > widest - 5
    assert sent[0]["text"][1] == {"type": "say"}
    assert sent[1] == {"logged_in": {}}
