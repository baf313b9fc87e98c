"""A world with agents for tests: the real gateway and client, and a fake model server over HTTP.

Only tests move the clock. :meth:`AgentsWorld.settle` takes the reactor's place.
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

from game.simulation.visits import connect, make_player
from keepsake.agent import runtime
from keepsake.agent.attention.presence import AgentState
from keepsake.agent.mind import Mind
from keepsake.agent.scheduler import ClockScheduler
from keepsake.agent.turns.consent.trial import PASSED
from keepsake.contrib.evennia.creation import create_agent
from keepsake.contrib.evennia.minds import close_all, open_minds
from keepsake.events.log import EventLog, Subscribers
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import Profiles
from keepsake.paths import REPOSITORY, Places, Ports
from keepsake.ports import FixedClock
from keepsake.tasks.questions.secret_trial import QUESTIONS
from tests.fakes.model_server import Call, FakeModelServer, Reply, llm_page
from tests.world.built_world import PeopleWorld
from typeclasses.agents import Agent
from typeclasses.exits import Exit
from typeclasses.rooms import Room
from world import days

CHAT_TEMPLATE = "{{ range .Messages }}{{ .Role }}: {{ .Content }}{{ end }}"
"""The template by which the fake Ollama says that its model is a chat model."""
SMALL_WINDOWS = """\
**immediate_window**: 4
**recent_window**: 4
**preserve_memories**: 4
**min_saving_tokens**: 0
"""
"""A ``memory_compaction.md`` with windows of four memories."""


NOT_ALLOWED = '{"line": 0, "answer": "no"}'
"""What the model says of words that may not be passed on."""


class ByHand(ClockScheduler):
    """A scheduler whose clock a test moves, and whose queue of calls it runs."""

    def __init__(self, clock: Clock, posted: queue.Queue[Callable[[], object]]) -> None:
        super().__init__(clock)
        self._posted = posted

    def soon(self, call: Callable[[], object]) -> None:
        self._posted.put(call)


class CountedPool(ThreadPoolExecutor):
    """Worker threads; ``jobs`` is the number of jobs whose results are not posted yet."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.jobs = 0
        self._counting = threading.Lock()

    def submit(self, work: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._count(1)

        def run() -> None:
            try:
                if future.set_running_or_notify_cancel():
                    future.set_result(work(*args, **kwargs))
            except BaseException as error:  # passed on, as any executor does
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


def next_of(replies: list[str]) -> str:
    """Take the next reply; the last one stays."""
    return replies.pop(0) if len(replies) > 1 else replies[0]


def prompt_text(body: dict[str, Any]) -> str:
    """Return the prompt of a request as one text."""
    if "messages" in body:
        return "\n\n".join(str(each["content"]) for each in body["messages"])
    return str(body["prompt"])


def is_consent(prompt: str) -> bool:
    """Return whether a prompt asks if words may reach somebody who knows of no whisper."""
    return "A character keeps what was said to it in private." in prompt


def is_trial(prompt: str) -> bool:
    """Return whether a prompt asks a question whose answer is known."""
    return any(f'"{each.words}"\n' in prompt for each in QUESTIONS)


def _is_prompt(call: Call) -> bool:
    return "prompt" in call.body or "messages" in call.body


class AgentsWorld(PeopleWorld):
    """The agent Mira in the inn, the player Tom, and a scripted model.

    Attributes:
        replies: The model's next answers; the last one is repeated.
        consent: What it says when it is asked whether words may reach somebody.
    """

    FORM = "chat"
    """The form of the agents' prompts; that of most models."""
    COMPACTION = ""
    """The text of ``memory_compaction.md``; empty for the shipped file."""
    KEEPS_SECRETS = True
    """Whether the model is known to keep secrets; else nothing is known of that."""
    START: ClassVar[datetime | None] = None
    """The time of the agents' clock, ``self.time``, which stands still; None for the real time."""

    def setUp(self) -> None:
        super().setUp()
        self.scenes = patch.object(days, "scenes", lambda: ())  # no scenes when agents meet
        self.scenes.start()
        self.addCleanup(patch.stopall)
        self.scratch = Path(tempfile.mkdtemp(prefix="keepsake-agents-"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.posted: queue.Queue[Callable[[], None]] = queue.Queue()
        self.clock = Clock()
        self.fake = FakeModelServer(models=["fake"])
        self.addCleanup(self.fake.close)
        self.fake.template = CHAT_TEMPLATE
        self.replies = ["> wait"]
        self.consent = NOT_ALLOWED
        self.fake.script = lambda prompt: (
            self.consent if is_consent(prompt) else next_of(self.replies)
        )
        if self.START is not None:
            self.time = FixedClock(self.START)
        self.services = self.start_services()
        self.room1.key = "The Inn"
        self.char1.key = "Tom"
        self.room1.db.desc = "A low room."
        self.mira = self.make_mira()

    def make_mira(self) -> Agent:
        return create_agent("Mira", location=self.room1, profile="You are Mira, an innkeeper.")

    def tearDown(self) -> None:
        self.stop_services()
        super().tearDown()

    # -- services

    def start_services(self) -> runtime.Runtime:
        """Start the services as the game does, but with the test's clock and queue of calls."""
        vault = self.scratch / "vault"
        if not vault.exists():
            shutil.copytree(REPOSITORY / "vault" / "config", vault / "config")
            (vault / "config" / "llm.md").write_text(self.models_page())
            if self.COMPACTION:
                (vault / "config" / "memory_compaction.md").write_text(self.COMPACTION)
        places = Places(home=self.scratch / "home", vault=vault, ports=Ports(46500))
        self.pools = [CountedPool(threads) for threads in (6, 4, 2)]
        workers, compactions, nights = self.pools
        for pool in self.pools:
            self.addCleanup(pool.shutdown)  # wait, so that no job logs something in the next test
        new = runtime.Runtime(
            places=places,
            gateway=self.make_gateway(places),
            workers=workers,
            compactions=compactions,
            nights=nights,
            scheduler=ByHand(self.clock, self.posted),
            random=Random(7),
        )
        new.thinking = FixedConfig(new.thinking.current)
        if self.START is not None:
            new.clock = self.time
        runtime.install(new)
        if self.KEEPS_SECRETS:
            new.secret_trial.know(PASSED)
        return new

    def models_page(self, **more: object) -> str:
        """Return the text of ``llm.md``; ``more``: settings of the agents' profile."""
        usual = {"host": self.fake.address, "model": "fake", "time_limit": 60, "form": self.FORM}
        words = (f"{name}={value}" for name, value in {**usual, **more}.items())
        agent = " ".join(["provider=ollama", *words])
        return llm_page(agent=agent, summarizer="provider=none")

    def make_gateway(self, places: Places) -> Gateway:
        """Return a gateway to the fake model server."""
        return Gateway(Profiles(places.config / "llm.md"), places, self.posted.put)

    def stop_services(self) -> None:
        close_all()
        runtime.stop(reload=True)

    def settle(self, until: Callable[[], bool] | None = None, seconds: float = 120.0) -> None:
        """Run what worker threads post, until ``until`` holds; by default until they are idle."""
        deadline = time.monotonic() + seconds
        waits = False
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
        """Whether threads are at work. If not, all their results are in ``posted``."""
        servers = self.services.gateway.servers.values()
        return any(pool.jobs for pool in self.pools) or any(each.running for each in servers)

    def pass_time(self, seconds: float) -> None:
        """Move the clock in steps of half a second; after each, wait until no agent thinks."""
        for _ in range(int(seconds / 0.5)):
            self.clock.advance(0.5)
            self.settle(lambda: not self.is_thinking())

    def wait_for_compaction(self) -> None:
        """Start a compaction if one is due, and wait for the one that runs."""
        self.mind.compactions.compact_if_due()  # as the housekeeping does
        self.settle(lambda: not self.mind.compactions.compacting)

    def prompts(self) -> list[str]:
        """Return the agents' prompts as text, in order: those of a chat without the roles."""
        return [each for each in self.every_prompt() if not is_consent(each)]

    def consents(self) -> list[str]:
        """Return the prompts that asked whether words may reach somebody: the part of this case.

        Not those whose answer is known.
        """
        asked = (each for each in self.every_prompt() if is_consent(each) and not is_trial(each))
        return [each.partition("Private, oldest first:\n")[2].strip() for each in asked]

    def every_prompt(self) -> list[str]:
        """Return all prompts as text, in order."""
        return [prompt_text(call.body) for call in self.fake.calls() if _is_prompt(call)]

    def ask(self, line: str, *answers: str, seconds: float = 4.0, who: Any = None) -> Any:
        """Let Tom talk to Mira, whose model gives these answers; return her thoughts' prompts."""
        before = len(self.prompts())
        self.replies = [*answers, "> wait"] if answers else self.replies
        (who or self.char1).execute_cmd(f"talk Mira {line}")
        self.pass_time(seconds)
        return self.prompts()[before:]

    def say(self, *lines: str, who: Any = None) -> None:
        """Let Tom say lines while Mira is paused and only listens."""
        self.mira.db.paused = True
        for line in lines:
            (who or self.char1).execute_cmd(f"say {line}")
            self.wait_for_compaction()
        self.mira.attributes.remove("paused")

    def is_thinking(self) -> bool:
        """Whether any agent waits for its model."""
        return any(mind.presence.state is AgentState.WAITING for mind in open_minds())

    def hold_answers(self) -> threading.Event:
        """Hold back the model's answers from now on, until the returned event is set."""
        gate = threading.Event()
        self.addCleanup(gate.set)
        for path in ("/api/generate", "/api/chat", "/v1/completions"):
            self.fake.always(path, Reply(gate=gate))
        return gate

    # -- what tests look at, and what they add

    @property
    def mind(self) -> Mind:
        mind = self.mira.mind
        assert mind is not None
        return mind

    def lines(self, agent: Agent | None = None) -> list[str]:
        """Return the window's lines, except the agent's first look around; ``~`` marks its acts."""
        mind = (agent or self.mira).mind
        assert mind is not None
        window = [m for m in mind.memory.context().window if m.number > 1]
        return [f"~{m.text}" if m.kind == "act" else m.line for m in window]

    def capture(self, *objects: Any) -> list[str]:
        """Return a list to which every text is added that these objects are shown from now on."""
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
        """Reduce the rights of Tom and his account to those of a player."""
        self.account.is_superuser = False
        for who in (self.account, self.char1):
            who.permissions.clear()
            who.permissions.add("Player")

    def set_thinking(self, **values: Any) -> None:
        """Change settings of ``thinking.md``."""
        config = replace(self.services.thinking.current, **values)
        self.services.thinking.current = config

    def add_agent(self, name: str) -> Agent:
        """Add an agent to the inn."""
        return create_agent(name, location=self.room1, profile=f"You are {name}.")

    def add_player(self, number: int, name: str) -> Any:
        """Add a player to the inn, with an account and a session of that number."""
        account, made = make_player(name, self.room1)
        made.location = self.room1
        account.puppet_object(connect(account, number), made)
        self.addCleanup(evennia.SESSION_HANDLER.pop, number, None)
        return made

    def add_room(self, name: str) -> Room:
        """Add a room."""
        return create.create_object(Room, key=name)

    def add_exit(self, name: str, start: Room, end: Room) -> Exit:
        """Add an exit."""
        return create.create_object(Exit, key=name, location=start, destination=end)

    def add_exits(self, start: Room, there: str, back: str, end: Room) -> None:
        """Add an exit and the one that leads back."""
        self.add_exit(there, start, end)
        self.add_exit(back, end, start)

    def add_thing(self, name: str) -> Any:
        """Add a thing to the inn."""
        return create.create_object("typeclasses.objects.Object", key=name, location=self.room1)


class LoggedWorld(AgentsWorld):
    """A world with a real event log."""

    SECRETS: tuple[str, ...] = ()

    def start_services(self) -> runtime.Runtime:
        subscribers = Subscribers()
        folder = self.scratch / "home" / "logs" / "events"
        given = {"secrets": self.SECRETS, "subscribers": subscribers}
        self.log = EventLog(folder, retry=0.05, **given)
        self.addCleanup(self.log.close)
        new = super().start_services()
        new.events = self.log
        new.subscribers = subscribers
        return new


class Building:
    """A mixin, to be named before a world: Tom is a builder; ``heard`` is what he is shown."""

    def setUp(self) -> None:
        super().setUp()  # type: ignore[misc]  # of the world that comes later
        self.account.is_superuser = False
        self.account.permissions.add("Builder")
        self.char1.permissions.add("Builder")
        self.heard = self.capture(self.char1)

    def type(self, line: str, wanted: str = "") -> str:
        """Type a line, wait until ``wanted`` is shown, and return all that was shown."""
        self.heard.clear()
        self.char1.execute_cmd(line)
        self.settle(lambda: any(wanted in strip_ansi(text) for text in self.heard))
        return strip_ansi("\n".join(self.heard))


@dataclass
class FixedConfig:
    """Settings that do not come from a file."""

    current: Any
