"""Which server takes a call, and what becomes of calls when servers go."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from keepsake.errors import (
    BadAnswer,
    ModelFailed,
    ModelMissing,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)
from keepsake.models.fleet import FAR_BEHIND, Homes, ServerLoad, choose
from keepsake.models.gateway import Gateway
from keepsake.models.pool import drained_hosts
from keepsake.models.profiles import Profiles
from keepsake.models.queue import Lane, ModelQueue, Offer, Outcome, Priority, Ticket
from keepsake.paths import Places
from keepsake.ports import Generation, GenerationRequest
from tests.llm.hand import Hand

LOADS = st.lists(
    st.builds(
        ServerLoad,
        well=st.booleans(),
        free=st.booleans(),
        behind=st.sampled_from([0, 0.5, 1, 1.5, 2, 4]),
        agents=st.sampled_from([0, 1, 2, 5]),
    ),
    min_size=1,
    max_size=5,
)


@given(LOADS, st.data())
def test_the_choice(loads: list[ServerLoad], data: st.DataObject):
    home = data.draw(st.none() | st.integers(0, len(loads) - 1))
    at = choose(loads, home)
    anyone_well = any(each.well for each in loads)
    among = [i for i, each in enumerate(loads) if each.well or not anyone_well]
    free = [i for i in among if loads[i].free]
    if at is not None:
        assert at in free, "a place that is free, at a server that is well if any is"
    if home in free:
        assert at == home, "an agent stays where its prompt is"
    elif home in among:
        own = loads[home].behind
        better = [i for i in free if own - loads[i].behind > FAR_BEHIND]
        assert (at is None) == (not better), "it waits while its server is not far behind"
        assert at is None or at in better
    else:
        assert (at is None) == (not free), "nobody waits beside a free place"
    if at is not None and at != home:
        assert loads[at].behind == min(loads[i].behind for i in free), "the least that waits"


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("xyz")), max_size=40))
def test_an_agent_has_one_home_and_the_count_is_right(kept: list[tuple[str, str]]):
    homes: Homes[str] = Homes(most=4)
    for agent, server in kept:
        homes.keep(agent, server)
    last = dict(kept)
    found = {agent: server for agent in last if (server := homes.of(agent)) is not None}
    assert len(found) == min(4, len(last))
    assert all(last[agent] == server for agent, server in found.items())
    for server in "xyz":
        assert homes.agents(server) == list(found.values()).count(server)
    homes.keep(None, "x")
    assert homes.of(None) is None


class Site:
    """A server of the tests: it answers, or raises what it is told to."""

    def __init__(self, name: str, lane: Lane) -> None:
        self.name, self.lane = name, lane
        self.well = True
        self.error: Exception | None = None

    def is_well(self) -> bool:
        return self.well

    def generate(self, request: GenerationRequest) -> Generation:
        if self.error is not None:
            raise self.error
        return Generation(request.prompt, "stop", 1, 0, 1, 0.0, self.name)


class Port:
    """A queue before several servers; calls end when the test ends them."""

    def __init__(self, *places: int) -> None:
        self.posted: list[Callable[[], None]] = []
        self.hand = Hand()
        self.queue = ModelQueue(self.hand, self.posted.append, lambda: 0.0)
        self.sites = [Site(f"s{i}", self.queue.lane(n)) for i, n in enumerate(places)]
        self.came: dict[str, list[Outcome]] = {}
        self.tickets: dict[str, Ticket] = {}

    def ask(
        self, name: str, agent: str | None = None, priority: Priority = Priority.EVENT
    ) -> Ticket:
        offers = [
            Offer(each.lane, each, lambda: GenerationRequest(name), each.is_well)
            for each in self.sites
        ]
        came = self.came[name] = []
        self.tickets[name] = self.queue.submit(priority, agent, offers, came.append, agent)
        self.settle()
        return self.tickets[name]

    def settle(self) -> None:
        while self.posted:
            self.posted.pop(0)()

    def end(self, name: str) -> None:
        self.hand.end(name)
        self.settle()

    def where(self) -> dict[str, str]:
        """Which server has which call in flight."""
        return {
            name: site.name
            for name, ticket in self.tickets.items()
            for site in self.sites
            if ticket in site.lane.running
        }

    def answer(self, name: str) -> Any:
        (outcome,) = self.came[name]
        return outcome.model if isinstance(outcome, Generation) else outcome


def test_agents_spread_and_then_stay():
    port = Port(2, 2)
    for turn in range(3):
        for agent in "abcd":
            port.ask(f"{agent}{turn}", agent)
            port.end(f"{agent}{turn}")
    homes = {agent: {port.answer(f"{agent}{turn}") for turn in range(3)} for agent in "abcd"}
    assert all(len(servers) == 1 for servers in homes.values())
    assert sorted(next(iter(each)) for each in homes.values()) == ["s0", "s0", "s1", "s1"]
    assert [port.queue.homes.agents(each.lane) for each in port.sites] == [2, 2]


def test_an_agent_waits_for_its_server_unless_that_is_far_behind():
    port = Port(1, 1)
    port.sites[1].well = False
    for agent in "abcd":
        port.ask(f"{agent} home", agent)
        port.end(f"{agent} home")
    assert {port.answer(f"{agent} home") for agent in "abcd"} == {"s0"}
    port.sites[1].well = True
    for agent in "abcd":
        port.ask(agent, agent)
    assert port.where() == {"a": "s0", "c": "s1"}, "b waits one round; two rounds are too many"
    assert sum(port.queue.waiting(port.sites[0].lane).values()) == 2
    port.end("a")
    assert port.where() == {"b": "s0", "c": "s1"}
    port.end("c")
    assert port.where() == {"b": "s0"}, "d is next at its own"
    port.end("b")
    port.end("d")
    assert [port.answer(each) for each in "abcd"] == ["s0", "s0", "s1", "s0"]


@pytest.mark.parametrize(
    "error", [ModelUnavailable("x"), ModelFailed("x"), ModelMissing("x"), ModelRejected("x")]
)
def test_what_a_server_does_not_take_is_asked_at_each_other_once(error: Exception):
    port = Port(2, 2, 2)
    port.sites[0].error = port.sites[1].error = error
    port.ask("a", "mira")
    for _ in range(3):
        assert port.came["a"] == []
        port.end("a")
    assert port.answer("a") == "s2"
    assert port.hand.started == ["a"] * 3
    assert [each.lane.moved for each in port.sites] == [1, 1, 0]
    port.sites[2].error = error
    port.ask("b", "mira")
    assert port.where() == {"b": "s2"}, "it is at home there now"
    for _ in range(3):
        port.end("b")
    assert port.answer("b") is error
    assert port.hand.running == {}


@pytest.mark.parametrize("error", [ModelTimeout("x"), BadAnswer("x")])
def test_what_is_not_the_servers_fault_is_not_asked_again(error: Exception):
    port = Port(2, 2)
    port.sites[0].error = error
    port.ask("a")
    port.end("a")
    assert len(port.came["a"]) == 1
    assert port.hand.started == ["a"]


def test_calls_at_a_server_that_is_gone_are_asked_elsewhere_and_answered_once():
    port = Port(2, 2)
    port.ask("a", "mira")
    port.ask("b", "tom")
    assert port.where() == {"a": "s0", "b": "s1"}
    first = port.hand.running.pop("a")  # which hangs, and will answer when nobody wants it
    port.queue.gone(port.sites[0].lane, ModelUnavailable("gone"))
    port.settle()
    assert port.where() == {"a": "s1", "b": "s1"}
    first[0].set_result(first[1]())
    port.settle()
    assert port.came["a"] == []
    port.end("a")
    assert port.answer("a") == "s1"
    port.queue.gone(port.sites[1].lane, ModelUnavailable("gone"))
    port.settle()
    assert port.where() == {"b": "s0"}
    port.queue.gone(port.sites[0].lane, ModelUnavailable("gone"))
    port.settle()
    assert port.where() == {"b": "s0"}, "there is no other left: its own time limit ends it"
    assert port.came["b"] == []


def test_a_drained_server_gets_no_new_calls_and_finishes_its_own():
    port = Port(1, 1)
    port.ask("a", "mira")
    port.sites[0].lane.drained = True
    port.ask("b", "tom")
    port.ask("c", "ada")
    assert port.where() == {"a": "s0", "b": "s1"}
    port.end("a")
    assert port.where() == {"b": "s1"}
    assert port.answer("a") == "s0"
    port.sites[1].lane.drained = True
    port.queue.look()
    port.settle()
    assert "@llm-status/undrain" in str(port.answer("c"))
    port.end("b")
    assert port.answer("b") == "s1"


def test_a_cancelled_call_is_not_asked_elsewhere():
    port = Port(1, 1)
    port.sites[0].error = ModelUnavailable("x")
    ticket = port.ask("a", "mira")
    ticket.cancel()
    port.end("a")
    assert port.hand.started == ["a"]
    assert port.came["a"] == []
    assert port.where() == {}


def test_a_look_that_finds_nothing_new_moves_no_call(home: Places):
    """Or the watcher, which goes by the machine's time, would change what a simulation does."""
    (home.config / "llm.md").write_text(
        "## agent\n**provider**: openai\n**model**: m\n**host**: http://a:1, http://b:2\n"
        "## summarizer\n**provider**: extractive\n"
    )
    posted: list[Callable[[], None]] = []
    gateway = Gateway(Profiles(home.config / "llm.md"), home, posted.append, {})
    gateway.profile("agent")
    while posted:
        posted.pop(0)()
    gateway._pool.fit()
    assert posted == []
    gateway.drain("http://b:2")
    assert posted, "who waits there alone is told"
    gateway.shutdown(stop_embedded=False)


