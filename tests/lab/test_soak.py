"""The soak of a world: run for real, and shown to notice what it is there to notice."""

import json
from itertools import islice
from pathlib import Path

import pytest

from game.cli.world.processes import Component
from game.lab.soak import checks
from game.lab.soak.plan import PlannedFault, SoakPlan, SoakScript
from game.lab.soak.players import SaidLine
from game.lab.soak.world import Sample
from keepsake.archive.log import Archive
from keepsake.archive.records import Memory, MemoryKind
from keepsake.paths import Places, Ports
from tests.cli.conftest import make_copy
from tests.free_ports import free_base
from tests.mind.acquaintances import START


def test_a_world_outlives_kills_and_a_faulty_model(tmp_path):
    """The soak takes the first free ports beyond those of the world that it is asked from."""
    beside = make_copy(tmp_path, KEEPSAKE_PORT_BASE=str(free_base() - 10), TMPDIR=str(tmp_path))
    options = ("--minutes", "0.2", "--kills", "2", "--seed", "11")
    done = beside.process("soak", *options, "--json", str(tmp_path / "report.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["problems"] == []
    assert 0 < report["archived"] == report["echoed"] <= report["said"]
    assert report["archived"] <= report["heard"] <= report["memories"]
    assert report["kills"] == {"server": 1, "vectors": 1}
    # The first is mended by the Portal: no start came after it, and the players stayed.
    assert {name: len(found["each"]) for name, found in report["recovery"].items()} == {
        "server": 1,
        "vectors": 1,
        "world": 1,
    }
    assert report["model_calls"] > 0
    assert list(tmp_path.glob("keepsake-soak-*")) == []


def test_the_seed_alone_decides_what_is_said_and_what_breaks():
    for seed in range(20):
        plan = SoakPlan(10, seed, 30, clock_jumps=True)
        assert plan == SoakPlan(10, seed, 30, clock_jumps=True)
        kills = list(plan.kill_times())
        assert kills == list(SoakPlan(10, seed, 30).kill_times())
        assert plan.fault_times()[-1][1] is PlannedFault.WELL
        assert plan.jump_times()[-1][1] == 0
        times = [each.at for each in kills]
        assert times == sorted(times)
        assert kills[0].component is Component.SERVER
        mine, same, other = SoakScript(seed, 1), SoakScript(seed, 1), SoakScript(seed, 2)
        said = [mine.sentence() for _ in range(50)]
        assert said == [same.sentence() for _ in range(50)]
        tags = {tag for _, tag in said} | {other.sentence()[1] for _ in range(50)}
        assert len(tags) == 100


def test_with_a_pause_kills_come_without_end_in_an_order_of_their_own():
    """On a small disk some Servers come up with a vault that cannot be written."""
    plan = SoakPlan(10, 5, 0, pause=3.0, embedded=True, small_disk=Path("/small"))
    kills = list(islice(plan.kill_times(), 200))
    assert kills == list(islice(plan.kill_times(), 200))
    assert {each.component for each in kills} == set(Component)
    read_only = [each for each in kills if each.read_only]
    assert {each.component for each in read_only} == {Component.SERVER}
    assert 5 < len(read_only) < 20
    assert sum(each.twice for each in kills) in range(5, 20)
    pauses = list(islice(plan.pauses(), 200))
    assert 1.5 <= min(pauses) < max(pauses) <= 4.5
    assert Component.MODEL not in {each.component for each in SoakPlan(10, 5, 90).kill_times()}


@pytest.fixture
def lived(tmp_path):
    """A world whose Mira heard ten lines, and the lines."""
    here = Places(tmp_path / "home", tmp_path / "vault", Ports())
    script = SoakScript(3, 0)
    said = [SaidLine("Anneke", "Mira", *script.sentence(), echoed=True) for _ in range(10)]
    archive = Archive(here.agents / "Mira" / "archive")
    for number, line in enumerate(said, start=1):
        text = f'Anneke says to you, "{line.words}"'
        archive.append_memory(Memory(number, START, MemoryKind.PERCEPTION, text))
    archive.close()
    return here, said


def problems(here, said):
    heard, _, found = checks.archive_problems(here)
    return [*found, *checks.line_problems(said, heard), *checks.order_problems(said, heard)]


def edit(here, change):
    (path,) = (here.agents / "Mira" / "archive").glob("*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    change(lines)
    path.write_text("".join(lines))


def test_what_an_archive_has_lost_holds_twice_or_keeps_to_itself_is_reported(lived):
    here, said = lived
    assert problems(here, said) == []
    archive = Archive(here.agents / "Mira" / "archive")  # whoever has it open keeps it
    assert any("does not open" in each for each in problems(here, said))
    archive.close()
    text = f'Anneke says to you, "{said[2].words}"'
    again = Memory(11, START, MemoryKind.PERCEPTION, text).to_record()
    edit(here, lambda lines: lines.append(json.dumps(again) + "\n"))
    found = problems(here, said)
    assert f"Mira archived 2 times what Anneke said: {said[2].words}" in found
    assert "Mira archived what Anneke said in another order" in found
    edit(here, lambda lines: lines.pop(4))
    assert f"Mira never archived what Anneke said: {said[4].words}" in problems(here, said)
    assert any("memories 5-5 are missing" in each for each in problems(here, said))
    said[4].echoed = False  # nobody was told that it was heard
    assert not any("never" in each for each in problems(here, said))


def test_tracebacks_growth_and_damage_are_reported(lived):
    here, _ = lived
    here.logs.mkdir(parents=True)
    (here.logs / "server.log").write_text(
        "2026-01-01 [EE] Traceback (most recent call last):\n"
        '2026-01-01 [EE]   File "a.py", line 1, in b\n'
        "2026-01-01 [EE] ValueError: no\n"
    )
    (found,) = checks.log_problems(here)
    assert found.endswith("server.log: ValueError: no")
    here.database.write_bytes(b"no database" * 1000)
    assert any("evennia.db3" in each for each in checks.store_problems(here))
    steady = [Sample(at, 1, 40.0 + at, 300_000_000, 80) for at in (0.0, 60.0)]
    assert list(checks.growth_problems(steady)) == []
    grown = [Sample(0.0, 1, 40.0, 300_000_000, 80), Sample(60.0, 1, 100.0, 500_000_000, 200)]
    assert len(list(checks.growth_problems(grown))) == 2
    restarted = [grown[0], Sample(60.0, 2, 100.0, 500_000_000, 200)]
    assert list(checks.growth_problems(restarted)) == []


def test_a_large_disk_is_not_filled(tmp_path):
    done = make_copy(tmp_path).process("soak", "--small-disk", str(tmp_path))
    if "on a disk of" not in done.stderr:
        pytest.skip("the temporary folder is on a small disk")
    assert done.returncode == 1
    assert "mount -t tmpfs" in done.stderr


def test_kills_are_counted_or_as_many_as_fit(tmp_path):
    done = make_copy(tmp_path).process("soak", "--kills", "3", "--pause", "2")
    assert done.returncode == 1
    assert "Leave one out" in done.stderr
