"""Probes are planted and graded; what answers are worth, and how sure a mean is."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pytest
from typer.testing import CliRunner

from keepsake.archive.privacy import is_private
from keepsake.cli.app import app
from keepsake.lab.evaluating import Living
from keepsake.lab.measures import estimate
from keepsake.lab.memories.plain import FullContext
from keepsake.lab.probes import KEPT, id_of, probe_trials
from keepsake.lab.trial import (
    NOT_KNOWN,
    TrialQuestion,
    exact_match,
    matches,
    rouge_l,
    scores,
    token_f1,
)
from keepsake.memory.protocol import RecalledLine, Surroundings
from keepsake.ports import FixedClock

(QUIET, BUSY) = probe_trials(7)


@pytest.mark.parametrize("trial", [QUIET, BUSY], ids=lambda trial: trial.name)
def test_what_is_asked_for_was_said_once_before_it_is_asked(trial):
    told = {memory.number: memory for memory in trial.memories}
    assert trial in probe_trials(7)
    assert trial.memories not in [each.memories for each in probe_trials(8)]
    for question in trial.questions:
        if not question.answerable:
            continue
        (number,) = question.evidence
        having = [m.number for m in trial.memories if matches(question.right, m.text)]
        assert having == [number], question.id
        assert question.time - told[number].time == question.delay
        assert not matches(question.wrong, told[number].text)


def asked_of(memory, limit):
    clock = FixedClock(QUIET.memories[0].time)
    given = Surroundings(agent=QUIET.agent, folder=None, clock=clock)
    return list(Living(QUIET, memory(given), clock, given, limit).ask_all())


class Remembers(FullContext):
    """Recalls every line there is, whoever asks."""

    def recall(self, question, limit):
        return [RecalledLine(text, (number,)) for number, text in self._lines.items()]


def test_a_whisper_is_recalled_for_the_two_of_it_and_kept_from_others():
    askings = asked_of(Remembers, 10_000)
    whispers = {m.number for m in QUIET.memories if is_private(m)}
    assert whispers
    for asking in askings:
        own = whispers & set(asking.found)
        if asking.question.kind == KEPT:
            assert not own
        elif asking.question.kind == "secret":
            assert asking.question.evidence <= own
            assert asking.question.audience == {id_of(asking.question.asker)}


def test_the_command_shows_curves_and_writes_each_question(tmp_path):
    told = tmp_path / "probes.json"
    line = ["eval", "probes", "--memory", "sliding-window", "--load", "30", "--kinds"]
    result = CliRunner().invoke(app, [*line, "--json", str(told)])
    assert result.exit_code == 0, result.output
    assert "after a week" in result.output
    assert "overheard" in result.output
    (cell,) = json.loads(told.read_text())["cells"]
    assert {row["load"] for row in cell["rows"]} == {30}


def asked(**fields):
    return TrialQuestion("1", "What?", datetime(2026, 5, 4, tzinfo=UTC), **fields)


@pytest.mark.parametrize(
    ("answer", "right", "f1", "exact", "rouge"),
    [
        ("The electric kiln.", "an electric kiln", 1, 1, 1),
        ("kiln, electric", "electric kiln", 1, 1, 0.5),
        ("a blue electric kiln", "electric kiln", 0.8, 0, 0.8),
        ("7 May 2023", "May 7, 2023", 1, 1, 2 / 3),
        ("salt and pepper", "pepper", 2 / 3, 0, 2 / 3),
        ("", "kiln", 0, 0, 0),
        ("kiln", "boat", 0, 0, 0),
    ],
)
def test_words_are_compared_as_the_benchmarks_do(answer, right, f1, exact, rouge):
    assert token_f1(answer, right) == pytest.approx(f1)
    assert exact_match(answer, right) == exact
    assert rouge_l(answer, right) == pytest.approx(rouge)


def test_where_nothing_can_be_known_saying_so_is_right():
    trick = asked(answerable=False)
    assert scores(trick, NOT_KNOWN) == {"f1": 1, "exact": 1, "rouge_l": 1}
    assert scores(trick, "It is not mentioned: I don’t know.")["f1"] == 1
    assert scores(trick, "six bowls") == {"f1": 0, "exact": 0, "rouge_l": 0}
    secret = asked(answerable=False, right=(".",), wrong=(r"\bWinnow\b",))
    assert scores(secret, "Ask her yourself.") == {"right": 1}
    assert scores(secret, "Her boat is the winnow.") == {"right": 0}


def test_patterns_decide_where_there_are_some_and_the_best_of_several_answers_counts():
    changed = asked(answers=("Tuesday",), right=(r"\btuesday\b",), wrong=(r"\bmonday\b",))
    assert scores(changed, "On Tuesday")["right"] == 1
    assert scores(changed, "On Monday, no, Tuesday")["right"] == 0
    best = scores(asked(answers=("a dog", "Biscuit")), "Biscuit")
    assert best == {"f1": 1, "exact": 1, "rouge_l": 1}


# -- intervals


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    chance = np.random.default_rng(1)
    held = sum(
        each.low <= 0.4 <= each.high
        for each in (estimate((chance.random(60) < 0.4).astype(float)) for _ in range(300))
    )
    assert 0.90 <= held / 300 <= 0.99
