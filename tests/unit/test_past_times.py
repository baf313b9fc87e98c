"""Times in the past, as people type them."""

from __future__ import annotations

from datetime import datetime

import pytest

from keepsake.language.past_times import read_past_time

NOW = datetime(2026, 11, 29, 22, 6)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("19:34", "2026-11-29 19:34:00"),
        ("23:00", "2026-11-28 23:00:00"),
        ("7:34 pm", "2026-11-29 19:34:00"),
        ("half past seven", "2026-11-29 19:30:00"),
        ("Thursday evening", "2026-11-26 23:00:00"),
        ("on thursday", "2026-11-26 23:59:59"),
        ("thursday evening at 19:34", "2026-11-26 19:34:00"),
        ("yesterday", "2026-11-28 23:59:59"),
        ("yesterday morning", "2026-11-28 12:00:00"),
        ("last night", "2026-11-28 23:59:00"),
        ("Sunday 19:34", "2026-11-29 19:34:00"),
        ("sunday", "2026-11-29 22:06:00"),
        ("tonight", "2026-11-29 22:06:00"),
        ("Sunday evening", "2026-11-29 22:06:00"),
        ("in the evening", "2026-11-29 22:06:00"),
        ("Sunday 23:00", "2026-11-22 23:00:00"),
        ("this morning", "2026-11-29 12:00:00"),
        ("an hour ago", "2026-11-29 21:06:00"),
        ("now", "2026-11-29 22:06:00"),
        ("29 Nov 19:34", "2026-11-29 19:34:00"),
        ("Sun 29 Nov, 19:34", "2026-11-29 19:34:00"),
        ("2026-11-29 19:34", "2026-11-29 19:34:00"),
        ("2026-11-28T19:34:05", "2026-11-28 19:34:05"),
        ("gestern", None),
        ("the cup", None),
        ("", None),
        ("999999999999 minutes ago", None),
    ],
)
def test_a_phrase_is_a_time_in_the_past(text, time):
    found = read_past_time(text, NOW)
    assert (None if found is None else str(found)) == time


@pytest.mark.parametrize(
    ("language", "time"), [("de-at", "2026-11-28 23:59:59"), ("qq", None), ("en-us", None)]
)
def test_the_worlds_language_is_read_too(language, time):
    found = read_past_time("gestern", NOW, language=language)
    assert (None if found is None else str(found)) == time


def test_an_hour_without_a_day_is_before_the_newest_memory():
    newest = datetime(2026, 11, 26, 19, 50)
    assert str(read_past_time("19:34", NOW, newest)) == "2026-11-26 19:34:00"
    assert str(read_past_time("half past seven", NOW, newest)) == "2026-11-26 19:30:00"
    assert str(read_past_time("sunday 19:34", NOW, newest)) == "2026-11-29 19:34:00"


@pytest.mark.parametrize("text", ["23:00", "at eleven pm", "11 pm"])
def test_on_the_first_of_a_month_an_hour_may_be_of_the_month_before(text):
    found = read_past_time(text, datetime(2026, 12, 1, 5, 30))
    assert found == datetime(2026, 11, 30, 23)
