"""The past of an agent: any moment is what a replay of the archive up to then gives."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsake.agent.plans.past_plans import PastPlan, plan_in, plans_at
from keepsake.archive import log as archive_module
from keepsake.archive.log import Archive
from keepsake.archive.tiers import TierView, load_tiers
from keepsake.books.plan import Plan, PlanState
from keepsake.errors import CompactionError
from keepsake.events.values import CompactReason
from keepsake.tracing.past import Moment, Past
from tests.memories import seen
from tests.unit.mind.fake_agent import FakeAgent, add, add_look, add_talk, clear, compact

ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 9)),
        st.tuples(st.just("talk"), st.integers(1, 12)),
        st.tuples(st.just("look"), st.sampled_from(["Mill", 'The "Ferry"', "Mühle\\"])),
        st.tuples(st.just("compact"), st.just(0)),
        st.tuples(st.just("undo"), st.just(0)),
        st.tuples(st.just("clear"), st.just(0)),
        st.tuples(st.just("plan"), st.integers(1, 3)),
        st.tuples(st.just("done"), st.integers(1, 3)),
        st.tuples(st.just("read"), st.just(0)),
    ),
    min_size=1,
    max_size=30,
)


def replayed(archive: Path, until: int) -> tuple[TierView, dict[int, PastPlan]]:
    """Return the tiers and plans that a replay of the first ``until`` bytes of an archive gives."""
    with TemporaryDirectory() as scratch:
        copy = Path(scratch) / "archive"
        copy.mkdir()
        for segment in sorted(archive.glob("*.jsonl")):
            data = segment.read_bytes()[: max(until, 0)]
            until -= len(data)
            if data:
                (copy / segment.name).write_bytes(data)
        first = Archive(copy, read_only=True)
        return load_tiers(first).view(), plans_at(first, datetime.max.replace(tzinfo=UTC))


def same(moment: Moment, view: TierView) -> bool:
    # Lines before a clearing, which a replay never reads, have the time of the last compaction.
    state = replace(moment.state, time=view.state.time)
    return (moment.number, state) == (view.last_number, view.state)


def assert_replayed(past: Past, archive: Path, moments: list[tuple[float, int]]) -> None:
    for time, size in moments:
        view, plans = replayed(archive, size)
        assert same(past.at(time), view)
        assert same(past.at(time + 59), view)
        assert {plan_in(each).number: plan_in(each) for each in past.plans_at(time)} == plans


def changed(change: str, number: int, now: datetime) -> dict[str, Any]:
    """Return the archive's record of a plan that was made, or is done."""
    state = PlanState.DONE if change == "done" else PlanState.OPEN
    return Plan(what=f"bake {number}", number=number, state=state).to_record(change, now)


@given(ACTIONS)
@settings(max_examples=25, deadline=None)
def test_every_moment_is_what_a_replay_up_to_it_gives(actions):
    with TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patched:
        patched.setattr(archive_module, "SEGMENT_LINES", 7)
        agent = FakeAgent(Path(scratch) / "Mira")
        memory = agent.open()
        archive = agent.folder / "archive"
        past = Past(archive)
        moments = []
        for name, value in actions:
            agent.clock.advance(60)
            match name:
                case "add":
                    add(memory, value)
                case "talk":
                    add_talk(memory, value, 20)
                case "look":
                    add_look(memory, value, 5)
                case "compact" | "undo":
                    with suppress(CompactionError):
                        if name == "compact":
                            compact(memory, CompactReason.MANUAL)
                        else:
                            memory.undo()
                case "clear":
                    memory = clear(agent, memory)
                case "plan" | "done":
                    memory.archive.append(changed(name, value, agent.clock.now()))
                case "read":
                    past.read_on()
            moments.append((agent.clock.now().timestamp(), memory.archive.size()))
        memory.close()
        past.read_on()
        assert_replayed(past, archive, moments)


def test_places_are_read_and_a_rewritten_archive_is_read_anew(tmp_path):
    agent = FakeAgent(tmp_path / "Mira")
    memory = agent.open()
    for place in ("Mill", 'The "Ferry"', "Mühle\\", "Mill"):
        agent.clock.advance(60)
        memory.append(seen("Rain falls."), place=place)
    past = Past(agent.folder / "archive")
    past.read_on()
    assert [past.places[where] for _, where in past.moves()] == [
        "Mill",
        'The "Ferry"',
        "Mühle\\",
        "Mill",
    ]
    memory.close()
    (segment,) = (agent.folder / "archive").glob("0*.jsonl")
    other = segment.with_suffix(".new")
    other.write_bytes(segment.read_bytes().replace(b"Mill", b"Moor"))
    shutil.move(other, segment)
    past.read_on()
    assert past.at(agent.clock.now().timestamp()).place == "Moor"
    assert past.last_number == 4
