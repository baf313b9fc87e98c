"""``@why`` shows builders what led to an act, in a world with a real index and event log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from evennia.utils.ansi import strip_ansi

from keepsake.agent.plans.past_plans import PastPlan
from keepsake.agent.why.basis import PromptSource, SummaryBasis
from keepsake.agent.why.why import Why
from keepsake.archive.records import MemoryKind
from keepsake.books.plan import PlanState
from keepsake.contrib.evennia.commands.why import explanation
from keepsake.events.types import Thought
from keepsake.events.values import RecalledKind, ThoughtOutcome
from keepsake.paths import UNTIL, ZONE_FILE
from keepsake.web.questions.clock import as_shown
from tests.memories import old_memory
from tests.sentences import table
from tests.world.agents_world import Building
from tests.world.test_events_world import EventsWorld
from tests.world.test_recall_world import CHATTER, FACTS, RecallWorld


class WhyWorld(Building, EventsWorld, RecallWorld):
    """Mira remembers more than her window holds, and all events are logged."""

    def why(self, line: str = "@why Mira") -> str:
        assert self.log.flush(60)
        return self.type(line)


def explained(**facts) -> str:
    """Return the explanation of an act of which nothing else is known."""
    now = datetime(2026, 5, 1, tzinfo=UTC)
    act = old_memory(10, now, MemoryKind.ACT, "pose sweeps.")
    why = Why(agent="Mira", nth=1, time=now, command="pose sweeps.", reason="", act=act, **facts)
    return explanation(why, now)


def test_what_the_log_does_not_have_is_said_to_be_unknown():
    assert "Recalled     not known: older than the event log" in strip_ansi(explained())


def test_an_act_by_rule_shows_nothing_of_a_prompt():
    shown = explained(by_rule=True, trigger="its ordinary day")
    assert "no model was asked" in shown
    for absent in ("Recalled", "Summaries", "Plans", "Word for word", "Reason"):
        assert absent not in shown


def test_of_whispers_that_the_prompt_masked_it_had_only_that_they_were_whispered():
    for masked, words in (
        ((), "memories 2-9\n"),
        ((4,), "memories 2-9; of 4 only that it was whispered\n"),
        ((4, 7), "memories 2-9; of 4, 7 only that they were whispered\n"),
        (None, "memories 2-9; whispers only if it had their words: its prompt is not known\n"),
    ):
        shown = strip_ansi(explained(window=(2, 9), masked=masked))
        assert f"Word for word {words}" in shown


def test_plans_in_the_prompt_are_listed_and_the_one_of_the_act_is_marked():
    pie = PastPlan(3, "bake |rthe pie", PlanState.OPEN, private=False, what="bake")
    soup = PastPlan(14, "bring Bram soup", PlanState.DOING, private=True, what="bring")
    shown = explained(plans=(pie, soup), plan=soup)
    assert "Plans        in the prompt" in strip_ansi(shown)
    assert "  3|n  bake ||rthe pie\n" in shown
    assert "(keeps it private)|n bring Bram soup |x(the act belongs to it)" in shown
    assert "that the act belongs to" not in shown
    shown = strip_ansi(explained(plans=(pie,), plan=soup))
    assert (
        "Plan         that the act belongs to\n   14  (keeps it private) bring Bram soup" in shown
    )
    assert "Plans        none in the prompt" in strip_ansi(explained(plans=()))
    assert "Plans        not known" in strip_ansi(explained())


def test_an_act_by_rule_has_only_the_plan_that_it_belongs_to():
    pie = PastPlan(3, "bake the pie", PlanState.OPEN, private=False, what="bake")
    shown = strip_ansi(explained(by_rule=True, trigger="a plan", plan=pie))
    assert "Plans" not in shown
    assert "Plan         that the act belongs to\n    3  bake the pie" in shown


def test_players_colour_codes_are_escaped():
    forged = "|rred|n\n|wMira's last act|n"
    now = datetime(2026, 5, 1, tzinfo=UTC)
    whose = {"agent": "Mira", "trigger": "addressed"}
    outcome = {
        "priority": "player",
        "outcome": ThoughtOutcome.ACTED,
        "source": forged,
        "problem": forged,
    }
    found = Why(
        **whose,
        nth=1,
        time=now,
        command=f"say {forged}",
        act=old_memory(10, now, MemoryKind.ACT, f"say {forged}", forged),
        reason=forged,
        thought=Thought(**whose, **outcome),
        recalled=(
            PromptSource(
                kind=RecalledKind.NOTE, n=0, title=forged, score=0.5, why=forged, text=forged
            ),
        ),
        summaries=(SummaryBasis("recent", 1, 1, 9, forged, forged, (forged,)),),
        missing=(forged,),
    )
    shown = explanation(found, now)
    assert "||rred||n" in shown
    assert "|r" not in shown.replace("||", "")
    assert shown.count("|wMira's last act|n") == 1


class TestWhy(WhyWorld):
    """What @why shows."""

    def answer_about_edwin(self) -> None:
        """Let Mira answer by a memory that is no longer in her window."""
        self.say(*FACTS, *CHATTER)
        self.edit_summary("- Tom talked of his life.")  # what a summary says is not recalled
        self.ask("Where does my brother Edwin mend nets?", "> say In Ostrey, he mends nets. | kind")

    def test_what_led_to_an_act_down_to_the_raw_memories(self):
        self.answer_about_edwin()
        shown = self.why()
        for part in table("what led to an act"):
            assert part in shown
        recalled = shown.split("Recalled")[1].split("Word for word")[0]
        assert "memory 2 " in recalled
        assert "My brother Edwin mends nets in Ostrey." in recalled
        assert "words: " in recalled
        assert "who it is" in shown.split("Prompt")[1]
        assert "Note:" not in shown

    def test_times_are_those_of_the_worlds_clock_as_on_the_pages(self):
        self.ask("Is it late?", "Late enough.")
        act = next(m for m in reversed(self.mind.memory.memory.context().window) if m.is_own)
        changed = act.time + timedelta(days=1)
        agents = self.services.places.agents
        (agents / ZONE_FILE).write_text(f"UTC\nAsia/Tokyo{UNTIL}{changed.isoformat()}\n")
        there = as_shown(act.time)
        assert there == act.time.astimezone(ZoneInfo("Asia/Tokyo")).replace(tzinfo=None)
        assert f"{there:%Y-%m-%d %H:%M} (" in self.why()
        assert f"{there:%H:%M}" in self.type(f"@memories Mira {act.number}", str(act.number))

    def test_the_event_of_a_thought_names_its_act_and_what_it_was_shown(self):
        self.answer_about_edwin()
        *_, thought = (each for each in self.logged("thought") if "Ostrey" in each["answer"])
        assert thought["compaction"] == 1
        (act,) = self.mind.memory.memory.archive.read(thought["memory"], thought["memory"])
        assert (act.text, act.reason) == ("say In Ostrey, he mends nets.", "kind")
        assert 0 < thought["recent"] < thought["total"] == act.number - 1
        assert 2 in [each["n"] for each in thought["recalled"] if each["kind"] == "memory"]

    def test_what_the_agent_searched_for_itself_is_shown(self):
        self.say(*FACTS, *CHATTER)
        self.ask("You know that thing?", "> recall brass key", "> say At the old mill!")
        shown = self.why().split("Recalled")[1].split("Word for word")[0]
        assert "memory 3" in shown
        assert "I lost a brass key at the old mill." in shown
        assert "why: > recall brass key" in shown

    def test_each_of_several_things_is_a_search_and_the_act_is_named_for_all_that_it_found(self):
        self.say(*FACTS, *CHATTER)
        self.ask("You know both?", "> recall the brass key; when the ferry leaves", "> say I do.")
        found = [each["question"] for each in self.logged("recall") if each["by"] == "agent"]
        assert found == ["the brass key", "when the ferry leaves"]
        assert "why: > recall the brass key; when the ferry leaves" in self.why()

    def test_every_search_is_an_event_with_who_asked_for_it(self):
        self.say(*FACTS, *CHATTER)
        self.ask("Who was it?", "> recall the brass key", "> say You lost it.")
        self.type("@recall Mira = Edwin")
        found = {each["by"]: each for each in self.logged("recall")}
        assert {"talk", "agent", "builder"} <= set(found)
        assert found["agent"]["question"] == "the brass key"

    def test_acts_are_chosen_by_number_and_shown_with_their_trigger(self):
        for line, cure in (
            ("@why Mira", "has not done anything yet"),
            ("@why Nobody 3", "There are: Mira"),
            ("@why Mira 0", "Ask for 1 to 1000"),
            ("@why Mira x", "is not a number"),
        ):
            shown = self.why(line)
            assert "did not work" in shown, line
            assert cure in shown, (line, shown)
        self.replies = ["> say One. | first"]
        self.char1.execute_cmd("talk Mira Good evening.")
        self.char1.execute_cmd("pose hums.")
        self.pass_time(4)
        archive = self.mind.memory.memory.archive
        (thought,) = self.logged("thought")
        (cause,) = archive.read(thought["cause"], thought["cause"])
        assert "Good evening." in cause.text, "not the later pose"
        assert "Good evening." in self.why().split("Trigger")[1].split("Recalled")[0]
        self.ask("And now?", "> destroy everything", "> say Two.")
        assert "say Two." in self.why()
        assert "say One." in self.why("@why Mira 2")
        assert "Mira's act 2, counted back from the last" in self.why("@why 2")
        self.demote_to_player()
        assert "is not available" in self.type("@why Mira")
