"""A running world of many agents with long lives, and a browser before its dashboard.

The lives are lived once, by a real memory with real compactions, and copied into the folders of
all agents; the agents are then made in the game, which gives them these memories back. The event
log holds their last day.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import httpx
import psutil

from game.cli.world import processes
from keepsake.archive.log import Archive
from keepsake.archive.records import MemoryKind
from keepsake.books.people.book import PeopleBook
from keepsake.compaction.cascade import CascadeMemory
from keepsake.compaction.config import CompactionConfig
from keepsake.compaction.dependencies import Dependencies
from keepsake.events.log import EventLog
from keepsake.events.types import MemoryChange, Recall, Thought
from keepsake.index.agent_index import AgentIndex
from keepsake.index.follower import AgentSources
from keepsake.memory import CompactReason
from keepsake.paths import REPOSITORY, Places
from keepsake.summaries.files import SummaryFolder
from keepsake.summaries.summarizer import ExtractiveSummarizer
from tests.bench.talk import PEOPLE, Line, talk
from tests.cli.conftest import Copy, make_copy
from tests.e2e.players import Player

AGENTS, MEMORIES, ROUNDS = 100, 10_000, 15
THOUGHTS = 300
"""Of each agent in the last day, as the event log has it; and thrice as many memories."""
REST, IDLE_PERCENT = 900.0, 8.0
"""Seconds that the world may take to come to rest, and of a core what it uses then at most."""
WANTED = 300.0
"""Milliseconds that a page may take."""
API = "/agents/api"
_LLM = """\
## agent
**provider**: ollama
**host**: {host}
**model**: fake
**format**: script

