"""Plans: what an agent means to do, as lines that people and the game both edit."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.books.plan import GRACE, Plan, PlanState
from keepsake.books.plan_lines import LONGEST_PLAN, read_plan
from keepsake.books.plans import MOST_OPEN, PlanBook
from keepsake.errors import NoteRefused
from keepsake.happening import Person
from keepsake.language.when import When, read_when

NOW = datetime(2026, 11, 28, 20, 5, tzinfo=UTC)
NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
ANNEKE = Person("Anneke", "12-20261101090000")
PLACES = ("The Quay", "The Kettle")


@pytest.fixture
def book(tmp_path):
    records = []
    made = PlanBook(tmp_path / "plans.md", record=records.append, now=lambda: NOW)
    made.records = records
    return made


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("tomorrow 12:00", When(at=NOON)),
        ("tomorrow noon", When(at=NOON)),
        ("2026-11-29 12:00", When(at=NOON)),
        ("in 3 minutes", When(at=NOW + timedelta(minutes=3))),
        ("in half an hour", When(at=NOW + timedelta(minutes=30))),
        ("20:20", When(at=NOW.replace(hour=20, minute=20))),
        ("7:00", When(at=NOW.replace(hour=7, minute=0) + timedelta(days=1))),
        ("Sunday evening", When(at=NOON.replace(hour=19))),
        ("when Anneke comes", When(meeting="Anneke")),
        ("when I next see Old Tom", When(meeting="Old Tom")),
        ("when Anneke comes in from The Quay", When(meeting="Anneke")),
        ("once Bob is back with the honey", When(meeting="Bob")),
        ("when the bell rings", When(after="when the bell rings")),
        ("when Anneke has gone", When(leaving="Anneke")),
        ("once Old Tom leaves for The Quay", When(leaving="Old Tom")),
        ("after that", When(after="after that")),
        ("May", None),
        ("the Quay", None),
        ("", None),
    ],
)
def test_times_as_a_model_writes_them_are_read(text, when):
    assert read_when(text, NOW) == when


@pytest.mark.parametrize(
    ("text", "day", "hour"),
    [
        ("at six", 1, 6),
        ("by six", 1, 6),
        ("morning", 1, 9),
        ("tonight at eleven", 30, 23),
        ("six in the evening", 1, 18),
    ],
)
def test_on_the_last_day_of_a_month_the_next_hour_is_in_the_next_one(text, day, hour):
    now = datetime(2026, 11, 30, 22, 5, tzinfo=UTC)
    read = read_when(text, now)
    assert read is not None
    assert read.at is not None
    assert (read.at.month, read.at.day, read.at.hour) == (12 if day == 1 else 11, day, hour)


@pytest.mark.parametrize(
    "text",
    [
        "30 February 12:00: sow",
        "2026-02-30 12:00: sow",
        "25:00: sow",
        "30 February 12:00, the Quay: sow",
        "the Quay, at 25:00, Anneke: sow",
    ],
)
def test_a_time_that_does_not_exist_is_refused_with_one_that_does(text):
    with pytest.raises(NoteRefused, match="is no day and hour of the calendar") as refused:
        read_plan(text, NOW, PLACES, [ANNEKE])
    assert "tomorrow 12:00" in str(refused.value)


def test_a_line_in_the_file_with_such_a_time_is_no_plan_and_the_log_says_so(book, caplog):
    book.path.write_text("- [ ] 2026-02-30 12:00: sow\n- [ ] mend the net\n", encoding="utf-8")
    assert [each.what for each in book.items] == ["mend the net"]
    book.adopt()
    told = [each for each in caplog.messages if "2026-02-30 12:00" in each]
    assert len(told) == 1
    assert "- [ ] 2026-02-30 12:00: sow" in book.path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        (
            "tomorrow 12:00, the Quay, Anneke: show her the ferry",
            Plan(what="show her the ferry", when=When(at=NOON), where="The Quay", whom=ANNEKE),
        ),
        (
            "when Anneke comes: give her the letter",
            Plan(what="give her the letter", when=When(meeting="Anneke"), whom=ANNEKE),
        ),
        ("Anneke: ask after the loft", Plan(what="ask after the loft", whom=ANNEKE)),
        (
            "tomorrow 12:00, Anneke, anneke: visit her",
            Plan(what="visit her", when=When(at=NOON), whom=ANNEKE),
        ),
        (
            "tomorrow 12:00, the Quay, Oswin and Hector to Bob: show them the page",
            Plan(
                what="show them the page",
                when=When(at=NOON),
                where="The Quay",
                whom=Person("Oswin and Hector to Bob"),
            ),
        ),
        ("mend the net", Plan(what="mend the net")),
        ("tell Mira: the tide is in", Plan(what="tell Mira: the tide is in")),
        ("30 apples: buy them", Plan(what="30 apples: buy them")),
        ("odds of 3:15, he says: laugh", Plan(what="odds of 3:15, he says: laugh")),
        (
            "at the Kettle, with Anneke: eat soup",
            Plan(what="eat soup", where="The Kettle", whom=ANNEKE),
        ),
    ],
)
def test_a_plan_says_when_where_and_with_whom(text, plan):
    assert read_plan(text, NOW, PLACES, [ANNEKE]) == plan


@pytest.mark.parametrize(
    "text",
    ["tomorrow 12:00, here, Anneke: eat soup", "tomorrow 12:00, Here, with Anneke: eat soup"],
)
def test_here_is_the_place_where_the_agent_is(text):
    plan = Plan(what="eat soup", when=When(at=NOON), where="The Kettle", whom=ANNEKE)
    assert read_plan(text, NOW, PLACES, [ANNEKE], here="The Kettle") == plan


@pytest.mark.parametrize(
    "guests", ["Anneke, Old Tom", "Anneke and Old Tom", "with Anneke & Old Tom"]
)
def test_a_plan_with_two_people_is_with_the_first_and_names_the_other(guests):
    tom = Person("Old Tom", "9-20261101090000")
    people = [Person("Tom", "8-20261101090000"), tom, ANNEKE]
    plan = read_plan(f"tomorrow 12:00, the Quay, {guests}: eat soup", NOW, PLACES, people)
    assert (plan.whom, plan.what, plan.where) == (ANNEKE, "eat soup, with Old Tom", "The Quay")


@pytest.mark.parametrize("people", [(), (Person("Oswin", "3-20261101090000"),)])
def test_a_place_that_is_called_otherwise_does_not_keep_a_plan_from_being_made(people):
    plan = read_plan("now, Oswin's clock shop, Oswin: ask him the hour", NOW, PLACES, people)
    assert plan.when is not None
    assert plan.whom is not None
    assert "Oswin" in plan.whom.name
    assert "ask him the hour" in plan.what


def test_a_part_that_is_neither_a_place_nor_a_person_stays_in_the_words_of_a_plan():
    plan = read_plan("tomorrow 12:00, the Quay, Anneke, for the rope: go", NOW, PLACES, [ANNEKE])
    assert (plan.whom, plan.where, plan.what) == (ANNEKE, "The Quay", "go, for the rope")


def test_a_plan_without_words_says_how_to_write_one():
    with pytest.raises(NoteRefused, match="Write: plan tomorrow"):
        read_plan("tomorrow 12:00: .", NOW)


def test_plans_are_numbered_written_and_read_back(book):
    meet = read_plan("tomorrow 12:00, the Quay, Anneke: show her the ferry", NOW, PLACES, [ANNEKE])
    made = book.add(meet)
    secret = book.add(Plan(what="hide the key", private=frozenset({ANNEKE.id}), since=7))
    assert book.path.read_text().splitlines() == [
        "- [ ] 2026-11-29 12:00, at The Quay, with Anneke: show her the ferry"
        " (plan 1, by 12-20261101090000)",
        "- [ ] hide the key (plan 2, memory 7, only for 12-20261101090000)",
    ]
    again = PlanBook(book.path, now=lambda: NOW)
    assert again.items == (made, secret)
    assert [record["change"] for record in book.records] == ["made", "made"]


def test_lines_of_the_game_are_read_without_the_slow_reader_of_phrases(book, monkeypatch):
    book.add(Plan(what="show the ferry", when=When(at=NOON), where="the Quay", whom=ANNEKE))
    text = book.path.read_text()
    monkeypatch.setitem(sys.modules, "dateparser", None)  # now its import fails
    book.path.write_text(f"{text}\n")
    (read,) = book.items
    assert (read.at, read.where, read.whom) == (NOON, "the Quay", ANNEKE)


@pytest.mark.parametrize("whom", [ANNEKE, None])
def test_a_place_with_a_comma_is_read_back(book, whom):
    when = When(at=NOON)
    made = book.add(Plan(what="wind it: slowly", when=when, where="Hale, Clocks Mended", whom=whom))
    assert PlanBook(book.path, now=lambda: NOW).current == (made,)


def test_a_state_changes_in_its_line_and_other_text_stays(book):
    book.path.write_text("# What Mira means to do\n\n- [ ] sweep the floor\n\nA remark.\n")
    (plan,) = book.items
    book.set_state(plan, PlanState.DROPPED, why="it is clean (now)")
    assert "A remark." in book.path.read_text()
    assert "- [-] sweep the floor" in book.path.read_text()
    assert book.current == ()
    assert book.records[-1]["why"] == "it is clean now"


def test_what_a_person_writes_into_the_file_is_a_plan(book):
    book.path.write_text("- [ ] tomorrow noon, at the Quay, with Anneke: show her the ferry\n")
    (plan,) = book.adopt()
    assert (plan.number, plan.at, plan.where, plan.whom) == (1, NOON, "the Quay", Person("Anneke"))
    assert "2026-11-29 12:00" in book.path.read_text(), "tomorrow does not move on"
    assert book.current == (plan,)
    assert book.adopt() == []


def test_an_errand_of_three_steps_is_one_plan_and_a_longer_one_says_the_limit():
    errand = "ask Oswin on the Quay when the ferry comes tomorrow, and note his very words; "
    told = f"now: {errand}go to the Salt Pans and bid Wren good night from Anneke, who cannot come "
    told += "herself; then come back to the Kettle and tell Anneke what Oswin said"
    plan = read_plan(told, NOW)
    assert 200 < len(plan.what) < LONGEST_PLAN
    assert plan.line.endswith("what Oswin said")
    assert len(plan.told) < 120, "its result tells no more than how it was understood"
    with pytest.raises(NoteRefused, match="401 characters, and a plan at most 400") as refused:
        read_plan(f"now: {'x' * 401}", NOW)
    assert "two plans" in str(refused.value)


def test_the_same_plan_is_not_made_twice_and_there_are_not_too_many(book):
    book.add(Plan(what="mend the net"))
    with pytest.raises(NoteRefused, match="already"):
        book.add(Plan(what="Mend the net"))
    for number in range(1, MOST_OPEN):
        book.add(Plan(what=f"count to {number}"))
    with pytest.raises(NoteRefused, match="Drop one"):
        book.add(Plan(what="sing"))
    book.set_state(book.find("mend"), PlanState.DONE)
    assert book.add(Plan(what="sing")).number == MOST_OPEN + 1, "numbers are not used twice"


SUPPER = Plan(what="show her the ferry", when=When(at=NOON), where="The Quay", whom=ANNEKE)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"what": "with Anneke at the Quay"}, "show her the ferry"),
        ({"what": "show her the ferry", "where": ""}, "show her the ferry"),
        (
            {"what": "show her the ferry and the net", "whom": None},
            "show her the ferry and the net",
        ),
        ({"what": "bring bread"}, "show her the ferry; bring bread"),
        (
            {"what": "be at the Quay and show her the ferry", "where": "", "whom": None},
            "show her the ferry",
        ),
        (
            {"what": "meet Anneke about the watch", "where": "", "whom": None},
            "show her the ferry; meet Anneke about the watch",
        ),
        ({"what": "row", "when": When(at=NOON + GRACE)}, "show her the ferry; row"),
    ],
)
def test_a_plan_for_an_appointment_that_stands_is_joined_with_it(book, changed, what):
    made = book.add_or_join(SUPPER)
    joined = book.add_or_join(replace(SUPPER, **changed))
    assert joined == replace(made, what=what)
    assert PlanBook(book.path, now=lambda: NOW).current == (joined,)


@pytest.mark.parametrize(
    "changed",
    [
        {"when": When(at=NOON + 2 * GRACE)},
        {"where": "The Kettle"},
        {"whom": Person("Tom", "9-20261101090000")},
        {"what": "bake", "where": "", "whom": None},
        {"private": frozenset({ANNEKE.id})},
        {"when": None},
    ],
)
def test_a_plan_for_another_time_place_or_person_is_one_of_its_own(book, changed):
    book.add_or_join(SUPPER)
    assert book.add_or_join(replace(SUPPER, **{"what": "row", **changed})).number == 2


def test_a_plan_that_was_begun_is_joined_with_no_other(book):
    book.set_state(book.add_or_join(SUPPER), PlanState.DOING)
    assert book.add_or_join(replace(SUPPER, what="row")).number == 2


def test_a_plan_is_overdue_only_after_its_grace():
    plan = Plan(what="meet", when=When(at=NOON))
    assert not plan.is_overdue(NOON + GRACE)
    assert plan.is_overdue(NOON + GRACE + timedelta(seconds=1))
    assert not Plan(what="meet").is_overdue(NOON)


def test_who_is_waited_for_is_known_by_identity():
    plan = read_plan("when Anneke comes: give her the letter", NOW, (), [ANNEKE])
    renamed = Person("Anne", ANNEKE.id)
    namesake = Person("Anneke", "99-20261201000000")
    assert plan.is_met([renamed])
    assert not plan.is_met([namesake])


def test_a_state_that_a_person_edits_is_recorded(book):
    plan = book.add(Plan(what="bake"))
    book.record_changes(lambda: reversed(book.records))
    assert [line["change"] for line in book.records] == ["made"]
    text = book.path.read_text().replace("- [ ] bake", "- [x] bake")
    book.path.write_text(text)
    book.record_changes(lambda: ())
    assert [line["change"] for line in book.records] == ["made", "done"]
    assert book.records[-1]["id"] == plan.number


@pytest.mark.parametrize(
    ("line", "where", "whom", "what"),
    [
        ("tomorrow noon, the Quay, Anneke: show", "the Quay", ANNEKE, "show"),
        ("tomorrow noon, the Quay, with Anneke: show", "the Quay", ANNEKE, "show"),
        ("tomorrow noon, the Quay, Wim: show", "the Quay", Person("Wim"), "show"),
        ("tomorrow noon, at the Quay, Anneke: show", "the Quay", ANNEKE, "show"),
        ("tomorrow noon, Anneke: show", "", ANNEKE, "show"),
        ("Anneke: show", "", ANNEKE, "show"),
        ("Anneke, Joss: show", "", ANNEKE, "show, with Joss"),
        ("with Wim, with Joss: show", "", Person("Wim"), "show, with Joss"),
    ],
)
def test_a_line_by_hand_names_its_place_and_its_person_as_the_hint_does(
    tmp_path, line, where, whom, what
):
    people = [ANNEKE, Person("Joss", "13-20261101090000")]
    book = PlanBook(tmp_path / "plans.md", now=lambda: NOW, people=lambda: people)
    book.path.write_text(f"- [ ] {line}\n")
    (plan,) = book.adopt()
    assert (plan.where, plan.whom, plan.what) == (where, whom, what)
    (again,) = book.items
    assert (again.where, again.whom, again.what) == (where, whom, what)


def test_a_place_with_a_comma_is_named_without_it():
    plan = read_plan("Friday 11:00, Hale Clocks Mended, Ann: listen", NOW, ["Hale, Clocks Mended"])
    assert plan.where == "Hale, Clocks Mended"
    assert plan.whom == Person("Ann")


def test_what_a_longer_plan_says_again_is_not_told_twice():
    words = "tell Ruan from Sunniva that the lens breathes an F and the {} a D, half a chord"
    first = Plan(what=words.format("ferry's chain"), when=When(at=NOON))
    other = Plan(what=f"play draughts; {words.format('chain')}", when=When(at=NOON))
    assert first.joined_with(other).what == other.what
    soup = Plan(what="soup", when=When(at=NOON))
    assert soup.joined_with(replace(soup, what="bread")).what == "soup; bread"
