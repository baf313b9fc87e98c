"""A running world whose processes are killed, whose disk fills and whose model fails.

Meanwhile players talk in it. The disk is a file system in RAM of its own, if the test may mount
one.

``KEEPSAKE_SOAK_MINUTES=10 .venv/bin/python -m pytest -s tests/slow/soak`` sets the length, by
default one minute; ``KEEPSAKE_SOAK_SEED`` is the random seed, and ``KEEPSAKE_SOAK_KEPT`` a new
folder to which the world's files and the players' screens are copied afterwards.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from random import Random

import pytest

from keepsake.archive.spill import Spill
from keepsake.cli import processes
from keepsake.cli.processes import Component
from tests.fakes.model_server import FakeModelServer, Reply, llm_page
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.running import running
from tests.slow.soak import checks, hearers
from tests.slow.soak.hostile import telling
from tests.slow.soak.players import AGENTS, NAMES, SoakPlayer, playing
from tests.unit.llm.conftest import until

MINUTES = float(os.environ.get("KEEPSAKE_SOAK_MINUTES", "1"))
SEED = int(os.environ.get("KEEPSAKE_SOAK_SEED", "7"))
KEPT = os.environ.get("KEEPSAKE_SOAK_KEPT", "")
CHAT = "/v1/chat/completions"
RECOVERY = 300.0
"""Seconds within which the world must recover."""
PAUSE = (5.0, 20.0)
"""The least and the most seconds of talk before a kill."""
KILLED = (Component.SERVER, Component.SERVER, Component.PORTAL, Component.VECTORS)
CHANGES = [
    # All agents stay awake and hear everything; small windows cause many compactions.
    ("sleep.md", "**sleep**: yes", "**sleep**: no"),
    ("memory_compaction.md", "**immediate_window**: 64", "**immediate_window**: 16"),
    ("memory_compaction.md", "**recent_window**: 64", "**recent_window**: 16"),
    ("memory_compaction.md", "**count_from**: 0.60", "**count_from**: 0"),
]
FAULTS = (
    # Mostly it answers: only what an agent says, does and means to do can tell a whisper on.
    *(Reply() for _ in range(5)),
    Reply(delay=6.0),
    Reply(drip=0.05),
    Reply(text="and " * 50_000),
    Reply(text="> wait\n" * 2_000),
    Reply(status=429, retry_after="3"),
    Reply(status=500, raw=b"\xff\xfe\x00 not json at all"),
    Reply(raw=b'{"choices": 7, "done": "perhaps"}'),
    Reply(hang_up=True),
)


DISK = "2g"
"""The size of the disk: a world of some hours fits, with as much free space as doctor wants."""
FULL_SHARE = 0.25
"""The share of accidents that are a full disk; the others are kills."""
FULL = (3.0, 12.0)
"""The least and the most seconds for which the disk is full."""


@pytest.fixture
def disk(tmp_path):
    """Yield a folder on a small disk of its own, and whether it is one: that needs root."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, check=False, capture_output=True).returncode == 0
    yield folder, mounted
    if KEPT:
        shutil.copytree(folder, KEPT, ignore=shutil.ignore_patterns("*.sock"))
    if mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """Fill a disk to its last byte, and free it afterwards."""
    filler = folder / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 20))
    with suppress(OSError), filler.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(1))
    try:
        yield
    finally:
        filler.unlink()


def kill(copy: Copy, component: Component) -> bool:
    """Kill a process; return False if there is none."""
    found = processes.newest(copy.here, component)
    with suppress(ProcessLookupError):
        if found is not None:
            os.kill(found.pid, signal.SIGKILL)
    return found is not None


def recover(copy: Copy, component: Component, players: Sequence[SoakPlayer]) -> None:
    """Wait until the process runs again and a ``look`` that was sent after the kill is answered."""
    killed = time.monotonic()
    if component in processes.EVENNIA_PROCESSES:
        copy.process("start")  # as systemd does

    def is_back() -> bool:
        looked = any(sent > killed for player in players for sent in tuple(player.looks))
        there = processes.newest(copy.here, component)
        return looked and there is not None

    until(is_back, RECOVERY)


def model(fake: FakeModelServer) -> str:
    """Return the text of ``llm.md`` with a fake server for the agents and for summaries."""
    here = f"provider=openai host={fake.address} model=fake form=chat time_limit=120"
    return llm_page(agent=here, summarizer=here)


def test_a_world_outlives_kills_a_full_disk_and_a_faulty_model(disk, tables):
    folder, is_small = disk
    dice = Random(f"kills {SEED}")
    kills = []
    fills = 0
    with (
        FakeModelServer(script=telling(SEED, {*NAMES, *AGENTS})) as fake,
        running(folder, tables, llm=model(fake), changes=CHANGES) as copy,
    ):
        players = [SoakPlayer(SEED, n, copy.here.ports, AGENTS) for n in range(len(NAMES))]
        with playing(players):
            end = time.monotonic() + MINUTES * 60
            while time.monotonic() < end:
                fake.always(CHAT, dice.choice(FAULTS))
                time.sleep(dice.uniform(*PAUSE))
                if is_small and kills and dice.random() < FULL_SHARE:
                    with full(folder):
                        time.sleep(dice.uniform(*FULL))
                    fills += 1
                    print(f"{datetime.now():%H:%M:%S} the disk was full")
                    continue
                component = dice.choice(KILLED) if kills else Component.SERVER
                if kill(copy, component):
                    kills.append(component.value)
                    print(f"{datetime.now():%H:%M:%S} killed {component}")
                    recover(copy, component, players)
            fake.always(CHAT, Reply())
            # The players can still talk afterwards.
            wanted = 6 + sum(line.echoed for player in players for line in player.said)
            until(lambda: wanted <= sum(e.echoed for p in players for e in tuple(p.said)), RECOVERY)
        until(lambda: not Spill(copy.here.spill).waiting(), 90)

        def is_well() -> bool:
            found = json.loads(copy.keepsake("doctor", "--json").stdout)
            # The log has errors: that is what this test makes.
            unwell = [each for each in found if not each["well"] and each["subject"] != "Faults"]
            print(unwell)
            return not unwell

        until(is_well, 90)
        assert copy.process("stop").returncode == 0
        keep_screens(players, folder)
        said = [line for player in players for line in player.said]
        echoed = sum(each.echoed for each in said)
        evidence = hearers.Evidence(copy.here, players, fake.calls())
        asked = len(fake.calls(CHAT))
        told = evidence.asked_with_whispers
        print(f"{len(said)} lines, {echoed} echoed, killed: {kills}, disk full {fills} times")
        print(f"{len(evidence.whispers)} whispered, shown in {told} of {asked} requests")
        problems = [*checks.problems(copy.here, said), *hearers.problems(evidence)]
        print(*problems, sep="\n")  # the disk, and its logs with it, is gone after the test
        assert problems == []
        assert told


def keep_screens(players: Sequence[SoakPlayer], folder: Path) -> None:
    """Write what each player typed to agents and was shown, beside the world's files."""
    for player in players:
        (folder / f"screen-{player.name}.txt").write_text("".join(player.shown))
        lines = (json.dumps(asdict(line)) for line in player.said)
        (folder / f"said-{player.name}.jsonl").write_text("\n".join(lines))
