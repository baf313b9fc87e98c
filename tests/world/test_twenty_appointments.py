"""Twenty appointments over a reload, a night and changes of the clock: all woken once, and kept.

The model is a stand-in. It notes what it is asked to plan, does the next deed of the plan that a
prompt says is due, and sees nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from keepsake.books.plan import PlanState
from tests.fakes.planner import next_deed
from tests.world.agents_world import AgentsWorld
from typeclasses.agents import Agent

_ASKED = re.compile(r'Tom says to you, "Please plan this: (.+)"')
_NAME = re.compile(r"You are (\w+)")
_DUE = re.compile(
    r"what you mean to do(?: \(|: )(?P<number>\d+)\. .+?\((?P<why>its time has come|Ada is here)\)"
)
_BEARS = re.compile(r"it may bear on what you mean to do \((?P<number>\d+)\. after [^:]+: (.+?) \(")
NAMES = ("Mira", "Bram", "Nell", "Oswin", "Wren")


@dataclass(frozen=True)
class Woken:
    """One prompt by which an agent is woken for a plan: when, and for the plan of that number."""

    agent: str
    number: int
    at: datetime


class TestTwentyAppointments(AgentsWorld):
    """Five agents with four appointments each, and the players Tom and Ada."""

    START = datetime(2026, 11, 27, 12, tzinfo=UTC)

    def setUp(self) -> None:
        super().setUp()
        self.quiet()
        self.fake.script = self.answer
        self.quay = self.add_room("The Quay")
        self.square = self.add_room("The Square")
        self.loft = self.add_room("The Loft")
        self.add_exits(self.room1, "south", "north", self.quay)
        self.add_exits(self.room1, "north", "south", self.square)
        self.agents: dict[str, Agent] = {"Mira": self.mira}
        self.agents |= {name: self.add_agent(name) for name in NAMES[1:]}
        self.ada = self.add_player(2, "Ada")
        self.ada.move_to(self.loft, quiet=True)
        self.char2.move_to(self.loft, quiet=True)
        self.woken: list[Woken] = []
        self.due: dict[tuple[str, int], datetime] = {}
        self.pass_time(10)

    def quiet(self) -> None:
        self.set_thinking(idle_interval=1e9, pause_notice=0)

    def answer(self, prompt: str) -> str:
        """Answer as the stand-in, and note who was woken for what."""
        asked = _ASKED.findall(prompt)
        if asked and prompt.endswith("[Tom waits for your answer.]"):
            return f"> plan {asked[-1]}"
        found = _DUE.search(prompt) or _BEARS.search(prompt)
        if found is not None:
            (name,) = _NAME.findall(prompt)[:1]
            self.woken.append(Woken(name, int(found["number"]), self.time.time))
        bears = _BEARS.search(prompt)
        return f"{bears[2]}\n> done {bears['number']}" if bears else next_deed(prompt)

    def appoint(self, name: str, plan: str, due: datetime | None = None) -> None:
        """Let Tom ask an agent to plan something; ``due``: when it is, on the wall clock."""
        self.char1.execute_cmd(f"talk {name} Please plan this: {plan}")
        self.pass_time(4)
        number = max(each.number for each in self.plans_of(name))
        if due is not None:
            self.due[name, number] = due
        else:
            self.waits[name] = number

    def plans_of(self, name: str):
        mind = self.agents[name].mind
        assert mind is not None
        return mind.books.plans.items

    def pass_minutes(self, minutes: float) -> None:
        """Let time pass, on the wall clock and on the timers."""
        for _ in range(int(minutes * 4)):
            self.time.time += timedelta(seconds=15)
            self.pass_time(15)

    def make_all(self) -> None:
        """Make the twenty appointments, each with words that are said when it is kept."""
        self.waits: dict[str, int] = {}
        for place, name in enumerate(NAMES):
            for minutes, where in ((10 + 2 * place, "the Quay"), (24 + 2 * place, "the Square")):
                due = self.time.time + timedelta(minutes=minutes)
                self.appoint(name, f"in {minutes} minutes, {where}: {name} at {minutes}.", due)
            tomorrow = self.START + timedelta(days=1, hours=-3, minutes=3 * place)
            self.appoint(name, f"tomorrow 9:{3 * place:02}, the Inn: {name} slept.", tomorrow)
        for name in NAMES[:3]:
            self.appoint(name, f"when Ada comes: {name} greets Ada.")
        for name, event in zip(NAMES[3:], ("storm", "market"), strict=True):
            self.appoint(name, f"after the {event}: {name} saw the {event}.")

    def reload(self) -> None:
        self.stop_services()
        self.services = self.start_services()
        self.quiet()
        for each in self.agents.values():
            assert each.mind is not None

    def expect(self, names: tuple[str, ...]) -> None:
        """Expect those agents to be woken now for what they wait for."""
        self.due |= {(name, self.waits[name]): self.time.time for name in names}

    def the_time_comes(self) -> None:
        """Let two days pass, with all that may go wrong with a clock."""
        self.pass_minutes(20)
        self.reload()
        self.pass_minutes(9.5)
        self.time.time -= timedelta(minutes=15)
        self.pass_minutes(19)
        for each in (self.char1, self.ada):
            self.expect(NAMES[:3] if each is self.ada else ())
            each.move_to(self.square)
        self.pass_minutes(1)
        for name, words in zip(NAMES[3:], ("The storm is over", "The market ends"), strict=True):
            self.expect((name,))
            self.char1.execute_cmd(f"talk Ada {words}, Ada.")
            self.pass_minutes(1)
        for each in self.agents.values():
            each.mind.sleeper.go_to_bed("a test said so")
        self.pass_minutes(3)
        assert all(each.db.asleep for each in self.agents.values())
        self.time.time = self.START + timedelta(days=1, hours=-4)
        for each in self.agents.values():
            each.mind.sleeper.wake("a test", rested=True)
        self.pass_minutes(1)
        self.time.time = self.START + timedelta(days=1, hours=-3, minutes=-2)
        self.pass_minutes(6)
        self.time.time += timedelta(minutes=4)  # past 9:06, within the grace of that appointment
        self.due = {
            key: self.time.time if self.is_past(key, due) else due for key, due in self.due.items()
        }
        self.pass_minutes(7)

    def is_past(self, key: tuple[str, int], due: datetime) -> bool:
        """Whether a plan is due now, and its agent was not woken for it."""
        woken = {(each.agent, each.number) for each in self.woken}
        return due < self.time.time and key not in woken

    def test_all_are_woken_within_a_minute_and_once_and_are_kept(self):
        self.make_all()
        heard = self.capture(self.char1, self.ada)
        self.the_time_comes()
        assert len(self.due) == 20
        times = Counter((each.agent, each.number) for each in self.woken)
        assert times == dict.fromkeys(self.due, 1)
        for each in self.woken:
            late = each.at - self.due[each.agent, each.number]
            assert abs(late) <= timedelta(minutes=1), each
        for name in NAMES:
            plans = self.plans_of(name)
            assert [each.state for each in plans] == [PlanState.DONE] * 4, name
            said = [each.said.words for each in self.window(name) if each.said is not None]
            assert sorted(said) == sorted(each.what for each in plans), name
        assert any("Mira greets Ada" in line for line in heard)

    def window(self, name: str):
        mind = self.agents[name].mind
        assert mind is not None
        return mind.memory.context().window
