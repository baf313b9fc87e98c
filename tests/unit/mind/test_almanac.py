"""The almanac: what any moment is like, from the moment alone."""

from __future__ import annotations

from datetime import UTC, datetime

from world.almanac import Hours, almanac

START = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)


def test_the_parts_of_a_day_and_the_hour_in_words():
    at = [almanac(START.replace(hour=hour)).part for hour in (3, 6, 11, 12, 17, 18, 21, 22, 0)]
    wanted = "night morning morning afternoon afternoon evening evening night night"
    assert at == wanted.split()
    assert almanac(START).clock == "It is Monday, 8:00 in the morning."
    assert almanac(START.replace(hour=2, minute=14)).clock == "It is Monday, 2:14 at night."


def test_hours_go_over_midnight_and_end_before_their_last_moment():
    evening = Hours.parse("18:30-2")
    inside = [START.replace(hour=h, minute=m) for h, m in ((18, 30), (23, 59), (0, 0), (1, 59))]
    outside = [START.replace(hour=h, minute=m) for h, m in ((18, 29), (2, 0), (12, 0))]
    assert all(moment in evening for moment in inside)
    assert not any(moment in evening for moment in outside)
    assert START in Hours.parse("8-12")
    assert START.replace(hour=23) in Hours.parse("20-24")
