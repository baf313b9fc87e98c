"""Which summaries of a model are taken, in five languages, and which are refused."""

from __future__ import annotations

from collections import Counter

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from keepsake.archive.records import Tier
from keepsake.memory.strategy import NARRATIVE
from keepsake.paths import REPOSITORY
from keepsake.prompt.tokens import estimate_tokens
from keepsake.tasks.summarise import Summarise, SummaryBrief
from keepsake.tasks.task import AnswerRefused
from keepsake.tasks.task_prompts import TaskPrompts

DATA = yaml.safe_load((REPOSITORY / "tests" / "data" / "summaries.yaml").read_text("utf-8"))
NAMES = frozenset(DATA["names"])
CONFIG = REPOSITORY / "vault" / "config"
PROMPTS = TaskPrompts(CONFIG, CONFIG)


def task(life: str, headings: tuple[str, ...] = ()) -> Summarise:
    lived = DATA["lives"][life]
    brief = SummaryBrief(
        agent=lived["agent"],
        persona="",
        wanted=NARRATIVE.wanted(Tier.RECENT, lived["agent"]),
        headings=headings,
        most_tokens=450,
        tokens=estimate_tokens,
        names=NAMES,
    )
    return Summarise(brief, PROMPTS.of("summarise"), lived["lines"], "", lambda _: "")


def refusal(case: dict) -> str:
    """Why a summary is refused; empty if it is taken."""
    try:
        task(case["life"], tuple(case.get("headings", ()))).read(case["text"])
    except AnswerRefused as refused:
        return refused.what
    return ""


def test_good_summaries_are_taken_in_every_language_and_form():
    refused = {case["text"]: reason for case in DATA["good"] if (reason := refusal(case))}
    taken = len(DATA["good"]) - len(refused)
    print(f"good summaries accepted: {taken} of {len(DATA['good'])}", refused)
    assert len(DATA["good"]) >= 20
    assert {case["life"][:2] for case in DATA["good"]} == {"en", "de", "es", "fr", "ja"}
    assert taken / len(DATA["good"]) >= 0.95


def test_bad_summaries_are_refused():
    kinds = Counter(case["kind"] for case in DATA["bad"])
    taken = [case for case in DATA["bad"] if not refusal(case)]
    print(f"bad summaries refused: {len(DATA['bad']) - len(taken)} of {len(DATA['bad'])}", taken)
    assert kinds == {"empty": 10, "recited": 10, "another": 10, "names": 10}
    assert len(taken) / len(DATA["bad"]) <= 0.1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Anneke, Jonas, Lotte. " + "I fed Jonas the soup again. " * 3, "repeats itself: 'I fed"),
        (
            "Anneke and Jonas and Lotte " + "spoke of ships, soup and rosemary " * 80,
            "words at most",
        ),
        ("Anneke told me of Tollen.", "it leaves out Jonas, Lotte"),
        ("Nell, Bram and Oswin came.", "do not hold Bram, Nell, Oswin"),
        ("## Facts\n" + "- x y" * 9, "these headings are missing: Open matters"),
    ],
)
def test_the_reason_tells_the_model_what_to_do(text, reason):
    headings = ["Facts", "Open matters"] if text.startswith("#") else []
    assert reason in refusal({"life": "en", "headings": headings, "text": text})


@given(st.text(max_size=300))
def test_no_answer_breaks_the_check(text):
    refusal({"life": "ja", "text": text})
    refusal({"life": "en", "text": text, "headings": ["Facts"]})
