"""When a promise is due: what a phrase says, and what a text names."""

from __future__ import annotations

from datetime import date, datetime, time
from zoneinfo import ZoneInfo

import pytest

from keepsake.books.kept_lines import Commitment, CommitmentKind, Commitments
from keepsake.language.due import DueDay, due_by, due_in, read_due
from keepsake.prompt.verbs import VERBS
from keepsake.tasks.deed import Command, Options, read_deed

NOW = datetime(2026, 11, 30, 23, 18, tzinfo=ZoneInfo("Asia/Tokyo"))
TUESDAY = date(2026, 12, 1)
FRIDAY = date(2026, 12, 4)


@pytest.mark.parametrize(
    ("phrase", "due"),
    [
        ("tomorrow 9:00", DueDay(TUESDAY, time(9))),
        ("tomorrow at six", DueDay(TUESDAY, time(6))),
        ("tomorrow morning", DueDay(TUESDAY, part="morning")),
        ("tomorrow, before sunrise", DueDay(TUESDAY, part="sunrise")),
        ("tomorrow six", DueDay(TUESDAY, time(6))),
        ("tomorrow morning, from six", DueDay(TUESDAY, time(6))),
        ("Friday evening 7", DueDay(FRIDAY, time(19))),
        ("half past seven tomorrow evening", DueDay(TUESDAY, time(19, 30))),
        ("Friday noon", DueDay(FRIDAY, part="noon")),
        ("morgen um 9:00", DueDay(TUESDAY, time(9))),
        ("tomorrow before anybody is up", DueDay(TUESDAY)),
        ("Friday", DueDay(FRIDAY)),
        ("4 December", DueDay(FRIDAY)),
        ("2026-12-04 09:00", DueDay(FRIDAY, time(9))),
        ("in 4 days", DueDay(FRIDAY)),
        ("tonight", DueDay(NOW.date(), part="night")),
        ("from six", DueDay(TUESDAY, time(6))),
        ("today at 8 in the evening", DueDay(NOW.date(), time(20))),
        ("Friday 2 in the afternoon", DueDay(FRIDAY, time(14))),
        ("tomorrow 5pm", DueDay(TUESDAY, time(17))),
        ("at eleven at night", DueDay(TUESDAY, time(23))),
        ("the evening", DueDay(TUESDAY, part="evening")),
        ("when she comes", None),
        ("yesterday 9:00", None),
    ],
)
def test_what_is_said_of_a_promises_time_is_read_when_it_is_made(phrase, due):
    assert due_by(phrase, NOW) == due
    assert due is None or read_due(due.line) == due


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("be at my counter tomorrow morning when she comes", DueDay(TUESDAY, part="morning")),
        ("keep a bowl of soup warm on Friday night", DueDay(FRIDAY, part="night")),
        ("be here from six, green and all", DueDay(TUESDAY, time(6))),
        ("a loaf by tomorrow at half past seven in the evening", DueDay(TUESDAY, time(19, 30))),
        ("a song tonight", DueDay(NOW.date(), part="night")),
        ("ich bringe dir morgen ein Brot", DueDay(TUESDAY)),
        ("mend the lamp today", DueDay(NOW.date())),
        ("bake six tomorrow, from six cups of flour", DueDay(TUESDAY)),
        ("a song in the evening", None),
        ("a loaf", None),
        ("a loaf on Monday or Friday", None),
    ],
)
def test_the_words_of_a_promise_may_name_its_day_and_hour(text, due):
    assert due_in(text, NOW) == due


def test_a_promise_keeps_its_day_in_the_file_and_in_prompts(tmp_path):
    book = Commitments(tmp_path / "noticed.md")
    kind = CommitmentKind.PROMISE
    book.add(Commitment(kind, "Jonas", "a loaf tomorrow", 241, "12-2026", due=DueDay(TUESDAY)))
    book.add(Commitment(kind, "Ann", "soup", 242, due=DueDay(TUESDAY, time(9))))
    book.add(Commitment(kind, "Ann", "jam", 243, due=DueDay(FRIDAY, part="evening")))
    with book.path.open("a") as file:  # as a person may write it
        file.write("- promise to Tom: a lamp (for 2026-12-04)\n- promise to Nell: tea (for her)\n")
    assert "a loaf tomorrow (memory 241, for 2026-12-01, by 12-2026)" in book.path.read_text()
    again = Commitments(book.path)
    assert again.lines() == (
        "You promised Jonas, for 2026-12-01: a loaf tomorrow (memory 241)",
        "You promised Ann, for 2026-12-01 09:00: soup (memory 242)",
        "You promised Ann, for 2026-12-04 evening: jam (memory 243)",
        "You promised Tom, for 2026-12-04: a lamp",
        "You promised Nell: tea (for her)",
    )
    assert [each.due for each in again.items] == [
        DueDay(TUESDAY),
        DueDay(TUESDAY, time(9)),
        DueDay(FRIDAY, part="evening"),
        DueDay(FRIDAY),
        None,
    ]


@pytest.mark.parametrize(
    ("line", "to", "when", "words"),
    [
        ("promise Ann: a loaf", "Ann", "", "a loaf"),
        ("promise Ann, Friday 9:00: a loaf", "Ann", "Friday 9:00", "a loaf"),
        ("promise to Ann, Friday: a loaf: no walnuts", "Ann", "Friday", "a loaf: no walnuts"),
        ("promise Ann, a loaf at 9:00", "Ann", "", "a loaf at 9:00"),
        ("promise a bowl of soup", "", "", "a bowl of soup"),
    ],
)
def test_a_promise_may_be_given_a_time(line, to, when, words):
    read = read_deed(line, VERBS, Options(people=("Ann",)))
    assert isinstance(read, Command)
    assert (read.to, read.when, read.words) == (to, when, words)
