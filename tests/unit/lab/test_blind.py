"""The blind interview of several simulations, and the rankings of its readers."""

from __future__ import annotations

import csv
import json
import re

import pytest

from keepsake.errors import KeepsakeError
from keepsake.lab.simulations.blind import (
    ANSWERS,
    COLUMNS,
    KEY,
    NO_ANSWER,
    PAGE,
    RANKING,
    SHEET,
    BlindInterview,
)
from keepsake.lab.simulations.interview import KINDS
from keepsake.lab.simulations.measured import MeasuredSimulation
from keepsake.lab.simulations.page import write_blind_page, write_page
from keepsake.lab.simulations.ratings import rate, read_rankings
from tests.unit.lab.made_village import MadeVillage

CAST = ("Bram", "Joss", "Mira", "Nell", "Oswin", "Ruan", "Wren")
CONDITIONS = ("full", "no-plans", "no-reflection", "no-memory")


def lived(name, cast=CAST):
    """Return a simulation whose agents answer two questions of each kind."""
    village = MadeVillage(*cast, name=name)
    village.say("Bram", f"A word of {len(name)} letters.", ["Mira"], to="Mira")
    village.say("Bram", "The key is under the mat.", ["Mira"], to="Mira", whisper=True)
    for agent in cast:
        for kind in KINDS:
            for number in (1, 2):
                village.answer(agent, kind, number, f"{agent} {kind} {number} {hash_of(name)}")
        village.answer(agent, "item", 1, "No.", item="bonfire")
    return village


def hash_of(name):
    """Return words that tell the simulations apart, and not to a reader."""
    return "abcdefgh"[CONDITIONS.index(name)] * 3 if name in CONDITIONS else name


@pytest.fixture(scope="module")
def interview():
    return BlindInterview.of([lived(name).record() for name in CONDITIONS])


def test_each_agent_and_kind_is_a_sheet_with_all_answers_under_letters(interview):
    assert len(interview.sheets) == 7 * 5
    sheet = interview.sheets[1]
    assert (sheet.id, len(sheet.questions)) == ("Bram memory", 2)
    assert sheet.questions[0].question == "memory 1?"
    letters = interview.letters["Bram"]
    assert sorted(letters) == ["A", "B", "C", "D"]
    assert sorted(letters.values()) == sorted(CONDITIONS)
    for letter, name in letters.items():
        assert sheet.questions[0].answers[letter] == f"Bram memory 1 {hash_of(name)}"
    orders = {tuple(own.values()) for own in interview.letters.values()}
    assert len(orders) > 1, "each agent has letters of its own"


def test_the_letters_depend_on_the_answers_and_not_on_chance(interview):
    again = BlindInterview.of([lived(name).record() for name in CONDITIONS])
    assert (again.letters, again.digest) == (interview.letters, interview.digest)
    turned = BlindInterview.of([lived(name).record() for name in reversed(CONDITIONS)])
    assert (turned.letters, turned.digest) == (interview.letters, interview.digest)
    assert turned.names == CONDITIONS[::-1]
    other = [lived(name) for name in CONDITIONS]
    other[0].answers[0]["words"] = "Something else."
    assert BlindInterview.of([each.record() for each in other]).digest != interview.digest


def test_the_page_for_readers_does_not_say_which_is_which(interview, tmp_path):
    write_blind_page(interview, tmp_path)
    interview.write_key(tmp_path)
    page = (tmp_path / PAGE).read_text()
    for name in CONDITIONS:
        assert name not in page
    assert "item" not in page
    assert "A word of" in page, "a reader sees what happened"
    assert "under the mat" not in page
    key = json.loads((tmp_path / KEY).read_text())
    assert key == {ANSWERS: interview.digest, "letters": interview.letters}


def test_missing_answers_are_shown_and_agents_who_were_not_asked_are_left_out():
    one, other = (lived(name) for name in CONDITIONS[:2])
    one.answers = [each for each in one.answers if each["agent"] != "Wren"]
    one.answers[0]["words"] = ""
    found = BlindInterview.of([one.record(), other.record()])
    assert found.left_out == ("Wren",)
    assert NO_ANSWER in found.sheets[0].questions[0].answers.values()
    with pytest.raises(KeepsakeError, match="two or more"):
        BlindInterview.of([one.record()])


# -- rankings


def fill(interview, folder, reader, ranked):
    """Fill in a form; ``ranked`` returns the ranking of a sheet. Return its path."""
    interview.write_key(folder)
    with (folder / interview.form).open(newline="") as file:
        rows = list(csv.DictReader(file))
    sheets = {sheet.id: sheet for sheet in interview.sheets}
    path = folder / f"{reader}.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in rows:
            writer.writerow({**row, RANKING: ranked(sheets[row[SHEET]])})
    return path


