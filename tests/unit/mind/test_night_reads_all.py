"""A night reads all of a day: in pieces, on the day of what happened, and again after a refusal."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from keepsake.agent.sleep.night import NightAsk
from keepsake.agent.sleep.night_tasks import LEAST_MEMORIES, MOST_REFUSALS, NightWork
from keepsake.archive.records import Memory
from keepsake.books.journal import Journal
from keepsake.happening import ME, Person, Speech
from tests.unit.mind.journals import NOON
from tests.unit.mind.night_runner import PROMPTS, RuleModel

TOM = Person("Tom", "Tom-1")


def line(number: int, time: datetime | None = None) -> Memory:
    words = f"Net {number} is mended, and the rope of it is {number} fathoms long, as you know."
    speech = Speech(speaker=TOM, words=words, to=(ME,), shown=f'Tom says to you, "{words}"')
    return Memory(number, time or NOON + timedelta(minutes=number), speech)


class Nightly:
    """One agent's nights, with an archive that grows."""

    def __init__(self, folder, count):
        self.memories = [line(number) for number in range(1, count + 1)]
        self.archive = SimpleNamespace(read=self.read)
        self.journal = Journal(folder / "journal")
        memory: Any = SimpleNamespace(
            name="Mira",
            folder=folder,
            private=SimpleNamespace(may_hear=lambda *_, **__: True),
            memory=SimpleNamespace(archive=self.archive),
        )
        services: Any = SimpleNamespace(prompts=PROMPTS, clock=SimpleNamespace(now=lambda: NOON))
        books: Any = SimpleNamespace(journal=self.journal)
        self.work = NightWork(memory, books, services)

    def read(self, first, last):
        return [each for each in self.memories if first <= each.number <= last]

    def sleep(self, model, calls=24):
        self.archive.last_number = len(self.memories)
        return self.work.consolidate(NightAsk(model, calls))


def shown(prompt: str) -> list[int]:
    return [int(number) for number in re.findall(r"^(\d+)\. \[", prompt, re.M)]


def one_entry(prompt: str) -> str:
    """Answer with an entry about the last line of a prompt."""
    last = shown(prompt)[-1]
    text = f"Tom mended net {last}."
    return json.dumps({"entries": [{"text": text, "importance": 5, "memories": [last]}]})


def test_every_line_of_a_long_day_is_shown_once(tmp_path):
    night = Nightly(tmp_path, 700)
    model = RuleModel(one_entry)
    figures = night.sleep(model)
    read = [number for prompt in model.prompts for number in shown(prompt)]
    assert read == list(range(1, 701))
    assert figures == {"written": len(model.prompts), "left": 0}


def test_what_the_limit_of_calls_leaves_is_read_the_next_night(tmp_path):
    night = Nightly(tmp_path, 700)
    first = RuleModel(one_entry)
    left = night.sleep(first, calls=3)["left"]
    second = RuleModel(one_entry)
    assert night.sleep(second)["left"] == 0
    assert shown(second.prompts[0])[0] == 700 - left + 1


def test_small_days_add_up_until_there_is_something_to_write_about(tmp_path):
    night = Nightly(tmp_path, LEAST_MEMORIES - 1)
    model = RuleModel(one_entry)
    assert night.sleep(model) == {"written": 0, "left": LEAST_MEMORIES - 1}
    night.memories += [line(LEAST_MEMORIES)]
    assert night.sleep(model) == {"written": 1, "left": 0}
    assert shown(model.prompts[0]) == list(range(1, LEAST_MEMORIES + 1))


def test_a_refused_answer_is_asked_for_again_on_the_next_nights_and_it_is_said(tmp_path, caplog):
    night = Nightly(tmp_path, 20)
    for _ in range(MOST_REFUSALS - 1):
        figures = night.sleep(RuleModel(lambda _: "I cannot do that."))
        assert figures == {"written": 0, "left": 20, "refused": 1}
        assert "it is asked again the next night" in caplog.records[-1].getMessage()
    assert night.sleep(RuleModel(one_entry)) == {"written": 1, "left": 0}


def test_entries_that_can_be_used_are_kept_if_another_is_refused_twice(tmp_path):
    night = Nightly(tmp_path, 20)

    def with_a_wrong_number(prompt: str) -> str:
        entries = json.loads(one_entry(prompt))["entries"]
        wrong = {"text": "Tom sang.", "importance": 3, "memories": [999]}
        return json.dumps({"entries": [*entries, wrong]})

    model = RuleModel(with_a_wrong_number)
    assert night.sleep(model) == {"written": 1, "left": 0}
    assert "There is no memory 999" in model.prompts[1]
    assert [entry.text for entry in night.journal.entries()] == ["Tom mended net 20."]


def test_a_day_about_which_no_model_writes_is_left_out_in_the_end(tmp_path):
    night = Nightly(tmp_path, 20)
    left = [night.sleep(RuleModel(lambda _: "I cannot."))["left"] for _ in range(MOST_REFUSALS)]
    assert left == [20] * (MOST_REFUSALS - 1) + [0]


@pytest.mark.parametrize("days", [0, 12])
def test_an_entry_stands_on_the_day_of_what_it_is_about(tmp_path, days):
    night = Nightly(tmp_path, 0)
    then = NOON - timedelta(days=days)
    night.memories = [line(n, then + timedelta(minutes=n)) for n in range(1, 9)]
    night.sleep(RuleModel(one_entry))
    (entry,) = night.journal.entries()
    assert entry.time.date() == then.astimezone().date()
