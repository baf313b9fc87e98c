"""Sleep: when an agent tires and wakes, and its night: steps in order, calls, faults."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keepsake.agent.sleep.night import Figures, NightAsk, NightTask, Step
from keepsake.agent.sleep.tiredness import is_loud
from keepsake.errors import NoteRefused
from tests.sentences import table
from tests.unit.mind.sleepers import Bedroom, NoMemory, Script, says

NIGHT = datetime(2026, 11, 21, 23, 0, tzinfo=UTC)
ALL = list(Step)


def asking(step: Step, times: int) -> NightTask:
    """A task that asks the model again and again."""

    def task(ask: NightAsk) -> Figures:
        for number in range(times):
            ask(says(f"{step.value} {number}"))
        return {"asked": times}

    return task


def tasks(**other: NightTask) -> dict[Step, NightTask]:
    return {step: other.get(step.value, asking(step, 1)) for step in ALL[:-1]}


def test_all_is_done_in_order_and_the_rest_of_a_broken_night_in_the_next(tmp_path: Path):
    bedroom = Bedroom(NoMemory(tmp_path), {}, Script())

    def wakes(_: NightAsk) -> Figures:
        bedroom.nights.end("Tom")
        raise NoteRefused("closed")  # what is closed under a sleeper that wakes is no fault

    bedroom.nights._tasks = tasks(reflect=wakes)
    assert [each.step for each in bedroom.sleep(NIGHT)] == ALL[:1]
    assert [(each.op, each.why) for each in bedroom.told if each.op != "step"] == [
        ("falls asleep", "tired"),
        ("wakes", "Tom"),
    ]
    again = Bedroom(NoMemory(tmp_path), tasks(), Script())  # after a restart
    steps = again.sleep(NIGHT + timedelta(hours=2))
    assert [each.step for each in steps] == ALL[1:]
    assert steps[-1].figures == {"compactions": 0, "tokens before": 0, "tokens after": 0}
    assert [each.step for each in again.sleep(NIGHT + timedelta(hours=3))] == ALL
    again.nights.end("its hour", whole=True)
    assert [each.step for each in again.sleep(NIGHT + timedelta(hours=30))] == ALL


def test_the_sleeps_of_one_night_share_its_calls_and_that_is_no_fault(tmp_path: Path):
    script = Script()
    wanted = tasks(consolidate=asking(Step.CONSOLIDATE, 2), profiles=asking(Step.PROFILES, 9))
    bedroom = Bedroom(NoMemory(tmp_path), wanted, script, calls=5)
    steps = bedroom.sleep(NIGHT)
    assert sum(each.calls for each in steps) == len(script.prompts) == 5
    assert not any(each.problem for each in steps)
    assert steps[2].figures == {"calls spent": 1}
    bedroom.sleep(NIGHT + timedelta(hours=1))
    assert len(script.prompts) == 5, "shaken awake again and again, it costs no more"
    bedroom.nights.end("its hour", whole=True)
    bedroom.sleep(NIGHT + timedelta(hours=2))
    assert len(script.prompts) == 10, "after a whole sleep it is another night"


# -- tired, and awake again


@pytest.mark.parametrize(
    ("words", "loud"),
    [(words, name == "loud") for name in ("loud", "not loud") for words in table(name)],
)
def test_what_wakes_a_sleeper(words: str, loud: bool):
    assert is_loud(words, "Mira") is loud
