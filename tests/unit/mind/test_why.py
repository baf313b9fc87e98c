"""Why an agent did something: from a real log and a real archive, or without one of them."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.archive.records import MemoryKind
from keepsake.events.log import EventLog, Subscribers
from keepsake.events.types import Thought
from keepsake.events.why import why_did
from keepsake.memory.summarizer import ExtractiveSummarizer
from keepsake.memory.types import CompactReason
from tests.unit.mind.lives import SMALL, Life

BEGAN = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


class Clock:
    """Goes on a second with each look."""

    time = BEGAN

    def now(self):
        self.time += timedelta(seconds=1)
        return self.time


class Mira:
    """Her memory and the log of what she thought."""

    def __init__(self, folder):
        self.clock, self.logs = Clock(), folder / "events"
        self.begins_a_log()
        config = replace(SMALL, recent_window=4)
        life = Life(folder / "mira", config, self.clock, ExtractiveSummarizer())
        self.memory = life.open()
        self.archive = self.memory.archive

    def begins_a_log(self):
        subscribers = Subscribers()
        subscribers.agent_ids["Mira"] = 7
        self.log = EventLog(self.logs, clock=self.clock, subscribers=subscribers)

    def loses_its_log(self):
        self.log.close()
        shutil.rmtree(self.logs)

    def hears_songs(self, count):
        for n in range(count):
            self.memory.append(f'Tom says, "Song {n} is about the river."', source="Tom")

    def acts(self, command, reason=""):
        """An act as the game does it: its memory, then its event."""
        context = self.memory.context()
        number = self.memory.append(command, MemoryKind.ACT, reason=reason).number
        self.log.emit(
            Thought(
                agent="Mira",
                trigger="addressed",
                priority="player",
                outcome="acted",
                source="Tom",
                prompt="the prompt",
                command=command,
                reason=reason,
                memory=number,
                longterm=context.longterm.last if context.longterm else 0,
                recent=context.recent.last if context.recent else 0,
                total=context.window[-1].number if context.window else 0,
                compaction=context.compaction,
            )
        )

    def why(self, n=1, **how):
        assert self.log.flush(60)
        return why_did(self.logs, self.archive, "Mira", 7, n, **how)


@pytest.fixture
def life(tmp_path):
    lived = Mira(tmp_path)
    yield lived
    lived.log.close()
    lived.memory.close()


def test_a_summary_is_shown_as_it_was_at_the_time_of_the_act(life):
    life.hears_songs(12)
    assert life.memory.compact(CompactReason.MANUAL).number == 1
    made = life.memory.context().recent.text
    life.acts("say I see.")
    edit = {"type": "edit", "tier": "recent", "text": "I keep ostriches."}
    life.archive.append({**edit, "t": life.clock.now().isoformat()})
    life.acts("say And what of it?")
    life.memory.undo()
    life.acts("say The river is deep.")
    shown = [[each.text for each in life.why(n).summaries] for n in (1, 2, 3)]
    assert shown == [[], ["I keep ostriches."], [made]]
    life.loses_its_log()
    found = [why_did(life.logs, life.archive, "Mira", 7, n) for n in (1, 2, 3)]
    assert [[each.text for each in one.summaries] for one in found] == shown, "without the log"
