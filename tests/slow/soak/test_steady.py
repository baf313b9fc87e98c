"""A world in which many players talk for a long time neither grows nor loses memories.

``KEEPSAKE_SOAK_MINUTES=60 KEEPSAKE_SOAK_TALKS=30 .venv/bin/python -m pytest -s
tests/slow/soak/test_steady.py`` runs thirty players for an hour; the default is two minutes, eight.
"""

from __future__ import annotations

import itertools
import os
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from statistics import median

import psutil

from keepsake.cli import processes
from keepsake.cli.processes import Component
from tests.fakes.model_server import FakeModelServer, Reply, llm_page
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.running import running
from tests.slow.soak import checks
from tests.slow.soak.players import AGENTS, SoakPlayer, playing
from tests.slow.soak.test_soak import SEED

MINUTES = float(os.environ.get("KEEPSAKE_SOAK_MINUTES", "2"))
TALKS = int(os.environ.get("KEEPSAKE_SOAK_TALKS", "8"))
SAMPLE_SECONDS = 5.0
WATCHED = (Component.SERVER, Component.PORTAL, Component.VECTORS)
GROWTH = 1.1
MORE_MIB = 16.0
MORE_FILES = 5.0 * len(AGENTS)
"""How far memory and open files of the last fifth may exceed the second; the first is warm-up.
Chroma opens about five files for each agent, after it has made a graph of its memories."""
VECTOR_BYTES = 2000
"""Bytes of a memory in Chroma's graph: 384 numbers and 16 to 32 neighbours."""
CHAT = "/v1/chat/completions"

type Samples = dict[Component, list[tuple[float, int]]]
"""By process: MiB of memory and number of open files, in order of time."""


def sample(copy: Copy, into: Samples) -> None:
    for component in WATCHED:
        if found := processes.newest(copy.here, component):
            with suppress(psutil.Error):
                process = psutil.Process(found.pid)
                into[component].append((process.memory_info().rss / 2**20, process.num_fds()))


def growth(samples: Samples, memories: int) -> list[str]:
    """Return which processes have more memory or open files at the end than after the warm-up."""
    found = []
    for component, taken in samples.items():
        fifth = len(taken) // 5
        data = memories * VECTOR_BYTES / 2**20 * (component is Component.VECTORS)
        for what, values, share, more in (
            ("MiB", [mib for mib, _ in taken], GROWTH, MORE_MIB + data),
            ("open files", [float(files) for _, files in taken], 1.0, MORE_FILES),
        ):
            early = _middle(values[fifth : 2 * fifth])
            late = _middle(values[-fifth:])
            print(f"{component}: {early:.0f} {what}, at the end {late:.0f}")
            if late > early * share + more:
                found.append(f"{component} grew from {early:.0f} to {late:.0f} {what}")
    return found


def _middle(values: Sequence[float]) -> float:
    return median(values or [0.0])


def test_a_world_with_many_talks_does_not_grow(tmp_path, tables):
    numbers = itertools.count(1)
    samples = defaultdict(list)
    with FakeModelServer(script=lambda _: f"I heard that. It is number {next(numbers)}.") as fake:
        fake.always(CHAT, Reply(drip=0.02))
        agent = f"provider=openai host={fake.address} model=fake in_flight=16"
        page = llm_page(agent=agent, summarizer="provider=none")
        with running(tmp_path, tables, llm=page) as copy:
            ports = copy.here.ports
            players = [SoakPlayer(SEED, n, ports, AGENTS, calm=True) for n in range(TALKS)]
            with playing(players):
                end = time.monotonic() + MINUTES * 60
                while time.monotonic() < end:
                    time.sleep(SAMPLE_SECONDS)
                    sample(copy, samples)
            assert copy.process("stop").returncode == 0
        said = [line for player in players for line in player.said]
        print(f"{len(said)} lines, {len(fake.calls(CHAT))} calls of the model")
        assert [cut for player in players for cut in player.cuts] == []
        assert checks.problems(copy.here, said) == []
        assert samples.keys() == {*WATCHED}
        archives = copy.here.agents.glob("*/archive/*.jsonl")
        memories = sum(path.read_bytes().count(b"\n") for path in archives)
        assert growth(samples, memories) == []
