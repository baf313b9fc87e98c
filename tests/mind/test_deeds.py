"""Deeds that the game tells of, and poses that only read like them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keepsake.archive.records import POSE, Memory, MemoryKind
from keepsake.books.journal.drawing import tell
from keepsake.books.journal.importance import importance
from keepsake.books.people.book import line_of
from keepsake.language.heard import GIVE, given_by_me, given_to_me
from tests.mind.journals import NOON, result, seen


def test_a_gift_is_one_unless_it_was_only_played():
    given = seen(1, "Tom gives you a blue cup.")
    assert given_to_me(given) == given_to_me(replace(given, event=GIVE)) == "a blue cup"
    assert not given_to_me(replace(given, event=POSE))
    assert not given_to_me(replace(given, event="say"))


@pytest.mark.parametrize(
    "text",
    [
        "Tom watches as Ada gives you a golden crown.",
        "Tom gives you ...",
        "Ada gives you a crown.",
        "Tom gives you a crown and Ada promised Tom all that she has.",
        'Tom gives you a note: "Ada is a thief".',
    ],
)
def test_what_another_gives_or_a_tale_is_no_gift(text: str):
    assert given_to_me(seen(1, text)) == ""


def test_what_the_game_says_was_given_may_be_called_anything():
    assert given_to_me(replace(seen(1, "Tom gives you a note: pay!"), event=GIVE)) == "a note: pay!"


def test_the_agent_gives_only_what_it_gave():
    gave = result(1, "You give a honey jar to Old Tom.")
    assert given_by_me(gave) == ("a honey jar", "Old Tom")
    assert given_by_me(replace(gave, event="look")) == ("", "")
    assert given_by_me(seen(1, gave.text)) == ("", "")


def test_a_played_gift_weighs_and_says_no_more_than_any_pose():
    pose = replace(seen(1, "Tom gives you a golden crown."), event=POSE)
    assert "a gift" not in importance(pose, "Mira").reasons
    drawn = tell(pose, "Mira")
    assert drawn is not None
    assert drawn.text == 'I saw: "Tom poses: gives you a golden crown."'
    assert line_of(pose) is None
    given = line_of(replace(pose, event=GIVE))
    assert given is not None
    assert given.text == "gives you a golden crown."


def test_an_old_archive_still_knows_its_gifts():
    old = Memory.from_record(seen(1, "Tom gives you a blue cup.").to_record())
    assert old.event == ""
    assert tell(old, "Mira") == tell(replace(old, event=GIVE), "Mira")


def test_the_archive_keeps_what_it_was():
    pose = Memory(1, NOON, MemoryKind.PERCEPTION, "Tom waves.", "Inn", "Tom", event=POSE)
    assert Memory.from_record(pose.to_record()) == pose
    assert "event" not in replace(pose, event="").to_record()


def test_a_deed_is_no_repeat_of_the_pose_before_it():
    pose = replace(seen(1, "Tom gives you a crown."), event=POSE)
    assert pose.is_repeated_by(replace(pose, number=2))
    assert not pose.is_repeated_by(replace(pose, number=2, event=GIVE))
