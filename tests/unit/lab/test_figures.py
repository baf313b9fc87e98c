"""Probes, and the scores of answers and rankings."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
import yaml

from keepsake.lab.benchmarks import TrialQuestion
from keepsake.lab.estimates import by_question, clusters_of
from keepsake.lab.evaluate import Evaluation, evaluate
from keepsake.lab.intervals import mean_of
from keepsake.lab.measures import RANKING_MEASURES, occurs_in, ranking_scores, scores
from keepsake.lab.memories.plain import FullContext
from keepsake.lab.probes import probe_trials
from keepsake.lab.results import DELAYS, SourceResults
from keepsake.memory.protocol import RecalledLine
from keepsake.paths import REPOSITORY
from tests.sentences import table

TRIALS = probe_trials(7)
(QUIET, _) = TRIALS
PROBES = REPOSITORY / "keepsake" / "lab" / "probes.yaml"


@pytest.mark.parametrize("trial", [*TRIALS, *probe_trials(7, [20], held_out=True)])
def test_probe_answers_occur_only_in_evidence_that_the_agent_hears(trial):
    told = {memory.number: memory for memory in trial.memories}
    for asked in trial.questions:
        having = {m.number for m in trial.memories if occurs_in(asked.answers, [m.text])}
        assert having <= asked.evidence, asked.id
        assert bool(having) == asked.answerable == bool(asked.evidence)
        if asked.answerable:
            assert asked.time - max(told[n].time for n in asked.evidence) == asked.delay
        if asked.kind == "whispered to another":
            assert not any(occurs_in(asked.stale[:1], [m.text]) for m in told.values())
    assert {len(asked.evidence) for asked in trial.questions} == {0, 1, 2}


def test_wordings_do_not_depend_on_the_delay():
    asked = {t["ask"][0]: t["ask"] for t in yaml.safe_load(PROBES.read_text())["templates"]}
    drawn = [
        (asked[q.about.partition(": ")[2]].index(q.text), q.delay.total_seconds())
        for seed in range(40)
        for q in probe_trials(seed, [1])[0].questions
        if q.text in asked[q.about.partition(": ")[2]]
    ]
    assert len(drawn) > 5000
    assert abs(np.corrcoef(np.transpose(drawn))[0, 1]) < 0.05


@pytest.mark.parametrize("memory", ["bm25", "sliding-window"])
def test_other_wordings_change_no_curve_beyond_its_interval(memory):
    one, other = (
        evaluate(probe_trials(7, [20], wording=words), Evaluation(memory=memory))
        for words in (1, 2)
    )
    for hours in DELAYS:
        first, second = (
            by_question([row for row in rows if row["delay_hours"] == hours], "in_reach")
            for rows in (one, other)
        )
        changes = [first[question] - second[question] for question in first]
        found = mean_of(changes, [clusters_of(one)[question] for question in first])
        assert found.clusters > 60
        assert found.low <= 0 <= found.high, (hours, found)


class RecallsEverything(FullContext):
    """A memory that recalls all lines, for any audience, and shows no context."""

    def context(self, budget):
        return []

    def recall(self, question, limit):
        return [RecalledLine(text, (number,)) for number, text in self._lines.items()]


@pytest.mark.parametrize(
    ("memory", "kept"),
    [("keepsake", {1}), (f"{__name__}:RecallsEverything", {0}), ("sliding-window", {0, None})],
    ids=["checks the audience", "does not", "forgets"],
)
def test_only_a_memory_that_checks_the_audience_keeps_whispers(memory, kept):
    """A forgotten whisper has no score."""
    trial = replace(QUIET, questions=tuple(q for q in QUIET.questions if q.kind == "secret"))
    rows = evaluate([trial], Evaluation(memory=memory, recalled=10_000))
    assert len(rows) > 3
    assert {row.get("kept") for row in rows} == kept


@pytest.mark.parametrize(("fields", "answer", "expected"), table("answers and their scores"))
def test_answers_score_as_in_the_published_script(fields, answer, expected):
    question = TrialQuestion("1", "What?", datetime(2026, 5, 4, tzinfo=UTC), **fields)
    found = scores(question, answer)
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found.keys() <= ({"abstains"} if not question.answerable else {"f1", "exact", "right"})


def test_a_ranking_is_scored_by_line_and_by_session():
    talks = {number: f"talk {number // 10}" for number in range(100)}
    found = ranking_scores(frozenset({11, 57}), [3, 57, 58, 1, 2, 12], talks)
    assert (found["mrr"], found["recall@1"], found["recall@5"]) == (1 / 2, 0, 1 / 2)
    assert (found["any@5"], found["all@5"]) == (1, 0)
    assert (found["session_any@5"], found["session_all@10"]) == (1, 1)
    assert found["ndcg@10"] == pytest.approx(0.387, abs=0.001)
    assert ranking_scores(frozenset({7}), [], talks)["session_any@5"] == 0


def test_the_full_context_has_its_own_budget_and_evidence_is_counted_in_equal_ones():
    base = Evaluation(memory="full-context", budget=100)
    whole, cut = (
        evaluate([QUIET], replace(base, settings=each)) for each in ({}, {"budget": "99"})
    )
    asked_of = [(one, two) for one, two in zip(whole, cut, strict=True) if one["evidence"]]
    assert {one["in_reach"] for one, _ in asked_of} == {1}
    assert all(two["memory_tokens"] <= 100 < one["memory_tokens"] for one, two in asked_of)
    assert all(one["evidence@500t"] <= one["evidence@4000t"] for one, _ in asked_of)
    assert all(one["recall@10"] is None for one, _ in asked_of)
    words = evaluate([QUIET], Evaluation(memory="bm25"))
    pairs = SourceResults("no recall", {"full-context": whole, "bm25": words}).pairs
    assert pairs
    assert RANKING_MEASURES.isdisjoint(pair.measure for pair in pairs)
