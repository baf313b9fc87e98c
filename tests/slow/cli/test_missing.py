"""A start refuses a vault or a database that has gone, instead of beginning anew in silence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.slow.cli.conftest import Copy, end, make_copy
from tests.slow.e2e.players import Player


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    """A world that has run, and is stopped."""
    made = make_copy(tmp_path_factory.mktemp("missing"))
    try:
        assert made.keepsake("start").returncode == 0
        assert made.keepsake("stop").returncode == 0
        yield made
    finally:
        end(made)


def told(copy: Copy, *arguments: str) -> str:
    refused = copy.keepsake("start", *arguments)
    assert refused.returncode == 1, refused.stdout
    return " ".join(refused.stderr.split())


def test_a_vault_without_any_known_agent_is_refused(stopped):
    here = stopped.here
    away = here.vault.rename(here.vault.with_name("unmounted"))
    index = sorted(path.name for path in here.index.iterdir())
    here.vault.mkdir()
    said = told(stopped)
    assert "no memory of Bram, Joss, Mira, Nell, Oswin, Ruan, Wren" in said
    assert "--new-vault" in said
    assert not list(here.agents.glob("*/archive"))
    assert sorted(path.name for path in here.index.iterdir()) == index
    shutil.rmtree(here.vault)
    away.rename(here.vault)


def test_one_missing_folder_leaves_its_agent_unopened_until_it_is_back(stopped):
    here = stopped.here
    away = (here.agents / "Wren").rename(here.vault / "wren-unmounted")
    before = sorted(path.name for path in (away / "archive").iterdir())
    try:
        assert stopped.keepsake("start").returncode == 0
        findings = json.loads(stopped.keepsake("doctor", "--json").stdout)
        (found,) = (each for each in findings if each["subject"] == "Memories")
        assert not found["well"]
        assert "Wren" in found["what"]
        assert "--new-vault" in found["cure"]
        admin = Player.admin(stopped)
        admin.see(r"Exits|exits")
        admin.type("@agent", "Wren .*no memory", "Ruan")
        admin.type("@agent/memories Wren", "Its memory is missing")
        admin.leave()
        assert not (here.agents / "Wren").exists()
        assert stopped.keepsake("stop").returncode == 0
    finally:
        away.rename(here.agents / "Wren")
    assert sorted(path.name for path in (here.agents / "Wren" / "archive").iterdir()) == before


def test_new_memories_begin_when_somebody_asks_for_them(stopped):
    here = stopped.here
    away = (here.agents / "Wren").rename(here.vault / "wren-lost")
    assert stopped.keepsake("start", "--new-vault").returncode == 0
    findings = json.loads(stopped.keepsake("doctor", "--json").stdout)
    assert all(each["well"] for each in findings if each["subject"] == "Memories")
    assert (here.agents / "Wren" / "memory_id").read_text() != (away / "memory_id").read_text()
    assert stopped.keepsake("stop").returncode == 0


@pytest.mark.parametrize(
    ("content", "reason"), [(b"", "is empty"), (None, "is missing"), (b"x" * 9000, "is damaged")]
)
def test_a_database_that_cannot_be_used_is_refused(stopped, content, reason):
    here = stopped.here
    kept = here.database.rename(here.home / "kept.db3")
    aside: list[Path] = []
    for end_ in ("-wal", "-shm"):
        if (path := here.database.with_name(here.database.name + end_)).exists():
            aside.append(path.rename(here.home / f"kept{end_}"))
    try:
        if content is not None:
            here.database.write_bytes(content)
        said = told(stopped)
        assert reason in said
        assert "keepsake restore" in said
        assert "Traceback" not in said
        finding = json.loads(stopped.keepsake("doctor", "--json").stdout)
        (found,) = (each for each in finding if each["subject"] == "Database")
        assert reason in found["what"]
    finally:
        kept.replace(here.database)
        for path in aside:
            path.rename(here.database.with_name(here.database.name + path.name[4:]))
