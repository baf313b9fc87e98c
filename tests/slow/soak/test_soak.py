"""A real world whose processes are killed and whose model fails, while players talk in it.

``KEEPSAKE_SOAK_MINUTES=10 .venv/bin/python -m pytest -s tests/slow/soak`` plays that long, one
minute without it; ``KEEPSAKE_SOAK_SEED`` is the dice's.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random

import pytest

from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.cli import client, processes
from keepsake.cli.processes import Component
from keepsake.paths import Places, Ports
from tests.cli.conftest import Copy
from tests.e2e.running import WITH_RULES, running
from tests.fakes.model_server import FakeModelServer, Reply
from tests.mind.acquaintances import START
from tests.slow.soak import checks
from tests.slow.soak.players import NAMES, PATIENCE, SaidLine, SoakPlayer, SoakScript

MINUTES = float(os.environ.get("KEEPSAKE_SOAK_MINUTES", "1"))
SEED = int(os.environ.get("KEEPSAKE_SOAK_SEED", "7"))
RECOVERY = 300.0
"""Seconds that the world gets to be as before."""
PAUSE = (5.0, 20.0)
"""Seconds of talk before a kill."""
KILLED = (Component.SERVER, Component.SERVER, Component.PORTAL, Component.VECTORS)
CHANGES = [
    # All are awake, so that all hear; the window is small, so that there is much compaction.
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


def until(done: Callable[[], object], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def kill(copy: Copy, component: Component) -> bool:
    """End a process at once; False if there is none."""
    found = processes.one(processes.running(copy.here), component)
    with suppress(ProcessLookupError):
        if found is not None:
            os.kill(found.pid, signal.SIGKILL)
    return found is not None


def recovered(copy: Copy, component: Component, players: Sequence[SoakPlayer]) -> bool:
    """Whether a ``look`` that is sent from now on is answered, and the process runs again."""
    killed = time.monotonic()

    def is_back() -> bool:
        looked = any(sent > killed for player in players for sent in tuple(player.looks))
        there = processes.one(processes.running(copy.here), component)
        return looked and there is not None

    if until(is_back, RECOVERY / 3):
        return True
    copy.process("start")  # as systemd would, of a world that does not mend itself
    return until(is_back, RECOVERY)


def test_a_world_outlives_kills_and_a_faulty_model(tmp_path, tables):
    dice, kills = Random(f"kills {SEED}"), []
    with (
        FakeModelServer() as fake,
        running(
            tmp_path,
            tables,
            llm=WITH_RULES,
            changes=CHANGES,
            OLLAMA_HOST=fake.address,
            KEEPSAKE_RESTARTS="100000",
        ) as copy,
    ):
        fake.models = ["comma"]
        agents = frozenset(str(each["name"]) for each in client.ask(copy.here, "agents"))
        players = [SoakPlayer(SEED, n, copy.here.ports, agents) for n in range(len(NAMES))]
        for player in players:
            player.arrive()
        stop = threading.Event()
        threads = [threading.Thread(target=each.run, args=(stop,), daemon=True) for each in players]
        for thread in threads:
            thread.start()
        end = time.monotonic() + MINUTES * 60
        while time.monotonic() < end:
            fake.always("/api/generate", dice.choice(FAULTS))
            time.sleep(dice.uniform(*PAUSE))
            component = dice.choice(KILLED) if kills else Component.SERVER
            if kill(copy, component):
                kills.append(component.value)
                print(f"killed {component}")
                assert recovered(copy, component, players), f"no {component} came back"
        fake.always("/api/generate", Reply())
        echoed = sum(line.echoed for player in players for line in player.said)
        assert until(lambda: echoed < sum(e.echoed for p in players for e in tuple(p.said)), 90)
        stop.set()
        for thread in threads:
            thread.join(2 * PATIENCE)
        assert until(lambda: not client.ask(copy.here, "waiting"), 90)
        unwell: list[str] = []

        def is_well() -> bool:
            found = json.loads(copy.keepsake("doctor", "--json").stdout)
            unwell[:] = [f"{each['subject']}: {each['what']}" for each in found if not each["well"]]
            return not unwell

        assert until(is_well, 90), unwell
        assert copy.process("stop").returncode == 0
        said = [line for player in players for line in player.said]
        print(f"{len(said)} lines, {sum(e.echoed for e in said)} echoed, killed: {kills}")
        assert checks.problems(copy.here, said) == []
        assert sum(line.echoed for line in said) > 5
        assert fake.calls("/api/generate")


# -- what the checks notice


@pytest.fixture
def lived(tmp_path):
    """A world whose Mira heard ten lines, and the lines."""
    here = Places(tmp_path / "home", tmp_path / "vault", Ports())
    here.logs.mkdir(parents=True)
    here.database.touch()
    script = SoakScript(3, 0)
    said = [SaidLine("Anneke", "Mira", *script.sentence(), echoed=True) for _ in range(10)]
    archive = Archive(here.agents / "Mira" / "archive")
    for number, line in enumerate(said, start=1):
        text = f'Anneke says to you, "{line.words}"'
        archive.append_memory(Memory(number, START, MemoryKind.PERCEPTION, text))
    archive.close()
    return here, said


def edit(here, change):
    (path,) = (here.agents / "Mira" / "archive").glob("*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    change(lines)
    path.write_text("".join(lines))


def test_what_an_archive_has_lost_or_holds_twice_is_noticed(lived):
    here, said = lived
    assert checks.problems(here, said) == []
    archive = Archive(here.agents / "Mira" / "archive")  # whoever has it open keeps it
    assert any("does not open" in each for each in checks.problems(here, said))
    archive.close()
    text = f'Anneke says to you, "{said[2].words}"'
    again = Memory(11, START, MemoryKind.PERCEPTION, text).to_record()
    edit(here, lambda lines: lines.append(json.dumps(again) + "\n"))
    found = checks.problems(here, said)
    assert f"Mira archived 2 times what Anneke said: {said[2].words}" in found
    assert "Mira archived what Anneke said in another order" in found
    edit(here, lambda lines: lines.pop(4))
    lost = f"Mira never archived what Anneke said: {said[4].words}"
    assert lost in checks.problems(here, said)
    assert any("memories 5-5 are missing" in each for each in checks.problems(here, said))
    said[4].echoed = False  # nobody was told that it was heard
    assert lost not in checks.problems(here, said)


def test_tracebacks_and_damage_are_noticed(lived):
    here, said = lived
    (here.logs / "server.log").write_text(
        "2026-01-01 [EE] Traceback (most recent call last):\n"
        '2026-01-01 [EE]   File "a.py", line 1, in b\n'
        "2026-01-01 [EE] ValueError: no\n"
    )
    here.database.write_bytes(b"no database" * 1000)
    found = checks.problems(here, said)
    assert any(re.search(r"1 tracebacks in server\.log: ValueError: no$", each) for each in found)
    assert any("evennia.db3" in each for each in found)


def test_the_seed_alone_decides_what_is_said():
    one, same, other = SoakScript(5, 1), SoakScript(5, 1), SoakScript(5, 2)
    said = [one.sentence() for _ in range(50)]
    assert said == [same.sentence() for _ in range(50)]
    assert len({tag for _, tag in said} | {other.sentence()[1] for _ in range(50)}) == 100
