"""A running world whose processes are killed and whose model fails, while players talk in it.

``KEEPSAKE_SOAK_MINUTES=10 .venv/bin/python -m pytest -s tests/slow/soak`` sets the length, by
default one minute; ``KEEPSAKE_SOAK_SEED`` is the random seed.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from random import Random

from keepsake.archive.spill import Spill
from keepsake.cli import processes
from keepsake.cli.processes import Component
from tests.fakes.model_server import FakeModelServer, Reply
from tests.slow.cli.conftest import Copy
from tests.slow.e2e.running import WITH_RULES, running
from tests.slow.soak import checks
from tests.slow.soak.players import AGENTS, NAMES, SoakPlayer, playing
from tests.unit.llm.conftest import until

MINUTES = float(os.environ.get("KEEPSAKE_SOAK_MINUTES", "1"))
SEED = int(os.environ.get("KEEPSAKE_SOAK_SEED", "7"))
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
]
FAULTS = (
    Reply(),
    Reply(delay=6.0),
    Reply(status=500, raw=b"\xff\xfe\x00 not json at all"),
    Reply(raw=b'{"response": 7, "done": "perhaps"}'),
    Reply(hang_up=True),
)


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


def test_a_world_outlives_kills_and_a_faulty_model(tmp_path, tables):
    dice = Random(f"kills {SEED}")
    kills = []
    with (
        FakeModelServer() as fake,
        running(
            tmp_path, tables, llm=WITH_RULES, changes=CHANGES, OLLAMA_HOST=fake.address
        ) as copy,
    ):
        fake.models = ["comma"]
        players = [SoakPlayer(SEED, n, copy.here.ports, AGENTS) for n in range(len(NAMES))]
        with playing(players):
            end = time.monotonic() + MINUTES * 60
            while time.monotonic() < end:
                fake.always("/api/generate", dice.choice(FAULTS))
                time.sleep(dice.uniform(*PAUSE))
                component = dice.choice(KILLED) if kills else Component.SERVER
                if kill(copy, component):
                    kills.append(component.value)
                    print(f"killed {component}")
                    recover(copy, component, players)
            fake.always("/api/generate", Reply())
            # The players can still talk afterwards.
            wanted = 6 + sum(line.echoed for player in players for line in player.said)
            until(lambda: wanted <= sum(e.echoed for p in players for e in tuple(p.said)), RECOVERY)
        until(lambda: not Spill(copy.here.spill).waiting(), 90)

        def is_well() -> bool:
            found = json.loads(copy.keepsake("doctor", "--json").stdout)
            print(unwell := [each for each in found if not each["well"]])
            return not unwell

        until(is_well, 90)
        assert copy.process("stop").returncode == 0
        said = [line for player in players for line in player.said]
        print(f"{len(said)} lines, {sum(e.echoed for e in said)} echoed, killed: {kills}")
        assert checks.problems(copy.here, said) == []
        assert fake.calls("/api/generate")
