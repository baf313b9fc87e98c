"""``keepsake index rebuild`` and ``keepsake --version``."""

from __future__ import annotations

import re
from importlib.metadata import version

from keepsake.cli import processes
from keepsake.paths import prepare
from keepsake.recall.agent_index import WORDS
from keepsake.recall.index.words import WordIndex
from tests.slow.cli.conftest import Copy
from tests.unit.llm.conftest import until


def test_the_version_is_shown(copy: Copy):
    shown = copy.keepsake("--version")
    assert shown.returncode == 0
    assert shown.stdout.strip() == f"Keepsake {version('evennia-keepsake')}"


def test_without_a_world_the_index_is_deleted_and_named(copy: Copy):
    prepare(copy.here)
    path = copy.here.index / "Mira" / WORDS
    path.parent.mkdir(parents=True)
    index = WordIndex(path)
    index.counts()
    index.close()
    assert path.exists()
    refused = copy.keepsake("index", "rebuild", "Nell")
    assert refused.returncode == 1
    assert "These have one: Mira" in " ".join(refused.stderr.split())
    assert "at the next start: Mira" in copy.keepsake("index", "rebuild", "mira").stdout
    assert not path.exists()
    assert "none" in copy.keepsake("index", "rebuild").stdout


def test_a_running_world_rebuilds_an_index_in_the_background(copy: Copy):
    assert copy.keepsake("start").returncode == 0

    def indexed(agent: str) -> int:
        found = processes.ask(copy.here, "index_status")["agents"]
        return next((each["memories"] for each in found if each["agent"] == agent), 0)

    log = copy.here.logs / "agents.log"
    until((copy.here.index / "Mira" / WORDS).exists)
    told = copy.keepsake("index", "rebuild").stdout
    assert re.search(r"in the background: Bram, .*Mira, .*Wren", " ".join(told.split()))
    assert "now, in the background: Mira" in copy.keepsake("index", "rebuild", "Mira").stdout
    until(lambda: "Rebuilding the index" in log.read_text())
    until((copy.here.index / "Mira" / WORDS).exists)
    assert indexed("Mira") >= 0
    refused = copy.keepsake("index", "rebuild", "Nobody")
    assert refused.returncode == 1
    assert "These have one: Bram" in " ".join(refused.stderr.split())
    assert copy.keepsake("stop").returncode == 0
