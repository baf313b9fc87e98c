"""The time from a player's line to the first and the last sentence of the answer, with many talks.

Each player talks to an agent in a room of its own, all at the same moment. A fake model server
streams 20 words a second to ``FIRST_SLOTS`` requests at once (8); the prompts cost no time.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median

from tests.bench.busy_world import agent_names
from tests.bench.figures import Figure
from tests.bench.spoken_bench import CHAT, TOKENS_A_SECOND, chat_world
from tests.fakes.model_server import FakeModelServer, Reply
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.players import Player

TALKS = (1, 10, 30)
LINES = 3
SLOTS = int(os.environ.get("FIRST_SLOTS", "8"))
_ANSWER = (
    "The ferry goes at six if Joss is awake. He never is, so come at seven and bring bread. "
    "Ask at the office before you pay. I have told {} people today."
)
"""31 words in four sentences, of which the first has nine."""


def measure() -> Iterator[Figure]:
    """Measure seconds to the first and the last sentence with 1, 10 and 30 talks at once."""
    numbers = itertools.count(1)
    with (
        FakeModelServer(script=lambda _: _ANSWER.format(next(numbers))) as fake,
        chat_world(fake, f"in_flight={SLOTS}") as copy,
    ):
        agents = agent_names(max(TALKS))
        players = _arrive(copy, agents)
        fake.slots = threading.Semaphore(SLOTS)
        fake.always(CHAT, Reply(drip=1 / TOKENS_A_SECOND))
        for talks in TALKS:
            heard = [each for _ in range(LINES) for each in _ask(players[:talks], agents)]
            for number, what in enumerate(("first sentence", "whole answer")):
                times = [each[number] for each in heard]
                name = f"{what}, {talks} at once"
                yield Figure(name, len(times), median(times), "s", f"slowest {max(times):.1f}")


def _arrive(copy: Copy, agents: Sequence[str]) -> list[Player]:
    """Make a room for each agent, with a player who has been greeted."""
    players = []
    admin = Player.admin(copy)
    admin.see("Here:")
    guests = agent_names(2 * len(agents))[len(agents) :]
    for number, (agent, guest) in enumerate(zip(agents, guests, strict=True)):
        admin.type(f"@dig/teleport Stall{number}", f"Stall{number}")
        admin.type(f"@agent/create {agent} = You are {agent}, who sells bread.", f"Made {agent}")
        player = Player.new(copy, guest, number)
        players.append(player)
        player.see("Here:")
        admin.type(f"@tel {guest} = Stall{number}", "Teleported")
        player.see(f"Stall{number}")
    admin.leave()
    return players


def _ask(players: Sequence[Player], agents: Sequence[str]) -> list[tuple[float, float]]:
    """Let all talk at once; return each one's seconds to the first and the last sentence."""
    time.sleep(6)  # earlier answers end
    together = threading.Barrier(len(players))

    def ask(player: Player, agent: str) -> tuple[float, float]:
        player.look_up()
        together.wait()
        began = time.monotonic()
        player.type(f"talk {agent} When does the ferry go, as of {began:.2f}?", f"{agent} says")
        first = time.monotonic() - began
        player.see(r"people\s+today")
        return first, time.monotonic() - began

    with ThreadPoolExecutor(len(players)) as pool:
        return [*pool.map(ask, players, agents)]
