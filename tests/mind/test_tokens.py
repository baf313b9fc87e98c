"""Estimates, the ledger of true counts, and what a prompt costs."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsake.prompt.budget import Costs, PromptSection, bar, chart
from keepsake.prompt.tokens import (
    HEURISTIC,
    MODEL_SERVER,
    Heuristic,
    TokenLedger,
    estimate_tokens,
    pieces,
)

SAID = 'Tom says to you, "My boots are full of rain, and the ferry was late again."'
"""Gemma's tokenizer makes 20 tokens of it, and one of the line end."""


def test_the_old_estimate_rounds_up():
    assert [estimate_tokens(text) for text in ("", "abcd", "abcde")] == [0, 1, 2]


def test_the_estimate_is_near_the_true_count_of_a_line():
    assert Heuristic().of(SAID) == pytest.approx(21, abs=2)
    assert Heuristic().of("") == 0


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("1234567890 9876543210", 20, 24),  # digits cost a token each
        ("日本語のテキストをここに書きます。", 8, 20),
        ("Привет, как дела? Что нового?", 8, 20),
        ("😀😃😄😁😆😅🤣😂", 8, 12),
        ("x" * 200, 20, 40),
    ],
)
def test_what_a_player_types_to_be_costly_is_not_taken_for_cheap(text: str, least: int, most: int):
    assert least <= Heuristic().of(text) <= most


@given(st.text(max_size=300), st.text(max_size=300))
def test_lines_add_up(first: str, second: str):
    """Lines cost apart what they cost together, so that a window can be summed."""
    if first and second:
        assert pieces(f"{first}\n{second}") == pieces(first) + pieces(second)


def test_true_counts_correct_the_estimate():
    heuristic = Heuristic()
    prompt = f"{SAID}\n" * 100
    true = 3 * heuristic.of(prompt) // 2
    for _ in range(12):
        heuristic.observe(prompt, true)
    assert heuristic.of(prompt) == pytest.approx(true, rel=0.01)


def test_one_short_line_teaches_little_and_nonsense_nothing_lasting():
    heuristic = Heuristic()
    before = heuristic.factor
    heuristic.observe("Good day, Tom.", 20)
    assert heuristic.factor == pytest.approx(before, rel=0.01)
    for text, tokens in (("", 5), (SAID, 0), (SAID, -1)):
        heuristic.observe(text, tokens)
    heuristic.correct(0, 9)
    assert heuristic.factor == pytest.approx(before, rel=0.01)
    for _ in range(50):
        heuristic.correct(2000, 1)  # as of a server that tells only what was not cached
    assert heuristic.factor >= 0.9 * before, "its figure lowers ours by a tenth at most"


def test_where_nobody_counts_the_estimate_learns_from_whole_prompts():
    ledger, lines = TokenLedger(Heuristic()), [f"{SAID} {number}" for number in range(200)]
    true = round(1.4 * sum(map(ledger.of, lines)))
    for _ in range(10):
        ledger.heard(sum(map(ledger.of, lines)), true)
    assert sum(map(ledger.of, lines)) == pytest.approx(true, rel=0.03)
    factor = ledger.estimate.factor
    ledger.learn({lines[0]: 30}, "another")
    ledger.heard(1000, 9000)
    assert ledger.estimate.factor == factor, "counts are no estimates: there is nothing to correct"
    ledger.heard(0, 0)


def test_a_text_is_counted_once_and_kept():
    ledger = TokenLedger(Heuristic())
    assert ledger.of(SAID) == Heuristic().of(SAID)
    assert ledger.uncounted(10) == (SAID,)
    assert (ledger.source, ledger.waiting) == (HEURISTIC, 1)
    ledger.learn({SAID: 17}, MODEL_SERVER)
    assert ledger.of(SAID) == 17
    assert ledger.uncounted(10) == ()
    assert (ledger.source, ledger.waiting) == (MODEL_SERVER, 0)


def test_nothing_costs_nothing_and_is_never_counted():
    ledger = TokenLedger(Heuristic())
    assert ledger.of("") == 0
    assert ledger.uncounted(1) == ()
    ledger.learn({}, MODEL_SERVER)
    assert ledger.source == HEURISTIC


