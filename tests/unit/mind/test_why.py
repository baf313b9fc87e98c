"""Why an agent did something, from the event log and the archive, or from the archive alone."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from keepsake.agent.why.causes import answered_by
from keepsake.agent.why.logged_thoughts import thought_in
from keepsake.agent.why.why import why_did, why_memory
from keepsake.archive.message_types import MessageType
from keepsake.events.log import EventLog, Subscribers
from keepsake.events.types import Thought
from keepsake.events.values import CompactReason, RecalledKind, ThoughtOutcome, Urgency
from keepsake.happening import ME, Pose
from keepsake.memory.summary_text import extractive
from tests.memories import did, seen
from tests.unit.mind.fake_agent import SMALL, FakeAgent, compact

BEGAN = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


class TickingClock:
    """A clock that advances by one second with each reading."""

    time = BEGAN

    def now(self):
        self.time += timedelta(seconds=1)
        return self.time


def test_a_thought_with_a_value_of_another_version_counts_as_not_logged(tmp_path):
    memory = FakeAgent(tmp_path / "mira", SMALL, TickingClock(), extractive).open()
    number = memory.append(did("say I see.")).number
    log = EventLog(tmp_path / "events", clock=TickingClock())
    later = {"agent": "Mira", "agent_id": 7, "trigger": "named", "outcome": "foreseen"}
    log.emit(Thought(**later, priority=Urgency.PLAYER, memory=number))
    assert log.flush(60)
    log.close()
    why = why_did(tmp_path / "events", memory.archive, "Mira", 7, 1)
    memory.close()
    assert why.thought is None
    assert not why.is_logged
    assert not why.by_rule
    assert "does not have this act" in why.missing[0]


def test_an_act_by_rule_had_no_prompt_and_shows_nothing_of_one(tmp_path):
    memory = FakeAgent(tmp_path / "mira", SMALL, TickingClock(), extractive).open()
    for n in range(12):
        memory.append(seen(f'Tom says, "Song {n} is about the river."', "Tom"))
    assert compact(memory, CompactReason.MANUAL).number == 1
    memory.append(did("pose sweeps."), event=MessageType.SCENE)
    why = why_did(tmp_path / "events", memory.archive, "Mira", 7, 1)
    memory.close()
    assert why.by_rule
    assert (why.trigger, why.missing, why.summaries, why.window) == (
        "its ordinary day",
        (),
        (),
        None,
    )


def test_words_that_came_after_the_cause_of_a_thought_set_off_their_answer(tmp_path):
    memory = FakeAgent(tmp_path / "mira", SMALL, TickingClock(), extractive).open()
    memory.append(seen("Ida arrives from The Quay.", "Ida", "ida"))
    memory.append(seen('Anneke says, "I have no words left. Is there tea?"', "Anneke", "anneke"))
    memory.append(seen('Ida says, "Say nothing of my hat."', "Ida", "ida"))
    tea = memory.append(did("say There is tea.", "Anneke", "anneke"), rests_on=(1, 2))
    hat = memory.append(did("say You are back with a hat.", "Ida", "ida"), rests_on=(1, 2))
    log = EventLog(tmp_path / "events", clock=TickingClock())
    began = {"agent": "Mira", "agent_id": 7, "trigger": "arrival", "source": "Ida", "cause": 1}
    nods = memory.append(Pose(actor=ME, gesture="nods.", shown="emote nods."), rests_on=(1, 3))
    acts = (tea.number, hat.number, nods.number)
    log.emit(
        Thought(
            **began,
            priority=Urgency.PLAYER,
            outcome=ThoughtOutcome.ACTED,
            model="comma",
            memory=tea.number,
            memories=acts,
        )
    )
    assert log.flush(60)
    log.close()
    found = [why_memory(tmp_path / "events", memory.archive, "Mira", 7, each) for each in acts]
    memory.close()
    assert [each.cause.number for each in found] == [2, 1, 3]


def test_words_to_somebody_else_are_not_what_an_act_answers(tmp_path):
    memory = FakeAgent(tmp_path / "bram", SMALL, TickingClock(), extractive).open()
    asked = memory.append(seen('Nell says to you, "What is the news, Bram?"', "Nell", "nell"))
    memory.append(seen('Nell says to Ysolde, "What is this one thing?"', "Nell", "nell"))
    news = memory.append(did("say Only the news, Nell.", "Nell", "nell"), rests_on=(1, 2))
    to_me = answered_by(memory.archive, news, asked)
    memory.append(seen('Nell says, "Sit down, all of you."', "Nell", "nell"))
    sits = memory.append(did("say I sit.", "Nell", "nell"), rests_on=(1, 4))
    to_all = answered_by(memory.archive, sits, asked)
    memory.close()
    assert [each.number for each in (to_me, to_all)] == [1, 4]


def test_what_is_done_for_a_plan_answers_nobody_as_far_as_the_archive_says(tmp_path):
    memory = FakeAgent(tmp_path / "mira", SMALL, TickingClock(), extractive).open()
    memory.append(seen('Bob says, "Fetch Anneke some soup."', "Bob", "bob"))
    soup = memory.append(did("say Here is the soup.", "Bob", "bob"), rests_on=(1,), plan=3)
    told = memory.append(did("say There is soup.", "Bob", "bob"), rests_on=(1,))
    found = [
        why_memory(tmp_path / "events", memory.archive, "Mira", 7, each.number).cause
        for each in (soup, told)
    ]
    memory.close()
    assert [each and each.number for each in found] == [None, 1]


def test_a_recalled_thing_of_an_unknown_kind_is_left_out():
    line = {"agent": "Mira", "trigger": "idle", "priority": "idle", "outcome": "acted"}
    older = [{"kind": "called back", "n": 3}, {"kind": "memory", "n": 4, "how": "by words"}]
    read = thought_in(line | {"recalled": older, "later": 1})
    assert [(each.kind, each.n) for each in read.recalled] == [(RecalledKind.MEMORY, 4)]
    assert read.outcome is ThoughtOutcome.ACTED


def test_a_summary_is_shown_as_it_was_at_the_time_of_the_act(tmp_path):
    clock = TickingClock()
    config = replace(SMALL, recent_window=4)
    memory = FakeAgent(tmp_path / "mira", config, clock, extractive).open()
    subscribers = Subscribers()
    subscribers.agent_ids["Mira"] = 7
    log = EventLog(tmp_path / "events", clock=clock, subscribers=subscribers)

    def acts(command):
        """Record an act as the game does: its memory, then its event."""
        context = memory.context()
        thought = Thought(
            **{
                "agent": "Mira",
                "trigger": "addressed",
                "priority": "player",
                "outcome": ThoughtOutcome.ACTED,
            },
            model="comma",
            command=command,
            memory=memory.append(did(command)).number,
            recent=context.recent.last if context.recent else 0,
            total=context.window[-1].number if context.window else 0,
            compaction=context.compaction,
        )
        log.emit(thought)

    def shown():
        found = [why_did(tmp_path / "events", memory.archive, "Mira", 7, n) for n in (1, 2, 3)]
        return [[each.text for each in one.summaries] for one in found]

    for n in range(12):
        memory.append(seen(f'Tom says, "Song {n} is about the river."', "Tom"))
    assert compact(memory, CompactReason.MANUAL).number == 1
    made = memory.context().recent.text
    acts("say I see.")
    edit = {"type": "edit", "tier": "recent", "text": "I keep ostriches."}
    memory.archive.append({**edit, "t": clock.now().isoformat()})
    acts("say And what of it?")
    memory.undo()
    acts("say The river is deep.")
    assert log.flush(60)
    log.close()
    assert shown() == [[], ["I keep ostriches."], [made]]
    shutil.rmtree(tmp_path / "events")
    assert shown() == [[], ["I keep ostriches."], [made]], "from the archive, without the log"
    memory.close()