def by_condition(interview, order):
    """Return rankings by the true conditions, best first; a tuple in the order is a tie."""

    def ranked(sheet):
        letters = {name: letter for letter, name in interview.letters[sheet.agent].items()}
        places = (each if isinstance(each, tuple) else (each,) for each in order)
        return " ".join("=".join(letters[name] for name in place) for place in places)

    return ranked


def test_two_readers_who_agree_put_the_full_one_first(interview, tmp_path):
    forms = [
        fill(interview, tmp_path, reader, by_condition(interview, CONDITIONS))
        for reader in ("anna", "ben")
    ]
    found = rate(interview, read_rankings(interview, forms))
    assert [each.simulation for each in found.all] == list(CONDITIONS)
    first = found.all[0]
    assert (first.rank.mean, first.first) == (1.0, 1.0)
    assert found.agreement == pytest.approx(1.0)
    assert set(found.by_reader) == {"anna", "ben"}
    assert found.left_out == {"anna": 0, "ben": 0}
    pairs = [(each.first, each.second, each.found.mean) for each in found.pairs]
    assert pairs == [("full", name, -place) for place, name in enumerate(CONDITIONS[1:], start=1)]
    assert all(each.significant for each in found.pairs)


def test_ties_share_their_ranks_and_sheets_may_be_left_out(interview, tmp_path):
    ranked = by_condition(interview, (CONDITIONS[:2], *CONDITIONS[2:]))
    path = fill(
        interview, tmp_path, "anna", lambda sheet: ranked(sheet) if sheet.agent == "Mira" else ""
    )
    found = rate(interview, read_rankings(interview, [path]))
    ranks = {each.simulation: each.rank.mean for each in found.all}
    assert ranks == {"full": 1.5, "no-plans": 1.5, "no-reflection": 3.0, "no-memory": 4.0}
    assert found.left_out == {"anna": 30}
    assert found.agreement is None
    assert {pair.p for pair in found.pairs} == {None}, "one agent is too few for a p value"
    assert not any(pair.significant for pair in found.pairs)


def test_readers_who_disagree_have_no_agreement(interview, tmp_path):
    orders = (CONDITIONS, CONDITIONS[::-1])
    forms = [
        fill(interview, tmp_path, reader, by_condition(interview, order))
        for reader, order in zip(("anna", "ben"), orders, strict=True)
    ]
    found = rate(interview, read_rankings(interview, forms))
    assert found.agreement == pytest.approx(-1.0)
    assert {each.rank.mean for each in found.all} == {2.5}


@pytest.mark.parametrize("text", ["A B C", "A B C D E", "A B C C", "A B C X", "first A then B"])
def test_a_ranking_that_is_none_says_how_to_write_one(interview, tmp_path, text):
    path = fill(interview, tmp_path, "anna", lambda _: text)
    with pytest.raises(KeepsakeError, match=r"sheet 'Bram itself'.*best first: A B C D"):
        read_rankings(interview, [path])


@pytest.mark.parametrize("text", ["b a d c", "B > A > D > C", "B,A,D,C", " B A = D  C"])
def test_rankings_may_be_written_in_many_ways(interview, tmp_path, text):
    path = fill(interview, tmp_path, "anna", lambda _: text)
    assert len(read_rankings(interview, [path])) == 35


def test_a_form_of_other_answers_is_refused_and_a_filled_form_is_kept(interview, tmp_path):
    other = BlindInterview.of([lived(name).record() for name in CONDITIONS[:2]])
    path = fill(other, tmp_path, "anna", by_condition(other, CONDITIONS[:2]))
    with pytest.raises(KeepsakeError, match=f"Copy {re.escape(interview.form)}"):
        read_rankings(interview, [path])
    form = tmp_path / other.form
    form.write_text("filled in")
    other.write_key(tmp_path)
    assert form.read_text() == "filled in"
    with pytest.raises(KeepsakeError, match="No sheet was ranked"):
        rate(interview, [])
    with pytest.raises(KeepsakeError, match="one name"):
        read_rankings(interview, [path, path])
    with pytest.raises(KeepsakeError, match="cannot be read"):
        read_rankings(interview, [tmp_path / "nobody.csv"])


def test_the_page_of_measures_has_the_ratings(interview, tmp_path):
    records = [lived(name).record() for name in CONDITIONS]
    measured = [MeasuredSimulation.of(record) for record in records]
    write_page(measured, tmp_path, "keepsake measure …", interview, None)
    assert "Nobody has ranked it yet" in (tmp_path / "measures.html").read_text()
    path = fill(interview, tmp_path, "anna", by_condition(interview, CONDITIONS))
    ratings = rate(interview, read_rankings(interview, [path]))
    write_page(measured, tmp_path, "keepsake measure …", interview, ratings)
    page = (tmp_path / "measures.html").read_text()
    assert "<th>anna</th>" in page
    assert "1.00 (1.00–1.00)" in page
