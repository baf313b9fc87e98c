"""What an agent said itself about tomorrow, whether it planned it or not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory
from keepsake.happening import ME, Person, Speech
from keepsake.language.day_names import names_day
from keepsake.web.questions.tomorrow import said_of_days

SUNDAY = date(2026, 11, 29)
MONDAY = SUNDAY + timedelta(days=1)


@pytest.mark.parametrize(
    ("text", "said", "named"),
    [
        ("And tomorrow I shall have to decide to.", SUNDAY, True),
        ("Tomorrow, then.", SUNDAY - timedelta(days=1), False),
        ("I come on Monday.", SUNDAY - timedelta(days=3), True),
        ("I come on Monday.", SUNDAY - timedelta(days=7), False),
        ("I come on Tuesday.", SUNDAY, False),
        ("Ich komme morgen mit dem Boot.", SUNDAY, True),
        ("Vengo mañana con el barco.", SUNDAY, True),
        ("明日行きます。", SUNDAY, True),
        ("The day is long.", SUNDAY, False),
    ],
)
def test_a_day_is_named_in_any_language(text, said, named):
    assert names_day(text, said, MONDAY) is named


def test_its_own_words_of_today_that_name_tomorrow_are_found_the_newest_first(tmp_path):
    now = datetime(2026, 11, 29, 12, tzinfo=UTC)
    archive = Archive(tmp_path / "archive")
    tom = Person("Tom", "t")
    words = (
        "I bake tomorrow.",
        "Tomorrow I rest.",
        "Must I wait for tomorrow?",
        "Tomorrow at six, green and all; will you dream in it?",
        "I sail tomorrow.",
    )
    for number, said in enumerate(words, 1):
        speaker = tom if number == len(words) else ME
        told = Speech(speaker=speaker, words=said)
        memory = Memory(number=number, time=now, what=told, place="The Quay")
        memory = replace(memory, time=now - timedelta(days=int(number == 1)))
        archive.append(memory.to_record())
    found = said_of_days(tmp_path, "Oswin", now, lambda moment: moment)
    archive.close()
    tomorrow = [each.words for each in found.tomorrow]
    assert tomorrow == [words[3], "Tomorrow I rest."], "what only asks binds nobody"
    # What it said yesterday of tomorrow is of today.
    assert [each.words for each in found.today] == ["I bake tomorrow."]
