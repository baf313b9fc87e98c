"""How pages say that something is private: the mark must be true of how it happened."""

from __future__ import annotations

import pytest

from keepsake.happening import ME, UNKNOWN, Deed, Manner, Person, Pose, Result, Sight, Speech
from keepsake.web.asked.shapes import AnswerLine
from keepsake.web.privacy import how_private, kept_for, people

ANN = Person("Ann", "72")
BOB = Person("Bob", "73")
NAMES = {each.id: each.name for each in (ANN, BOB)}


@pytest.fixture(autouse=True)
def named(monkeypatch):
    monkeypatch.setattr(people, "name_of", lambda identity: NAMES.get(identity, ""))


def said(*to, manner=Manner.SAY, speaker=ME):
    return Speech(speaker=speaker, words="You have my word.", to=to, manner=manner)


@pytest.mark.parametrize(
    ("what", "confidants", "own", "words"),
    [
        (said(BOB), None, True, ""),
        (said(BOB, manner=Manner.WHISPER), {"73"}, True, "whispered"),
        (said(ME, manner=Manner.WHISPER, speaker=BOB), {"73"}, False, "whispered"),
        (said(BOB), {"73"}, True, "alone with Bob"),
        (said(BOB), {"72", "73"}, True, "nobody but Ann and Bob there"),
        (said(), {"73"}, True, "nobody but Bob there"),
        (said(ME, speaker=BOB), {"73"}, False, "alone"),
        (Pose(actor=ME, gesture="nods"), {"73"}, True, "nobody but Bob there"),
        (Pose(actor=ME, gesture="nods"), {UNKNOWN}, True, "alone"),
        (Deed(actor=ME, verb="plan"), {"72", "73"}, True, "keeps it for Ann and Bob"),
        (Deed(actor=ME, verb="walk"), set(), True, "keeps it to itself"),
        (Result(verb="plan"), {"73"}, False, "keeps it for Bob"),
        (Sight(shown="A letter."), {"73"}, False, "for it alone"),
    ],
)
def test_the_mark_says_how_it_happened(what, confidants, own, words):
    assert how_private(what, confidants, own=own) == words


def test_what_rests_on_private_memories_is_kept():
    assert kept_for(None) == ""
    assert kept_for({"73"}) == "keeps it for Bob"
    assert kept_for({UNKNOWN}) == "keeps it to itself"


def test_what_is_private_in_an_unknown_way_is_still_marked():
    marks = [AnswerLine(label="", text="", private=each).private for each in (True, False)]
    assert marks == ["keeps it private", ""]
