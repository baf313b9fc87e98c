"""What a text asks for: words, names, times."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keepsake.index.conversation import moment
from keepsake.language.times import spans, tells_when, without_times
from keepsake.recall.query import read

DATA = Path(__file__).parents[1] / "data"
NOW = datetime(2026, 5, 14, 18, 30, tzinfo=UTC)  # a Thursday
NAMES = ["Tom", "Mira", "The Kettle", "Withy Hythe"]


def dates(text: str) -> list[tuple[str, str]]:
    """First and last day of each time in the text."""
    return [(f"{s.start:%Y-%m-%d}", f"{s.end:%Y-%m-%d}") for s in spans(text, NOW)]


@pytest.mark.parametrize(
    ("text", "first", "after"),
    [
        ("on 8 May 2023", "2023-05-08", "2023-05-09"),
        ("8 May, 2023", "2023-05-08", "2023-05-09"),
        ("May 8th, 2023", "2023-05-08", "2023-05-09"),
        ("the 8th of May", "2026-05-08", "2026-05-09"),
        ("on 20 May", "2025-05-20", "2025-05-21"),
        ("2023-12-31", "2023-12-31", "2024-01-01"),
        ("in May", "2026-05-01", "2026-06-01"),
        ("in June", "2025-06-01", "2025-07-01"),
        ("February 2024", "2024-02-01", "2024-03-01"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("yesterday", "2026-05-13", "2026-05-14"),
        ("the day before yesterday", "2026-05-12", "2026-05-13"),
        ("last night", "2026-05-13", "2026-05-14"),
        ("this morning", "2026-05-14", "2026-05-15"),
        ("last week", "2026-05-04", "2026-05-11"),
        ("this week", "2026-05-11", "2026-05-18"),
        ("last weekend", "2026-05-09", "2026-05-11"),
        ("last month", "2026-04-01", "2026-05-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last Thursday", "2026-05-07", "2026-05-08"),
        ("on Tuesday", "2026-05-12", "2026-05-13"),
        ("three days ago", "2026-05-11", "2026-05-12"),
        ("a week ago", "2026-05-04", "2026-05-11"),
    ],
)
def test_a_time_is_read_from_the_clock(text, first, after):
    assert dates(f"What did Tom say {text}?") == [(first, after)]


@pytest.mark.parametrize(
    "text",
    ["May I come in?", "You may.", "31 June", "2023-02-30", "She marched on.", "in 3 days", ""],
)
def test_what_is_no_time_is_none(text):
    assert dates(text) == []


def test_the_29th_of_february_without_a_year_does_no_harm():
    assert dates("on 29 February") == []


def test_several_times_are_all_read_and_can_be_taken_out():
    text = "Did Tom come last week or on 3 May?"
    assert len(dates(text)) == 2
    assert without_times(text).split() == ["Did", "Tom", "come", "or", "on", "?"]


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:09 am on 13 September, 2023", datetime(2023, 9, 13, 0, 9, tzinfo=UTC)),
        ("2023-05-08T10:00:00+00:00", datetime(2023, 5, 8, 10, tzinfo=UTC)),
        ("2023-05-08 10:00", datetime(2023, 5, 8, 10, tzinfo=UTC)),
        ("8 May 2023", datetime(2023, 5, 8, tzinfo=UTC)),
        ("once upon a time", None),
        ("", None),
    ],
)
def test_the_time_of_a_turn_is_read(text, time):
    assert moment(text, NOW) == time


@pytest.mark.parametrize(
    "text",
    [
        "I went yesterday.",
        "It was three weeks ago.",
        "She lands on the twenty-fourth.",
        "Pay me by the 3rd.",
        "I rest each Sunday.",
        "I begin in September.",
        "He sold it last spring.",
        "We are off tomorrow.",
    ],
)
def test_a_text_tells_when(text):
    assert tells_when(text)


@pytest.mark.parametrize(("name", "share"), [("hythe", 0.530), ("two_friends", 0.581)])
def test_what_tells_when_in_talk_that_it_was_not_made_for(name, share):
    data = json.loads((DATA / f"recall_{name}.json").read_text(encoding="utf-8"))
    texts = [turn[part] for turn in data["turns"] for part in ("text", "time")]
    assert sum(map(tells_when, texts)) / len(texts) == pytest.approx(share, abs=0.001)


@pytest.mark.parametrize(
    "text",
    [
        "We may go, and he marched.",
        "The second one is blue.",
        "My first one, in a week of rain!",
        "I sat by the spring.",
        "She hangs it on the hearth.",
        "He rows until the north wind.",
        "Someone in Augusta sold it.",
        "",
    ],
)
def test_a_text_that_tells_no_time_does_not(text):
    assert not tells_when(text)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("When did Tom sell his boat?", True),
        ("By when must Mira be gone?", True),
        ("On what date was the letter read?", True),
        ("How long ago was the storm?", True),
        ("What did Tom say when the boat sank?", False),
        ("Where was Tom last week?", False),
    ],
)
def test_a_question_for_a_time_is_known(text, asks):
    assert read(text, NAMES, NOW).when is asks


def test_an_unknown_name_is_left_out_of_a_second_reading():
    question = read("What did Tom give to Ottilie's aunt? Why did I?", NAMES, NOW)
    assert question.meaning == ("What did I give to Ottilie's aunt? Why did I?",)
    assert question.nameless == ("What did I give to aunt? Why did I?",)
    assert read("What did Tom give to his aunt?", NAMES, NOW).nameless == ()


def test_names_are_known_apart_from_words():
    question = read("What did Tom's brother eat at the Kettle in Ostrey?", NAMES, NOW)
    assert set(question.names) == {"tom", "the kettle"}
    assert question.terms == ("brother", "eat", "ostrey")
    assert question.meaning == ("What did my brother eat at in Ostrey?",)


def test_what_is_embedded_is_what_the_person_would_say_of_himself():
    meant = read("When did Tom meet Mira's aunt with Tom?", NAMES, NOW).meaning
    assert meant == ("When did I meet my aunt with?",)


def test_what_was_said_nearby_is_embedded_line_by_line_as_it_was_said():
    scene = "Tom: Has Ottilie seen my cup?\nMira: Ask Tom.\nThe cat yawns.\nThe Kettle\nTom"
    question = read(scene, NAMES, NOW)
    assert question.meaning == ("Has Ottilie seen my cup?", "Ask I.", "The cat yawns.")
    assert question.nameless == ("Has seen my cup?",)
    assert set(question.names) == {"tom", "mira", "the kettle"}
    assert read("The Kettle\nTom", NAMES, NOW).meaning == ("I I",)


def test_a_name_inside_a_word_is_not_that_name():
    assert read("Where are the tomatoes?", NAMES, NOW).names == ()


def test_a_question_of_names_alone_still_means_something():
    question = read("Tom?", NAMES, NOW)
    assert question.terms == ()
    assert question.meaning == ("I?",)


def test_a_date_is_a_time_and_no_word():
    assert read("What did Tom sell on 8 May 2023?", NAMES, NOW).terms == ("sell",)


def test_a_long_scene_asks_for_a_bounded_number_of_words():
    scene = " ".join(f"thing{n}" for n in range(500))
    assert len(read(scene, NAMES, NOW).terms) < 50