def test_who_is_drained_is_kept_by_whole_addresses(tmp_path: Path):
    (tmp_path / "drained").write_text("http://a:1\nin this process\n")
    assert drained_hosts(tmp_path / "drained") == {"http://a:1", "in this process"}
    assert drained_hosts(tmp_path / "none") == set()


class Servers(RuleBasedStateMachine):
    """Whatever happens to servers, each call has one outcome."""

    @initialize(places=st.lists(st.integers(1, 3), min_size=1, max_size=3))
    def begin(self, places: list[int]) -> None:
        self.port = Port(*places)
        self.hanging: list[Future[Any]] = []

    def site(self, number: int) -> Site:
        return self.port.sites[number % len(self.port.sites)]

    @rule(agent=st.sampled_from(["mira", "tom", "ada", None]), priority=st.sampled_from(Priority))
    def ask(self, agent: str | None, priority: Priority) -> None:
        self.port.ask(f"call {len(self.port.came)}", agent, priority)

    @precondition(lambda self: self.port.hand.running)
    @rule(number=st.integers(0, 9))
    def end(self, number: int) -> None:
        names = list(self.port.hand.running)
        self.port.end(names[number % len(names)])

    @rule(number=st.integers(0, 2), error=st.sampled_from([None, ModelFailed("x")]))
    def breaks(self, number: int, error: ModelFailed | None) -> None:
        self.site(number).error, self.site(number).well = error, error is None

    @rule(number=st.integers(0, 2), drained=st.booleans())
    def drain(self, number: int, drained: bool) -> None:
        self.site(number).lane.drained = drained
        self.port.queue.look()
        self.port.settle()

    @rule(number=st.integers(0, 2))
    def is_gone(self, number: int) -> None:
        port, site = self.port, self.site(number)
        there = [name for name, at in port.where().items() if at == site.name]
        port.queue.gone(site.lane, ModelUnavailable("gone"))
        for name in there:
            if port.tickets[name] not in site.lane.running:
                self.hanging.append(port.hand.running.pop(name)[0])
        port.settle()

    @invariant()
    def places_and_agents_are_kept(self) -> None:
        lanes = [site.lane for site in self.port.sites]
        assert all(len(lane.running) <= lane.places for lane in lanes)
        agents = [ticket.key for lane in lanes for ticket in lane.running if ticket.key]
        assert len(agents) == len(set(agents)), "never two calls of one agent"
        assert all(len(came) <= 1 for came in self.port.came.values())

    def teardown(self) -> None:
        if not hasattr(self, "port"):
            return
        for future in self.hanging:
            future.set_result(Generation("late", "stop", 1, 0, 1, 0.0, "late"))
        self.port.settle()
        while self.port.hand.running:
            self.port.end(next(iter(self.port.hand.running)))
        answers = [outcome for came in self.port.came.values() for outcome in came]
        assert len(answers) == len(self.port.came), "one outcome each"
        assert not any(isinstance(each, Generation) and each.text == "late" for each in answers)


TestServers = Servers.TestCase
