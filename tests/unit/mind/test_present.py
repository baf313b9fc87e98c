"""What is left of a window without a memory: the present talk."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from keepsake.agent.memory.present import present_talk
from keepsake.tasks.forms.form import LAST_LINES
from tests.unit.mind.journals import NOON, told


def window(*minutes: float) -> list:
    """Return memories of this many minutes before noon."""
    found = [told(number, f"Line {number}.") for number in range(1, len(minutes) + 1)]
    times = [NOON - timedelta(minutes=each) for each in minutes]
    return [replace(each, time=time) for each, time in zip(found, times, strict=True)]


def numbers(*minutes: float) -> list[int]:
    return [each.number for each in present_talk(window(*minutes), NOON)]


def test_a_talk_goes_back_to_a_silence_of_three_minutes():
    assert numbers(30, 10, 6, 4, 1.5) == [3, 4, 5]
    assert numbers(2.9, 2.8) == [1, 2]


def test_after_a_silence_there_is_no_talk():
    assert numbers(5, 4, 3.5) == []
    assert numbers() == []


def test_a_long_talk_is_cut():
    assert numbers(*[1.0] * 40) == list(range(41 - LAST_LINES, 41))
