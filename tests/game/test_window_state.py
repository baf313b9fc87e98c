"""What the window says of an agent is so now, adds up, and outlives reloads and new names."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from evennia.utils.ansi import strip_ansi

from keepsake.agent.naming import FORMER, MOST, keep_former, names_of
from keepsake.agent.thinking.reports import ThoughtTally
from keepsake.contrib.evennia import lifecycle as runtime
from keepsake.events.agent_names import Names
from keepsake.events.reader import events
from keepsake.events.recent_activity import Lately, lately
from keepsake.events.types import Thought
from keepsake.web.live.hub import Hub, StreamRecord, as_written
from keepsake.web.live.stream import StreamQuery
from keepsake.web.live.watching import _names_of, _window_of
from tests.game.web_world import WebWorld
from typeclasses.agents import Agent

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
HELP = "There is no command 'juggle'\nsay <words>: speak\nlook: look around\n" + "x: y\n" * 60


def thought(outcome: str, problem: str = "") -> Thought:
    return Thought(
        agent="Mira", trigger="idle", priority="idle", outcome=outcome, problem=problem, command="x"
    )


def told(*outcomes: str) -> ThoughtTally:
    """The tally of thoughts that ended so."""
    tally = ThoughtTally()
    for outcome in outcomes:
        tally.ended(thought(outcome, f"because of {outcome}"), None, NOW)
    return tally


class TestTally:
    """Counts and problems."""

    def test_those_that_failed_are_among_those_that_ended(self):
        tally = told(*["acted"] * 20, *["refused"] * 10, *["no answer"] * 3, "dropped", "too large")
        assert (tally.came_to_an_end, tally.failed) == (34, 14)

    def test_old_failures_are_forgotten_after_twenty_thoughts(self):
        tally = told(*["no answer"] * 20)
        assert (len(tally.recent), tally.recent_failed) == (20, 20)
        for _ in range(19):
            tally.ended(thought("acted"), None, NOW)
        assert (len(tally.recent), tally.recent_failed) == (20, 1)
        assert tally.failed == 20

    @pytest.mark.parametrize("outcome", ["no answer", "broke off", "too large"])
    def test_what_went_wrong_at_the_last_thought_is_a_problem(self, outcome):
        assert told("acted", outcome).problem == f"because of {outcome}"
        assert told(outcome, "dropped").problem == f"because of {outcome}"
        assert told(outcome, "acted").problem == ""

    def test_one_refused_command_is_everyday_life_and_three_in_a_row_are_not(self):
        assert told("refused").problem == ""
        assert told("acted", "refused", "refused").problem == ""
        assert told("refused", "refused", "acted", "refused").problem == ""
        assert told("refused", "refused", "refused").problem == "because of refused"
        assert told("refused", "refused", "refused", "acted").problem == ""

    def test_what_came_since_the_start_stays_the_newest(self):
        tally = told("acted")
        older = Lately(["no answer", *["acted"] * 19], "look", NOW - timedelta(hours=1), 900)
        tally.prime(older)
        assert list(tally.recent)[-2:] == ["no answer", "acted"]
        assert (len(tally.recent), tally.recent_failed) == (20, 1)
        assert (tally.act, tally.acted_at) == ("x", NOW)
        assert (tally.came_to_an_end, tally.used) == (1, 900)


class TestNames:
    """Whom a name means, and when."""

    names = Names.after([("Mira", NOW), ("Myra", NOW + timedelta(days=1))], "Mira", None)

    @pytest.mark.parametrize(
        ("name", "hours", "meant"),
        [
            *[("Mira", -999, True), ("mira", 0, True), ("Mira", 1, False), ("Mira", 25, True)],
            *[("Myra", -1, False), ("Myra", 1, True), ("Myra", 25, False), ("Tom", 1, False)],
        ],
    )
    def test_each_name_counts_for_the_time_that_it_was_borne(self, name, hours, meant):
        assert self.names.bore(name, lambda: NOW + timedelta(hours=hours)) is meant

    def test_what_has_no_time_is_of_the_one_name_alone(self):
        assert Names.of("Mira").bore("MIRA", lambda: None)
        assert not self.names.bore("Myra", lambda: None)
        assert (self.names.now, self.names.each) == ("Mira", ("Mira", "Myra"))


class LoggedWorld(WebWorld):
    """A world that can be reloaded, and whose log can be read."""

    def talks(self, *answers: str, agent: str = "Mira") -> None:
        self.said = [*answers, "wait"]
        self.char1.execute_cmd(f"talk {agent} Good evening.")
        self.pass_time(4)

    def outcomes(self) -> Counter[str]:
        assert self.log.flush(60)
        found = events(self.log.folder)
        return Counter(each["outcome"] for each in found if each["kind"] == "thought")

    def reload(self) -> None:
        """The Server goes down and comes back."""
        assert self.log.flush(60)
        self.stop_services()
        self.log.close()
        self.services = self.start_services()
        self.addCleanup(runtime.stop, reload=True)
        runtime.live(self.services)
        self.settle(lambda: self.mind.thinker.tally.acted_at is not None)


class TestCounts(LoggedWorld):
    """Item by item, as the page has it."""

    def test_counts_add_up_to_those_of_the_log(self):
        self.talks("juggle", "juggle", "say Here I am.")
        self.talks("say Good night.")
        row, outcomes = self.get(self.of_mira()), self.outcomes()
        assert outcomes["refused"] == 2
        assert row["ended"] == sum(outcomes.values()) - outcomes["dropped"]
        assert row["failed"] == outcomes["refused"]
        assert (row["recent_ended"], row["recent_failed"]) == (row["ended"], row["failed"])
        assert row["thoughts"] == row["ended"]
        self.problems()
        self.rights()

    def problems(self):
        """One line of one sentence each."""
        for problem in (HELP, "a" * 500, "The disk is full. Free some space. Then wait"):
            self.mind.memory.problem = None
            for _ in range(3):
                self.mind.thinker.tally.ended(thought("refused", problem), None, NOW)
            found = self.get(self.of_mira())["problem"]
            assert found
            assert "\n" not in found
            assert len(found) <= 160
        assert found == "The disk is full."

    def rights(self):
        """Who may act is told so."""
        assert self.get("/agents")["may_act"] is True
        assert self.get(self.of_mira())["may_act"] is True
        self.web = self.client_of(self.account_named("Stan", "Player", is_staff=True))
        found = self.get("/agents")
        assert (found["may_act"], found["agents"][0]["may_act"]) == (False, False)
        assert self.get(self.of_mira())["may_act"] is False

    def test_refused_answers_are_a_problem_only_when_nothing_else_comes(self):
        self.talks("juggle", "say Here I am.", "juggle", "say So.")
        assert self.get(self.of_mira())["problem"] == ""
        self.said = ["juggle"]
        for words in ("Good evening.", "Well?"):
            self.char1.execute_cmd(f"talk Mira {words}")
            self.pass_time(20)
        assert "juggle" in self.get(self.of_mira())["problem"]


class TestStates(LoggedWorld):
    """Paused, asleep and going home, one beside the other."""

    def about(self) -> tuple[str, bool, bool, bool]:
        row = self.get(self.of_mira())
        return row["state"], row["paused"], row["asleep"], row["going_home"]

    def said_of(self, deed: str, **body: Any) -> str:
        done = self.post(self.of_mira(f"/{deed}"), body=body or None)
        assert done["state"] == self.about()[0]
        return ("" if done["done"] else "not: ") + done["said"]

    def test_paused_and_asleep(self):
        assert "does not think" in self.said_of("pause")
        assert self.said_of("sleep", here=True) == "Mira sleeps"
        assert self.about() == ("asleep", True, True, False)
        assert self.said_of("sleep") == "not: Mira is asleep already"
        assert "wakes first" in self.said_of("resume")
        assert self.about() == ("asleep", False, True, False)
        assert "sleeps on" in self.said_of("pause")
        assert "still paused" in self.said_of("wake")
        assert self.about() == ("paused", True, False, False)
        assert self.said_of("wake").startswith("not: Mira is awake")
        assert self.said_of("resume") == "Mira thinks again"
        assert self.about() == ("idle", False, False, False)

    def test_paused_and_going_home(self):
        self.mira.home = self.room2
        self.said_of("pause")
        assert self.room2.key in self.said_of("sleep")
        assert self.about() == ("going home to sleep", True, False, True)
        assert self.said_of("pause").startswith("not: ")
        assert "already" in self.said_of("sleep")
        assert "on its way to bed" in self.said_of("resume")
        assert "goes home to sleep all the same" in self.said_of("pause")
        assert "stays up; it is still paused" in self.said_of("wake")
        assert self.about() == ("paused", True, False, False)
        self.clock.advance(60)
        assert not self.mira.is_asleep
        self.said_of("resume")
        self.said_of("sleep")
        assert self.said_of("sleep", here=True) == "Mira sleeps"
        assert self.about() == ("asleep", False, True, False), "made to lie down on its way"

    def test_the_command_in_the_game_says_the_same(self):
        self.char1.account.permissions.add("Builder")
        self.char1.permissions.add("Builder")
        heard = self.hears(self.char1)
        self.said_of("sleep", here=True)
        self.char1.execute_cmd("@agent/pause Mira")
        self.char1.execute_cmd("@agent/resume Mira")
        assert "wakes first" in heard[-1]
        self.said_of("wake")
        self.char1.execute_cmd("@agent/resume Mira")
        assert "Mira is not paused" in heard[-1]


class TestReload(LoggedWorld):
    """What was before the start."""

    def test_what_it_did_before_is_told(self):
        self.talks("juggle", "say Good evening, Tom.")
        before, prompt = self.get(self.of_mira()), self.get(self.of_mira("/prompt"))
        assert (before["recent_ended"], before["recent_failed"]) == (2, 1)
        self.reload()
        after = self.get(self.of_mira())
        for name in ("last_act", "used", "recent_ended", "recent_failed"):
            assert after[name] == before[name], name
        assert abs(_time(after["last_act_at"]) - _time(before["last_act_at"])) < timedelta(1)
        assert (after["thoughts"], after["ended"], after["failed"]) == (0, 0, 0)
        found = self.get(self.of_mira("/prompt"))
        for name in ("tokens", "budget", "trigger", "answer", "cached", "server_tokens"):
            assert found[name] == prompt[name], name
        (whole,) = found["sent"]
        assert whole["text"] == self.fake.prompts()[-1]
        costs = [(each["name"], each["tokens"]) for each in found["sections"]]
        assert costs == [(each["name"], each["tokens"]) for each in prompt["sections"]]
        self.talks("say Good night, Tom.")
        row = self.get(self.of_mira())
        assert row["last_act"] == "say Good night, Tom."
        assert (row["ended"], row["recent_ended"]) == (1, 3), "what comes after goes before it"
        assert len(self.get(self.of_mira("/prompt"))["sent"]) > 1

    def test_a_log_that_cannot_be_read_keeps_nobody_from_living(self):
        self.log.close()
        self.stop_services()
        self.services = self.start_services()
        (self.services.places.events / "events-2099-05-04-9999999999.jsonl").mkdir(parents=True)
        self.addCleanup(runtime.stop, reload=True)
        with self.assertLogs("keepsake.agents", "INFO") as logged:
            runtime.live(self.services)
            self.settle(lambda: any("did before" in each for each in logged.output))
        assert self.get(self.of_mira())["last_act"] == ""

    def test_what_is_logged_from_then_on_counts_once(self):
        self.talks("say Good evening, Tom.")
        assert self.log.flush(60)
        start = datetime.now(UTC)
        self.talks("say Good night, Tom.")
        assert self.log.flush(60)
        (found,) = lately(self.log.folder, [Names.of("mira")], start)
        assert (found.act, found.outcomes) == ("say Good evening, Tom.", ["acted"])
        assert found.used > 0
        (nothing,) = lately(self.log.folder, [Names.of("mira")], start, most=100)
        assert nothing == Lately()


class TestRenamed(LoggedWorld):
    """An agent and its former names."""

    def setUp(self) -> None:
        super().setUp()
        self.talks("say Good evening, Tom.")
        self.mira.key = "Mirabel"
        self.settle()

    def why(self, n: int, agent: Agent | None = None) -> dict[str, Any]:
        assert self.log.flush(60)
        return self.get(f"/agents/{(agent or self.mira).id}/why", n=n)

    def thoughts_of(self, agent: Agent) -> int:
        """Those in the chart of the last hour."""
        assert self.log.flush(60)
        found = self.get(f"/agents/{agent.id}/series")
        return sum(point["thoughts"] for point in found["points"])

    def shown_to(self, agent: Agent) -> list[str]:
        """The acts that a stream of that agent would be shown."""
        assert self.log.flush(60)
        hub, names = Hub(self.clock), _names_of(agent.id)
        wanted = StreamQuery(agent=agent.id, kinds=frozenset({"thought"}))
        records = list(events(self.log.folder))
        taken = [
            each for each in records if wanted.takes(StreamRecord(as_written(each), hub), names)
        ]
        return [each["command"] for each in taken if each["command"] != "wait"]

    def test_its_counts_charts_and_reasons_go_on_and_outlive_a_reload(self):
        row = self.get(self.of_mira())
        assert row["name"] == "Mirabel"
        assert (row["thoughts"], row["ended"], row["recent_ended"]) == (1, 1, 1)
        assert row["last_act"] == "say Good evening, Tom."
        assert row["used"] > 0
        assert self.get(self.of_mira("/prompt"))["tokens"] == row["used"]

        self.talks("say Good night, Tom.", agent="Mirabel")
        assert self.thoughts_of(self.mira) == 2
        old = self.why(2)
        assert (old["command"], old["trigger"]) == ("say Good evening, Tom.", "addressed")
        assert old["seq"] > 0
        assert self.why(1)["command"] == "say Good night, Tom."
        assert self.shown_to(self.mira) == ["say Good evening, Tom.", "say Good night, Tom."]
        assert next(each.number for each in _window_of("Mira")) == 1

        self.char1.account.permissions.add("Builder")
        self.char1.permissions.add("Builder")
        heard = self.hears(self.char1)
        assert self.log.flush(60)
        self.char1.execute_cmd("@why Mirabel")
        self.settle(lambda: bool(heard))
        shown = strip_ansi("\n".join(heard))
        assert "Mirabel's last act" in shown
        assert "addressed by Tom" in shown
        self.reload()
        assert self.get(self.of_mira())["last_act"] == "say Good night, Tom."
        assert self.get(self.of_mira("/prompt"))["at"]
        assert self.thoughts_of(self.mira) == 2

    def test_whoever_has_the_name_next_gets_nothing_of_its_past_and_gives_it_nothing(self):
        oswin = self.another_agent("Oswin")
        oswin.key = "Mira"
        self.settle()
        self.talks("say I am another.", agent="Mira")
        assert self.shown_to(oswin) == ["say I am another."]
        assert self.shown_to(self.mira) == ["say Good evening, Tom."]
        assert self.why(1)["command"] == "say Good evening, Tom."
        assert self.why(1, oswin)["command"] == "say I am another."
        assert [each.text for each in _window_of("Mira") if "Good evening, Tom" in each.text]
        whose = [self.of_mira(), f"/agents/{oswin.id}"]
        before = [self.get(each)["last_act"] for each in whose]
        self.reload()
        assert [self.get(each)["last_act"] for each in whose] == before

    def test_nor_does_a_new_one_or_a_copy_and_odd_names_change_nothing(self):
        oswin = self.another_agent("Oswin")
        oswin.key = "Rook"
        oswin.key = "Piet"
        rook = self.another_agent("Rook")
        assert names_of(rook).called[0].since is not None
        assert names_of(self.another_agent("Ada")).called[0].since is None
        copy = self.mira.copy("Ilse")
        assert names_of(copy).each == ("Ilse",)
        assert self.shown_to(copy) == []
        self.mira.key = "Tom"
        assert self.mira.key == "Mirabel"
        assert names_of(self.mira).each == ("Mirabel", "Mira")
        assert self.get(self.of_mira())["thoughts"] == 1
        self.oddities()

    def oddities(self):
        """Whatever a builder wrote there it lives on; so many names are kept and no more."""
        for value in (7, "Mira", [1, ("Mira",), ("Mira", "yesterday"), (3, NOW.isoformat())]):
            self.mira.attributes.add(FORMER, value)
            assert names_of(self.mira).now == "Mirabel"
        assert self.get(self.of_mira("/series"))["points"]
        for number in range(MOST + 5):
            keep_former(self.mira, f"Name{number}")
        names = names_of(self.mira)
        assert len(names.called) == MOST + 1
        assert names.called[0].since is not None
        keep_former(self.mira, f"Name{MOST + 4}")
        assert names_of(self.mira) == names


def _time(iso: str) -> datetime:
    return datetime.fromisoformat(iso)
