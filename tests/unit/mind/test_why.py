"""Why an agent did something: from a real log and a real archive, or without one of them."""

import shutil
from datetime import UTC, datetime, timedelta

import pytest

from keepsake.archive.log import Archive
from keepsake.archive.records import COURTESY, HEARSAY, SCENE, MemoryKind
from keepsake.errors import KeepsakeError
from keepsake.events.log import EventLog, Subscribers
from keepsake.events.types import Thought
from keepsake.events.why import why_did
from keepsake.language.heard import DEED
from keepsake.memory.agent_memory import AgentMemory
from keepsake.memory.config import CompactionConfig, MemoryHost
from keepsake.memory.summarizer import ExtractiveSummarizer
from keepsake.memory.summary_files import SummaryFolder
from keepsake.memory.types import CompactReason

BEGAN = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


class Clock:
    """Goes on a second with each look."""

    def __init__(self):
        self.time = BEGAN

    def now(self):
        self.time += timedelta(seconds=1)
        return self.time


def subscribers():
    made = Subscribers()
    made.agent_ids["Mira"] = 7
    return made


class Life:
    """Mira's memory and the log of what she thought."""

    def __init__(self, folder):
        self.clock, self.logs = Clock(), folder / "events"
        self.log = EventLog(self.logs, clock=self.clock, subscribers=subscribers())
        self.archive = Archive(folder / "mira" / "archive")
        self.memory = AgentMemory(
            "Mira",
            self.archive,
            SummaryFolder(folder / "mira" / "summaries", "Mira"),
            MemoryHost(
                config=lambda: CompactionConfig(immediate_window=4, recent_window=4),
                summarizer=ExtractiveSummarizer,
                clock=self.clock,
                log=lambda _: None,
            ),
        )

    def hears(self, text, source="Tom", event=""):
        return self.memory.append(text, source=source, place="The Inn", event=event).number

    def acts(self, command, reason="", *, prompt="the prompt", outcome="acted", **told):
        """An act as the game does it: its memory, then its event."""
        context = self.memory.context()
        number = 0
        if command and command != "wait" and outcome == "acted":
            number = self.memory.append(command, MemoryKind.ACT, reason=reason).number
        self.log.emit(
            Thought(
                agent="Mira",
                priority="player",
                outcome=outcome,
                prompt=prompt,
                answer=f" {command or 'hm'}",
                command=command,
                reason=reason,
                memory=number,
                longterm=context.longterm.last if context.longterm else 0,
                recent=context.recent.last if context.recent else 0,
                total=context.window[-1].number if context.window else 0,
                compaction=context.compaction,
                **{"trigger": "addressed", "source": "Tom"} | told,
            )
        )
        return number

    def why(self, n=1, **how):
        assert self.log.flush(60)
        return why_did(self.logs, self.archive, "Mira", 7, n, **how)


@pytest.fixture
def life(tmp_path):
    lived = Life(tmp_path)
    yield lived
    lived.log.close()
    lived.archive.close()


def test_a_summary_is_shown_as_it_was_at_the_time_of_the_act(life):
    for n in range(12):
        life.hears(f'Tom says, "Song {n} is about the river."')
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
    life.log.close()
    shutil.rmtree(life.logs)
    found = [why_did(life.logs, life.archive, "Mira", 7, n) for n in (1, 2, 3)]
    assert [[each.text for each in one.summaries] for one in found] == shown, "without the log"


def test_without_the_log_the_archive_tells_what_it_knows(life):
    life.hears('Ada says, "The brass key is under the well."', "Ada")
    for n in range(9):
        life.hears(f'Tom says, "Song {n} is about the river."')
    life.acts("say One.", "before the compaction")
    life.memory.compact(CompactReason.MANUAL)
    life.acts("say The brass key is lost.", "grief")
    life.log.close()
    shutil.rmtree(life.logs)
    life.log = EventLog(life.logs, clock=life.clock, subscribers=subscribers())
    last = life.why()
    assert (last.command, last.reason, last.seq) == ("say The brass key is lost.", "grief", 0)
    assert (last.trigger, last.thought, last.recalled) == ("", None, ())
    assert last.summaries[0].compaction == 1
    assert last.under[0].memory.number == 1
    assert "does not hold this act" in last.missing[0]
    older = life.why(2)
    assert (older.command, older.summaries, older.under) == ("say One.", (), ())
    with pytest.raises(KeepsakeError, match="2 acts of Mira are known"):
        life.why(3)
    life.acts("say Three.")
    assert [life.why(n).command for n in (1, 2, 3)] == [
        "say Three.",
        "say The brass key is lost.",
        "say One.",
    ]
    assert "does not hold this act" in life.why(2).missing[0]


@pytest.mark.parametrize("event", [SCENE, HEARSAY, DEED, COURTESY])
def test_an_act_by_rule_is_called_one_and_no_gap_in_the_log(life, event):
    life.acts("say One.")
    life.memory.append("pose mends a net.", MemoryKind.ACT, event=event)
    (said,) = life.why().missing
    assert "by rule" in said
    assert life.why(2).missing == ()
