"""Recall in English, German, Spanish and Japanese, by embedder.

``recall_four_languages.json`` has one small transcript in each language. ``recall_spanish.json``
has two more in Spanish and in English, on which recall in other languages was developed.
``EMBEDDERS`` names the embedders. ``translated_questions.json`` asks about the English transcripts
in other languages.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from keepsake.lab.benchmarks import Trial, read_trials
from keepsake.lab.evaluate import Evaluation, evaluate
from keepsake.lab.measures import MRR, RECALL
from keepsake.models.embedders import named_embedder
from keepsake.paths import REPOSITORY
from tests.bench.figures import Figure

DATA = REPOSITORY / "tests" / "data"
ENGLISH_LIVES = ("hythe", "two_friends")
MEMORIES = ("rag", "keepsake")


def measure() -> Iterator[Figure]:
    """Measure the share of the evidence in the top 10, by language, memory and embedder."""
    for name in os.environ.get("EMBEDDERS", "embedded none").split():
        embedder = named_embedder(name)
        for what, trials in lives().items():
            for memory in MEMORIES:
                rows = evaluate(trials, Evaluation(memory=memory, embedder=embedder))
                at_5, at_10, mrr = (
                    100 * fmean(row[each] or 0.0 for row in rows)
                    for each in (RECALL[5], RECALL[10], MRR)
                )
                told = f"@5 {at_5:.1f}, MRR {mrr:.1f}"
                yield Figure(f"{what}: {memory}, {name}", len(rows), at_10, "%", told)


def lives() -> Mapping[str, Sequence[Trial]]:
    """Return trials by the languages of the memories and of the questions."""
    sets = ("four_languages", "spanish")
    own = {f"life {t.name}": [t] for s in sets for t in read_trials(DATA / f"recall_{s}.json")}
    english = [read_trials(DATA / f"recall_{which}.json")[0] for which in ENGLISH_LIVES]
    text = (DATA / "translated_questions.json").read_text(encoding="utf-8")
    translated: Mapping[str, Mapping[str, str]] = json.loads(text)
    return own | {
        f"life en, asked in {language}": [_asked_in(language, t, translated) for t in english]
        for language in ("en", "de", "es", "ja")
    }


def _asked_in(language: str, trial: Trial, translated: Mapping[str, Mapping[str, str]]) -> Trial:
    """Return the trial with its translated questions, in that language."""
    questions = [
        replace(each, text=translated[each.text].get(language, each.text))
        for each in trial.questions
        if each.text in translated
    ]
    return replace(trial, questions=tuple(questions))