## summarizer
**provider**: extractive
"""
_LETTERS = "bcdfghjklm"
_AT_ONCE = 2_000


@dataclass
class _Clock:
    """Time as it passed for the agents: ten seconds a memory."""

    time: datetime

    def now(self) -> datetime:
        self.time += timedelta(seconds=10)
        return self.time


def names_of(agents: int) -> list[str]:
    """So many names that an agent may have."""
    made = map("".join, itertools.product(_LETTERS, "aeiou", _LETTERS, "o"))
    return [name.title() for name in itertools.islice(made, agents)]


def write_lives(here: Places, names: Sequence[str], memories: int = MEMORIES) -> None:
    """Give each of these agents one life: its archive, whom it knows of it, its index of words.

    A world that had to make the last two for all of them would be busy with that for long.

    Args:
        here: Where the world will be.
        names: Their names, each the name of its folder.
        memories: How many memories each has.
    """
    write_life(here, names[0], itertools.islice(talk(Random(7)), memories))
    for name in names[1:]:
        life = here.agents / names[0]
        shutil.copytree(life, here.agents / name, ignore=shutil.ignore_patterns(".lock"))
        shutil.copytree(here.index / names[0], here.index / name)


def write_life(here: Places, name: str, lines: Iterable[Line]) -> None:
    """Give one agent a life of these lines."""
    life, index = here.agents / name, here.index / name
    memories = _live(life, name, list(lines))
    archive, book = Archive(life / "archive"), PeopleBook(life)
    for first in range(1, memories + 1, _AT_ONCE):
        lived = archive.read(first, first + _AT_ONCE - 1)
        book.take(lived)
    archive.close()
    words = AgentIndex(index, AgentSources(name, life / "archive"), None, print)
    words.follow()
    words.close()


def _live(folder: Path, name: str, lines: Sequence[Line]) -> int:
    config = CompactionConfig()
    clock = _Clock(datetime.now(UTC) - timedelta(seconds=20 * len(lines)))
    memory = CascadeMemory(
        name,
        Archive(folder / "archive"),
        SummaryFolder(folder / "summaries", name),
        Dependencies(
            config=lambda: config,
            summarizer=ExtractiveSummarizer,
            clock=clock,
            log=lambda _: None,
        ),
    )
    for line in lines:
        who = line.text.partition(" ")[0]
        source = who if who in PEOPLE and line.kind is MemoryKind.PERCEPTION else ""
        memory.append(line.text, line.kind, place="The Kettle", source=source, event="say")
        if memory.status().total >= (memory.status().next_due or 0):
            memory.compact(CompactReason.COUNT)
    memory.close()
    return len(lines)


def write_log(folder: Path, names: Sequence[str], thoughts: int = THOUGHTS) -> None:
    """Write the last day of these agents into an event log.

    Args:
        folder: ``logs/events``.
        names: Whose.
        thoughts: How many each thought; it remembered thrice as much.
    """
    step = timedelta(hours=23) / (thoughts * len(names) * 5)
    clock = _Clock(datetime.now(UTC) - timedelta(hours=23, minutes=30))
    clock.now = lambda: _forward(clock, step)  # type: ignore[method-assign]  # a day, evenly
    log, random = EventLog(folder, clock=clock, buffer=10**9), Random(7)
    for number in range(1, thoughts + 1):
        for name in names:
            for n in range(3):
                size = random.randint(20, 90)
                log.emit(MemoryChange(agent=name, op="append", n=3 * number + n, size=size))
            log.emit(Recall(agent=name, by="thought", question="the brass key", found=number % 3))
            log.emit(_thought(name, random))
    assert log.flush(300)
    log.close()


def _forward(clock: _Clock, step: timedelta) -> datetime:
    clock.time += step
    return clock.time


def _thought(name: str, random: Random) -> Thought:
    return Thought(
        agent=name,
        trigger="heard",
        priority="event",
        outcome="acted",
        source="Tom",
        sections={"who it is": 210, "commands": 340, "window": 1400, "situation": 120},
        budget=3840,
        counted_by="model server",
        prompt_tokens=2070,
        cached_tokens=random.randint(1500, 2000),
        completion_tokens=18,
        latency=random.uniform(0.3, 3.0),
        model="fake",
        answer=" say Leave the gate to me. That goose knows my voice.",
        command="say Leave the gate to me. That goose knows my voice.",
    )


class Browser:
    """A browser that is logged in as the admin.

    Args:
        copy: The running world.
    """

    def __init__(self, copy: Copy) -> None:
        self.http = httpx.Client(
            base_url=f"http://127.0.0.1:{copy.here.ports.web}", trust_env=False, timeout=60
        )
        page = self.http.get("/auth/login/").raise_for_status().text
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token, page[:500]
        password = copy.here.admin_password.read_text().strip()
        form = {"username": "admin", "password": password, "csrfmiddlewaretoken": token[1]}
        self.http.post("/auth/login/", data=form)
        self.http.get("/agents/").raise_for_status()

    def numbers(self, memories: int = 1) -> list[int]:
        """The database numbers of all agents with so many memories or more, by name."""
        found = self.http.get(f"{API}/agents").raise_for_status().json()
        return [agent["id"] for agent in found["agents"] if agent["memories"] >= memories]

    def milliseconds(self, *paths: str, rounds: int = ROUNDS) -> list[float]:
        """Milliseconds until each answer was there, the paths in turn."""
        times = []
        for path in itertools.islice(itertools.cycle(paths), rounds):
            began = time.perf_counter()
            self.http.get(path).raise_for_status()
            times.append((time.perf_counter() - began) * 1000)
        return times


@contextmanager
def world(
    scratch: Path, agents: int = AGENTS, memories: int = MEMORIES, *, says: str = " wait"
) -> Iterator[Copy]:
    """A running world of so many agents; ended afterwards.

    Args:
        scratch: An empty folder.
        agents: How many.
        memories: How many memories each has.
        says: What the model answers; ``{n}`` is the number of the call.
    """
    command = [sys.executable, "-m", "tests.fakes.model_server", "--text", says]
    fake = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    copy = make_copy(scratch)
    names = names_of(agents)
    try:
        assert fake.stdout is not None
        _write_config(copy, fake.stdout.readline().strip())
        write_lives(copy.here, names, memories)
        write_log(copy.here.events, names)
        started = copy.keepsake("start")
        assert started.returncode == 0, started.stdout + started.stderr
        populate(copy, names)
        _let_rest(copy)
        yield copy
    finally:
        if processes.running(copy.here):
            copy.keepsake("stop")
        fake.terminate()
        fake.wait()


def _write_config(copy: Copy, host: str) -> None:
    """Agents that hardly think, and recall by words: else the machine measures other things."""
    config = copy.here.config
    shutil.copytree(REPOSITORY / "vault" / "config", config)
    (config / "llm.md").write_text(_LLM.format(host=host))
    for name, key, value in (("thinking", "idle_interval", "80000"), ("recall", "chroma", "none")):
        path = config / f"{name}.md"
        text, found = re.subn(
            rf"^(\*\*{key}\*\*): .*$", rf"\1: {value}", path.read_text(), flags=re.MULTILINE
        )
        assert found == 1, (name, key)
        path.write_text(text)


def populate(copy: Copy, names: Sequence[str]) -> None:
    """Make the agents, two in each room; each finds its memories in the vault."""
    builder = Player.admin(copy)
    builder.see(r"Exits|exits")
    for room, two in enumerate(itertools.batched(names, 2)):
        builder.type(f"@dig/teleport Barn{room}", rf"Barn{room}")
        for name in two:
            builder.type(f"@agent/create {name} = You are {name}, who counts.", f"Made {name}")
    builder.leave()


def _let_rest(copy: Copy, seconds: float = REST) -> None:
    """Wait until the world has indexed what its agents remember, and has nothing to do."""
    server = psutil.Process(int(copy.here.server_pid.read_text()))
    deadline = time.monotonic() + seconds
    while server.cpu_percent(interval=3) > IDLE_PERCENT and time.monotonic() < deadline:
        time.sleep(1)


def pages(numbers: Sequence[int]) -> dict[str, list[str]]:
    """The addresses that are measured, by what they show; those of an agent for several."""
    few = numbers[:: max(len(numbers) // 10, 1)]
    found = {"page: all agents": ["/agents/"], "all agents": [f"{API}/agents"]}
    found["page: an agent"] = [f"/agents/{number}/" for number in few]
    for title, rest in (
        ("an agent", ""),
        ("its prompt", "/prompt"),
        ("its tiers", "/tiers"),
        ("its newest memories", "/memories"),
        ("memories 5,000 to 5,199, and what came before", "/memories?first=5000&last=5199"),
        ("its compactions", "/compactions?limit=20"),
        ("its last hour", "/series?hours=1"),
        ("its last day", "/series?hours=24"),
        ("its last act, and why", "/why"),
        ("recall by hand", "/recall?q=who+lost+a+silver+whistle"),
    ):
        found[title] = [f"{API}/agents/{number}{rest}" for number in few]
    return found