def test_the_texts_asked_for_last_are_counted_first():
    ledger = TokenLedger(Heuristic())
    for text in ("old", "older", "new", "old"):
        ledger.of(text)
    assert ledger.uncounted(2) == ("old", "new")


def test_it_is_bounded_and_keeps_what_is_in_use():
    ledger = TokenLedger(Heuristic(), keep=3)
    ledger.learn({"a": 1, "b": 2, "c": 3}, MODEL_SERVER)
    assert ledger.of("a") == 1
    ledger.learn({"d": 4}, MODEL_SERVER)
    assert ledger.of("a") == 1
    assert ledger.uncounted(5) == ()
    ledger.of("b")
    assert ledger.uncounted(5) == ("b",), "the one not asked for longest gave way"
    for number in range(5000):
        ledger.of(f"line {number}")
    assert ledger.waiting <= 2000
    assert ledger.uncounted(1) == ("line 4999",)


def test_another_model_makes_all_counts_worthless():
    ledger = TokenLedger(Heuristic())
    ledger.learn({"first": 7, "second": 8}, MODEL_SERVER)
    began = ledger.epoch
    ledger.forget_counts()
    assert ledger.source == HEURISTIC
    assert ledger.of("second") != 8
    assert set(ledger.uncounted(9)) == {"first", "second"}, "they are to be counted again"
    ledger.learn({"second": 8}, MODEL_SERVER, began)
    assert ledger.of("second") != 8, "a count that was under way is of the old model"
    ledger.learn({"second": 9}, MODEL_SERVER, ledger.epoch)
    assert ledger.of("second") == 9


def test_only_the_models_own_tokenizer_teaches_the_estimate():
    lines = {f"{SAID} {number}": 60 for number in range(100)}
    guided, unguided = TokenLedger(Heuristic()), TokenLedger(Heuristic())
    guided.learn(lines, MODEL_SERVER)
    unguided.learn(lines, "another")
    assert guided.estimate.of(SAID) > unguided.estimate.of(SAID) == Heuristic().of(SAID)


def test_estimates_follow_what_was_learnt():
    ledger = TokenLedger(Heuristic())
    before = ledger.of(SAID)
    for _ in range(12):
        ledger.estimate.correct(2000, 4000)
    assert ledger.of(SAID) > before


def test_threads_may_ask_learn_and_forget_at_once():
    ledger = TokenLedger(Heuristic(), keep=50)
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for step in range(400):
                ledger.of(f"text {(seed * 31 + step) % 90}")
                if step % 7 == 0:
                    ledger.learn(dict.fromkeys(ledger.uncounted(9), seed + 1), MODEL_SERVER)
                if step % 97 == 0:
                    ledger.forget_counts()
        except BaseException as error:  # told of in the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_what_a_prompt_costs():
    found = Costs((PromptSection("profile", 30), PromptSection("window", 30)), 100, MODEL_SERVER)
    assert (found.used, found.left, found.share) == (60, 40, 0.6)


@pytest.mark.parametrize(
    ("tokens", "drawn"),
    [(0, "    "), (1, "█   "), (50, "██  "), (100, "████"), (900, "████"), (28, "█   ")],
)
def test_a_bar_is_filled_as_the_budget_is(tokens: int, drawn: str):
    assert bar(tokens, 100, 4) == drawn


def test_bars_stand_under_each_other_with_sum_marks_and_source():
    found = Costs((PromptSection("profile", 300), PromptSection("window", 600)), 1000, HEURISTIC)
    assert chart(found, {"low": 0.5, "high": 0.8}, 10) == [
        "profile   ███           300   30%",
        "window    ██████        600   60%",
        "together  █████████     900   90%",
        "Marks: low 50%, high 80%.",
        "Budget 1,000 tokens, 100 free; counted by: heuristic.",
    ]
    over = Costs((PromptSection("window", 1100),), 1000, HEURISTIC)
    assert "100 too many" in chart(over)[-1]
