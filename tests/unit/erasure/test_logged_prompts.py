"""A name in the prompts of the event log is overwritten as a word, and no other word is."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from keepsake.erasure.logs import LogCleaner
from keepsake.erasure.person import ForgottenPerson
from keepsake.erasure.traces import Traces
from keepsake.events.prompts import PromptWriter, prompt_text

TODAY = date(2026, 11, 29)
HEAD = "You are Mira, keeper of the Kettle, and never short of a word or a bowl of soup.\n" * 4


def texts_after_forgetting(folder: Path, name: str, *prompts: str) -> list[str | None]:
    """Store prompts, forget the person of that name, and return the prompts as they are read."""
    writer = PromptWriter(folder, 1_000_000)
    hashes = [writer.store("Mira", text, TODAY, n) for n, text in enumerate(prompts, 1)]
    writer.lines.close()
    LogCleaner(folder).clean(Traces(ForgottenPerson("12-1", name)))
    return [prompt_text(folder, each, len(prompts)) for each in hashes]


def test_a_line_that_begins_like_an_earlier_one_is_stored_whole(tmp_path):
    fair, ann = texts_after_forgetting(
        tmp_path, "Ann", f"{HEAD}The Annual fair is near.", f"{HEAD}The Ann of old is here."
    )
    assert fair == f"{HEAD}The Annual fair is near."
    assert ann == f"{HEAD}The ### of old is here."


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("The Annual fair, Joanna.", "The Annual fair, Joanna."),
        ("They disannul it, said Ann.", "They disannul it, said ###."),
        ("It is Ann's, not Ann’s.", "It is #####, not ###█#."),
    ],
)
def test_a_name_is_overwritten_as_a_word(tmp_path, line, left):
    assert texts_after_forgetting(tmp_path, "Ann", HEAD + line) == [HEAD + left]
