"""What the command `meet` reads: a place and a time, in the words that people use."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keepsake.agent.plans.invitations import read_invitation
from keepsake.errors import KeepsakeError
from keepsake.happening import Person

NOW = datetime(2026, 11, 29, 14, tzinfo=UTC)  # a Sunday
PLACES = (
    "The Quay",
    "The Old Boathouse",
    "Bram's Orchard",
    "The Kettle",
    "The Kettle's Kitchen",
    "Pump Square",
    "Hale, Clocks Mended",
    "The Office of Lost Letters",
)


@pytest.mark.parametrize(
    ("text", "where", "at"),
    [
        ("at the quay tomorrow 12:00", "The Quay", "30 12:00"),
        ("at the quay at eight tomorrow", "The Quay", "30 08:00"),
        ("at eight", "here", "29 20:00"),
        ("on monday at 9", "here", "30 09:00"),
        ("sunday evening", "here", "29 19:00"),
        ("half past eight", "here", "29 20:30"),
        ("quarter past two", "here", "29 14:15"),
        ("on the quay ten to nine", "The Quay", "29 20:50"),
        ("3 o'clock", "here", "29 15:00"),
        ("in five minutes", "here", "29 14:05"),
        ("here in an hour", "here", "29 15:00"),
        ("in the square at 5pm", "Pump Square", "29 17:00"),
        ("the boathouse tomorrow noon", "The Old Boathouse", "30 12:00"),
        ("the orchard in 10 minutes", "Bram's Orchard", "29 14:10"),
        ("kitchen 20:15", "The Kettle's Kitchen", "29 20:15"),
        ("at hale, clocks mended 18:00", "Hale, Clocks Mended", "29 18:00"),
    ],
)
def test_places_and_times_are_read_as_people_say_them(text, where, at):
    found = read_invitation(text, Person("Tom", "1-1"), "here", PLACES, NOW)
    assert (found.where, f"{found.at:%d %H:%M}") == (where, at)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tomorrow", "names no hour"),
        ("at the quay", "No time"),
        ("at the moon tomorrow 12:00", "no place that can be walked to"),
        ("at 26:99", "no time"),
        ("yesterday 12:00", "has passed"),
        ("in 999999999999 minutes", "no time"),
        (f"in {'9' * 5000} minutes", "no time"),
        ("1 january 2090 12:00", "more than 60 days away"),
        ("31 december 9999 23:59", "no time"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(text, why):
    with pytest.raises(KeepsakeError, match=why):
        read_invitation(text, Person("Tom", "1-1"), "here", PLACES, NOW)
