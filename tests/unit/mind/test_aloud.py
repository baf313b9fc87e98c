"""What was said aloud that asks for a private plan or promise: all that others know of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from keepsake.agent.plans.past_plans import plans_at
from keepsake.archive.log import Archive
from keepsake.archive.privacy import NO_PRIVATE_WORDS
from keepsake.books.aloud import LONGEST_ALOUD, Aloud
from keepsake.books.kept_lines import Commitment, CommitmentKind, Commitments
from keepsake.books.plan import Plan
from keepsake.books.plan_lines import line_of, plan_of, read_plan
from keepsake.happening import Person

NOW = datetime(2026, 11, 28, 20, 5, tzinfo=UTC)
TOM = Person("Tom", "12-20261101090000")
BRAM = Person("Bram", "13-20261101090000")
JOSS = Person("Joss", "14-20261101090000")
PEOPLE = (TOM, BRAM, JOSS)
PLACES = ("The Quay", "The Mill")


def asked(words: str) -> Aloud:
    return Aloud.of(7, f'Tom says to you, "{words}"')


def planned(text: str, words: str) -> Plan:
    """Return the private plan that an agent makes, alone with Tom, after these words of his."""
    read = read_plan(text, NOW, PLACES, PEOPLE, "The Kettle")
    plan = replace(read, number=3, since=9, private=frozenset({TOM.id}))
    return plan.with_aloud(asked(words), PEOPLE)


@pytest.mark.parametrize(
    ("text", "words", "is_enough"),
    [
        ("now, the Quay, Bram: ask him for honey", "Ask Bram at the quay for honey.", True),
        ("now, the Quay, Bram: ask him for honey", "Ask Bram for honey.", True),
        ("ask Bram for honey; bring it to Joss", "Get honey of Bram for Joss.", True),
        ("now, Bram: say that Joss forged it", "Ask Bram for honey.", False),
        ("now, Bram: tell him all", "You know what to do.", False),
        ("tomorrow 00:00, the Mill, Tom: meet him", "You will come, will you?", False),
        ("tomorrow noon, the Mill, Tom: meet him", "Come to the mill at noon.", True),
        ("in 9 minutes: burn the seal", "You know what to do.", False),
        ("now, Bramble: ask her", "Ask Bram.", False),
    ],
)
def test_what_was_said_aloud_is_enough_if_it_names_to_whom_or_where_a_plan_leads(
    text, words, is_enough
):
    assert (planned(text, words).aloud is not None) is is_enough


def test_others_know_of_a_plan_what_was_said_aloud_and_nothing_else():
    plan = planned("tomorrow 00:07, the Mill, Bram: ask him for the forged seal", "Ask Bram.")
    assert plan.as_known_to({TOM.id}) is plan
    for audience in (NO_PRIVATE_WORDS, {BRAM.id}, {TOM.id, BRAM.id}):
        known = plan.as_known_to(audience)
        assert known.line == "with Bram: what was asked for: Tom says to you, 'Ask Bram.'"
        assert (known.number, known.since, known.private, known.when) == (3, 7, None, None)


def test_others_know_nothing_of_a_plan_that_was_not_asked_for_aloud():
    plan = planned("in 9 minutes: burn the seal", "You know what to do.")
    assert plan.as_known_to({BRAM.id}) is None
    assert plan.as_known_to(NO_PRIVATE_WORDS) is None


@pytest.mark.parametrize(
    "words",
    [
        "Ask Bram (the old one) for honey.",
        'Ask Bram: "honey"? (plan 9, memory 2)',
        "Ask Bram for honey; done) - [ ] now: dig",
        "Ask Bram. <|im_end|> ~Mira> # Honey",
        f"Ask Bram. {'honey ' * 200}",
        "问 Bram 要蜂蜜。",
    ],
)
def test_a_plan_with_what_was_said_aloud_is_read_as_it_was_written(words):
    plan = planned("now, the Quay, Bram: ask him", words)
    assert plan.aloud is not None
    assert len(plan.aloud.line) <= LONGEST_ALOUD
    assert plan_of(line_of(plan), NOW) == plan
    ended = replace(plan, why="he had none")
    assert plan_of(line_of(ended), NOW) == ended


def test_a_promise_is_shown_to_others_as_it_was_asked_for(tmp_path):
    book = Commitments(tmp_path / "noticed.md")
    aloud = asked("Will you keep me a (big) loaf?")
    kind = CommitmentKind.PROMISE
    promise = Commitment(kind, "Tom", "a loaf for the forger", 9, TOM.id, aloud)
    book.add(promise)
    again = Commitments(book.path)
    assert again.items == (promise,)

    def shown(item: Commitment) -> Commitment | None:
        return item.as_known_to(lambda number: number != 9)

    public = (
        "You promised Tom: what was asked for: Tom says to you, 'Will you keep me a (big) loaf?'"
    )
    assert again.lines(8, lambda number: number != 9) == (f"{public} (memory 7)",)
    assert again.lines(10) == ("You promised Tom: a loaf for the forger (memory 9)",)
    assert again.lines(8) == (), "the window shows it"
    assert again.find("7", shown) == promise
    assert again.find("loaf", shown) == promise


@pytest.mark.parametrize(
    ("words", "privacy"),
    [
        ("Ask Bram for honey.", "keeps it private, and was asked aloud"),
        ("You know what to do.", "keeps it private"),
    ],
)
def test_the_archive_knows_of_a_plan_that_it_was_asked_for_aloud_too(tmp_path, words, privacy):
    plan = planned("now, Bram: ask him for honey", words)
    archive = Archive(tmp_path)
    archive.append(plan.to_record("made", NOW))
    (past,) = plans_at(archive, NOW).values()
    archive.close()
    assert (past.privacy, past.private) == (privacy, True)
