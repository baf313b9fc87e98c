"""What it is worth to keep an agent on the server that has its prompt, and what a kill loses.

Real llama.cpp servers with the shipped model, on loopback, through the gateway. The agents' prompts
grow with each thought, all think at once, and each server keeps only some of the prompts. Shares
are those that llama.cpp reports, of all thoughts but each agent's first.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

import psutil

from keepsake.models.embedded import weights
from keepsake.models.gateway import Gateway
from keepsake.models.profiles import ModelProfile, Profiles
from keepsake.models.queue import Outcome, Priority
from keepsake.models.status import READY
from keepsake.paths import Places, Ports
from keepsake.ports import Generation, GenerationRequest
from tests.bench.figures import Figure
from tests.free_ports import free_base
from tests.llama_servers import LlamaServer, llama_servers
from tests.llm.conftest import Owner, until

AGENTS, THOUGHTS, SERVERS = 8, 4, (1, 2, 4)
SLOTS = 4
"""Prompts that a server keeps at once: two servers have room for all."""
ROOMS = {"room for 4 prompts": 0, "room for all prompts": 64}
"""What each server has room for, and the MiB for prompts without a slot that make it so."""
_LIKES = ("salt", "rain", "bread", "bells", "boats", "wool", "honey", "smoke", "apples", "tar")
_CONFIG = """## agent
**provider**: openai
**model**: gemma-3-270m-q4_k_m
**time_limit**: 600
**host**: {hosts}
## summarizer
**provider**: extractive
"""


class _Crowd:
    """Agents whose prompts grow, before a fleet."""

    def __init__(self, gateway: Gateway, owner: Owner, *, kept: bool) -> None:
        self.gateway, self.owner, self.kept = gateway, owner, kept
        self.random = Random(7)
        self.prompts = [self._head(number) for number in range(AGENTS)]
        self.answers: list[list[Outcome]] = []

    def _head(self, number: int) -> str:
        likes = (self.random.choice(_LIKES) for _ in range(16))
        return f"You are agent {number}. You like {', '.join(likes)}.\n"

    def all_think(self) -> list[list[Outcome]]:
        """Each agent asks, in any order; what will have come."""
        came: list[list[Outcome]] = []
        for number in self.random.sample(range(AGENTS), AGENTS):
            said = " ".join(self.random.choice(_LIKES) for _ in range(8))
            self.prompts[number] += f'Tom says, "{said}."\n'
            came.append(self._ask(number))
        self.answers += came
        return came

    def think(self) -> None:
        """Each agent asks, and all are answered."""
        came = self.all_think()
        until(lambda: all(came), 600)

    def _ask(self, number: int) -> list[Outcome]:
        # What is said next is never nothing.
        prompt, came = f'{self.prompts[number]}You say, "I like', list[Outcome]()
        who = f"agent-{number}" if self.kept else None

        def build(profile: ModelProfile) -> GenerationRequest:
            return profile.request(prompt, max_tokens=2, stop=())

        def submit() -> None:
            self.gateway.submit("agent", Priority.EVENT, who, build, came.append)

        self.owner.call(submit)
        return came


def measure() -> Iterator[Figure]:
    """Shares from the cache, processor time of the servers, and what a kill loses."""
    with tempfile.TemporaryDirectory() as folder:
        model = weights.ensure(Path(folder))
        for room in ROOMS:
            for number in SERVERS:
                for kept in (True, False) if number > 1 else (True,):
                    yield from _thinking(Path(folder), model, number, room, kept=kept)
        yield from _killed(Path(folder), model)


def _thinking(folder: Path, model: Path, number: int, room: str, *, kept: bool) -> Iterator[Figure]:
    with _fleet(folder, model, number, ROOMS[room], kept=kept) as (crowd, servers):
        crowd.think()
        before = _cpu(servers)
        for _ in range(THOUGHTS - 1):
            crowd.think()
        spent = _cpu(servers) - before
        answers = [each for (each,) in crowd.answers[AGENTS:] if isinstance(each, Generation)]
        assert len(answers) == AGENTS * (THOUGHTS - 1), "somebody got no answer"
    how = "kept on one server" if kept else "wherever least waits"
    name = f"fleet: {number} servers with {room}, agents {how}"
    share = sum(each.cached_tokens for each in answers) / sum(
        each.prompt_tokens for each in answers
    )
    yield Figure(f"{name}: share from the cache", AGENTS, 100 * share, "%")
    yield Figure(f"{name}: servers' processor", AGENTS, 1000 * spent / len(answers), "ms a thought")


def _killed(folder: Path, model: Path) -> Iterator[Figure]:
    with _fleet(folder, model, 2, 64, kept=True) as (crowd, servers):
        crowd.think()
        came = [each for _ in range(3) for each in crowd.all_think()]
        until(lambda: sum(map(bool, came)) >= AGENTS // 2, 600)
        servers[1].kill()
        until(lambda: all(came), 600)
        moved = sum(each.moved for each in crowd.owner.call(crowd.gateway.statuses))
    lost = sum(not isinstance(each[0], Generation) for each in came)
    twice = sum(len(each) > 1 for each in came)
    yield Figure("fleet: one of 2 servers killed: thoughts lost", len(came), lost, "", "wanted 0")
    yield Figure("fleet: … answered twice", len(came), twice, "", "wanted 0")
    yield Figure("fleet: … calls that went on at the other", len(came), moved, "")


@contextmanager
def _fleet(
    folder: Path, model: Path, number: int, mib: int, *, kept: bool
) -> Iterator[tuple[_Crowd, list[LlamaServer]]]:
    options = {"slots": SLOTS, "context": 512, "pool": 2048, "cache_mib": mib, "threads": 1}
    with llama_servers(folder, model, number, **options) as servers:
        places = Places(folder / "home", folder / "vault", Ports(free_base()))
        places.config.mkdir(parents=True, exist_ok=True)
        path = places.config / "llm.md"
        path.write_text(_CONFIG.format(hosts=", ".join(each.address for each in servers)))
        owner = Owner()
        gateway = Gateway(Profiles(path), places, owner.post, {})
        owner.call(gateway.start)
        try:
            until(lambda: all(each.health == READY for each in owner.call(gateway.statuses)))
            yield _Crowd(gateway, owner, kept=kept), servers
        finally:
            owner.call(lambda: gateway.shutdown(stop_embedded=True))
            owner.end()


def _cpu(servers: Sequence[LlamaServer]) -> float:
    """Processor seconds of all servers."""
    times = [psutil.Process(each.process.pid).cpu_times() for each in servers]
    return sum(each.user + each.system for each in times)
