"""A world with agents for tests: the real gateway and client over HTTP, a fake model server.

Time moves only when a test moves it. :meth:`AgentsWorld.settle` stands in for the reactor.
"""

from __future__ import annotations

import queue
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, ClassVar
from unittest.mock import patch

import evennia
from evennia.utils import create
from evennia.utils.ansi import strip_ansi
from twisted.internet.task import Clock

from game.simulation.visits import connected, make_player
from keepsake.agent import runtime
from keepsake.agent.mind import Mind
from keepsake.contrib.evennia.creation import create_agent
from keepsake.contrib.evennia.minds import close_all
from keepsake.events.log import EventLog, Subscribers
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import Profiles
from keepsake.paths import REPOSITORY, Places, Ports
from keepsake.ports import FixedClock
from tests.fakes.model_server import FakeModelServer, Reply, llm_page
from tests.world.built_world import PeopleWorld
from typeclasses.agents import Agent
from typeclasses.exits import Exit
from typeclasses.rooms import Room
from world import days

SMALL_WINDOWS = "**immediate_window**: 4\n**recent_window**: 4\n**min_saving_tokens**: 0\n"
"""A file of settings for windows of four memories."""


class CountedPool(ThreadPoolExecutor):
    """Worker threads whose ``jobs`` have not ended, all that they hand back included."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.jobs, self._counting = 0, threading.Lock()

    def submit(self, work: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._count(1)

        def run() -> None:
            try:
                if future.set_running_or_notify_cancel():
                    future.set_result(work(*args, **kwargs))
            except BaseException as error:  # as any executor hands it over
                future.set_exception(error)
            finally:
                self._count(-1)

        try:
            super(CountedPool, self).submit(run)
        except RuntimeError:  # it was shut down
            self._count(-1)
            raise
        return future

    def _count(self, more: int) -> None:
        with self._counting:
            self.jobs += more


class AgentsWorld(PeopleWorld):
    """Mira in the inn, Tom who is played by somebody, and a model that is scripted."""

    FORM = "script"
    """The form of the agents' prompts; with this one an answer is a command."""
    COMPACTION = ""
    """What ``memory_compaction.md`` says; as it is shipped if empty."""
    START: ClassVar[datetime | None] = None
    """When the agents' clock, then ``self.time``, stands still; None for the real one."""

    def setUp(self) -> None:
        super().setUp()
        self.scenes = patch.object(days, "scenes", lambda: ())  # agents who meet play none
        self.scenes.start()
        self.addCleanup(patch.stopall)
        self.scratch = Path(tempfile.mkdtemp(prefix="keepsake-agents-"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.posted: queue.Queue[Callable[[], None]] = queue.Queue()
        self.clock = Clock()
        self.fake = FakeModelServer(models=["fake"])
        self.addCleanup(self.fake.close)
        self.replies = ["wait"]
        self.fake.script = lambda _: (
            f" {self.replies[0] if len(self.replies) == 1 else self.replies.pop(0)}"
        )
        if self.START is not None:
            self.time = FixedClock(self.START)
        self.services = self.start_services()
        self.room1.key, self.char1.key = "The Inn", "Tom"
        self.room1.db.desc = "A low room."
        self.mira = self.make_mira()

    def make_mira(self) -> Agent:
        return create_agent("Mira", location=self.room1, profile="You are Mira, an innkeeper.")

    def tearDown(self) -> None:
        self.stop_services()
        super().tearDown()

    # -- services

    def start_services(self) -> runtime.Runtime:
        """The services as the game makes them, with a clock and a mailbox of the test's own."""
        vault = self.scratch / "vault"
        if not vault.exists():
            shutil.copytree(REPOSITORY / "vault" / "config", vault / "config")
            agent = f"provider=ollama host={self.fake.address} model=fake time_limit=60"
            page = llm_page(agent=f"{agent} form={self.FORM}", summarizer="provider=none")
            (vault / "config" / "llm.md").write_text(page)
            if self.COMPACTION:
                (vault / "config" / "memory_compaction.md").write_text(self.COMPACTION)
        places = Places(home=self.scratch / "home", vault=vault, ports=Ports(46500))
        new = runtime.Runtime(
            places=places,
            gateway=self.make_gateway(places),
            workers=CountedPool(6),
            compactions=CountedPool(4),
            nights=CountedPool(2),
            post=self.posted.put,
            timer=self.clock,
            random=Random(7),
        )
        new.thinking = FixedConfig(new.thinking.current)
        if self.START is not None:
            new.clock = self.time
        runtime.install(new)
        return new

    def make_gateway(self, places: Places) -> Gateway:
        """The way to the fake model."""
        return Gateway(Profiles(places.config / "llm.md"), places, self.posted.put)

    def stop_services(self) -> None:
        close_all()
        runtime.stop(reload=True)

    def settle(self, until: Callable[[], bool] | None = None, seconds: float = 120.0) -> None:
        """Run what worker threads post, until ``until`` holds; by default until they are idle."""
        deadline, waits = time.monotonic() + seconds, False
        while True:
            try:
                self.posted.get(timeout=0.02 if waits or self._at_work() else 0)()
            except queue.Empty:
                # In this order: a thread that ends in between has posted its result before.
                if until() if until else not self._at_work() and self.posted.empty():
                    return
                assert time.monotonic() < deadline, "the condition never held"
                waits = True

    def _at_work(self) -> bool:
        """Whether anything may still be handed back; what was is in the mailbox if not."""
        ours = self.services
        pools = (ours.workers, ours.compactions, ours.nights)
        jobs = sum(getattr(pool, "jobs", 1) for pool in pools)
        return bool(jobs) or any(each.running for each in ours.gateway.servers.values())

    def pass_time(self, seconds: float) -> None:
        """Move the clock in small steps and let every thought that falls due be answered."""
        for _ in range(int(seconds / 0.5)):
            self.clock.advance(0.5)
            self.settle(lambda: not self.is_thinking())

    def wait_for_compaction(self) -> None:
        """Wait for a compaction that was asked for, from before a thread takes it up."""
        self.mind.compactions.compact_if_due()  # as the housekeeping asks
        self.settle(lambda: not self.mind.compactions.compacting)

    def ask(self, line: str, *answers: str, seconds: float = 4.0, who: Any = None) -> Any:
        """Tom speaks to Mira, whose model answers so; the prompts of her thoughts."""
        before = len(self.fake.prompts())
        self.replies = [*answers, "wait"] if answers else self.replies
        (who or self.char1).execute_cmd(f"talk Mira {line}")
        self.pass_time(seconds)
        return self.fake.prompts()[before:]

    def say(self, *lines: str, who: Any = None) -> None:
        """Tom says these while Mira only listens."""
        self.mira.db.paused = True
        for line in lines:
            (who or self.char1).execute_cmd(f"say {line}")
            self.wait_for_compaction()
        self.mira.attributes.remove("paused")

    def is_thinking(self) -> bool:
        """Whether any agent waits for the model."""
        from keepsake.agent.thinker import AgentState  # noqa: PLC0415
        from keepsake.contrib.evennia.minds import open_minds  # noqa: PLC0415

        return any(mind.thinker.state is AgentState.WAITING for mind in open_minds())

    def hold_answers(self) -> threading.Event:
        """From now on the model answers no sooner than the event that this returns is set."""
        gate = threading.Event()
        self.addCleanup(gate.set)
        for path in ("/api/generate", "/api/chat"):
            self.fake.always(path, Reply(gate=gate))
        return gate

    # -- what tests look at

    @property
    def mind(self) -> Mind:
        mind = self.mira.mind
        assert mind is not None
        return mind

    def lines(self, agent: Agent | None = None) -> list[str]:
        """The agent's window as text, without its first look around; own acts behind ``~``."""
        mind = (agent or self.mira).mind
        assert mind is not None
        window = [m for m in mind.memory.context().window if m.number > 1]
        return [f"~{m.text}" if m.kind == "act" else m.line for m in window]

    def capture(self, *objects: Any) -> list[str]:
        """From now on, what any of these is shown."""
        heard: list[str] = []

        def listen(plain: Any) -> Any:
            def msg(text: Any = None, **kwargs: Any) -> None:
                if text:
                    heard.append(str(text[0] if isinstance(text, tuple) else text))
                plain(text=text, **kwargs)

            return msg

        for each in objects:
            each.msg = listen(each.msg)
        return heard

    def demote_to_player(self) -> None:
        """Tom and his account may do what players may, and no more."""
        self.account.is_superuser = False
        for who in (self.account, self.char1):
            who.permissions.clear()
            who.permissions.add("Player")

    def set_thinking(self, **values: Any) -> None:
        """Change what ``thinking.md`` says."""
        config = replace(self.services.thinking.current, **values)
        self.services.thinking.current = config

    def add_agent(self, name: str) -> Agent:
        """One more agent in the inn."""
        return create_agent(name, location=self.room1, profile=f"You are {name}.")

    def add_player(self, number: int, name: str) -> Any:
        """One more player in the inn, with an account and a session of that number."""
        account, made = make_player(name, self.room1)
        made.location = self.room1
        account.puppet_object(connected(account, number), made)
        self.addCleanup(evennia.SESSION_HANDLER.pop, number, None)
        return made

    def add_room(self, name: str) -> Room:
        """One more place."""
        return create.create_object(Room, key=name)

    def add_exit(self, name: str, start: Room, end: Room) -> Exit:
        """An exit."""
        return create.create_object(Exit, key=name, location=start, destination=end)

    def add_exits(self, start: Room, there: str, back: str, end: Room) -> None:
        """An exit, and the one that leads back."""
        self.add_exit(there, start, end)
        self.add_exit(back, end, start)

    def add_thing(self, name: str) -> Any:
        """A thing in the inn."""
        return create.create_object("typeclasses.objects.Object", key=name, location=self.room1)


class LoggedWorld(AgentsWorld):
    """A world whose event log is real."""

    SECRETS: tuple[str, ...] = ()

    def start_services(self) -> runtime.Runtime:
        subscribers, folder = Subscribers(), self.scratch / "home" / "logs" / "events"
        given = {"secrets": self.SECRETS, "subscribers": subscribers}
        self.log = EventLog(folder, retry=0.05, **given)
        self.addCleanup(self.log.close)
        new = super().start_services()
        new.events, new.subscribers = self.log, subscribers
        return new


class Building:
    """Before a world: Tom is a builder there, and reads what his commands show."""

    def setUp(self) -> None:
        super().setUp()  # type: ignore[misc]
        self.account.is_superuser = False
        self.account.permissions.add("Builder")
        self.char1.permissions.add("Builder")
        self.heard = self.capture(self.char1)

    def type(self, line: str, wanted: str = "") -> str:
        """Type a line; returns what it shows, as soon as what is wanted is among it."""
        self.heard.clear()
        self.char1.execute_cmd(line)
        self.settle(lambda: any(wanted in strip_ansi(text) for text in self.heard))
        return strip_ansi("\n".join(self.heard))


@dataclass
class FixedConfig:
    """Settings that no file changes."""

    current: Any
