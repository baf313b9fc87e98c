"""A world on PostgreSQL: started, played, backed up, restored and copied by the real command.

The tests run in order on one copy.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepsake.cli import backup as backups
from keepsake.cli import processes
from keepsake.cli.processes import Component
from keepsake.database import address, database_settings
from keepsake.errors import KeepsakeError
from keepsake.paths import DATABASE_URL, places, prepare
from tests.fakes.model_server import llm_page
from tests.sentences import table
from tests.slow.cli.conftest import Copy, end, make_copy
from tests.slow.e2e.players import Player
from tests.unit.llm.conftest import until

ABSENT = "postgresql://anneke:hush@127.0.0.1:1/world"


@pytest.fixture(scope="module")
def world(database, tmp_path_factory) -> Iterator[Copy]:
    folder = tmp_path_factory.mktemp("world")
    made = make_copy(folder, **{DATABASE_URL: database("world")})
    made.here.config.mkdir(parents=True)
    page = llm_page(agent="provider=scripted", summarizer="provider=none")
    (made.here.config / "llm.md").write_text(page)
    try:
        started = made.keepsake("start")
        assert started.returncode == 0, started.stderr
        yield made
    finally:
        end(made)


def rows_of(address: str) -> dict[str, object]:
    """Return all rows of a database, and the last number of each sequence."""
    import psycopg  # noqa: PLC0415 - only with PostgreSQL

    with psycopg.connect(address) as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        ).fetchall()
        found: dict[str, object] = {}
        for (table,) in tables:
            rows = connection.execute(f'SELECT to_jsonb(t)::text FROM "{table}" t'.encode())
            found[table] = sorted(row for (row,) in rows)
        numbers = "SELECT sequencename, last_value FROM pg_sequences ORDER BY 1"
        return found | {"numbers": connection.execute(numbers).fetchall()}


def finding(copy: Copy, subject: str) -> dict[str, object]:
    told = json.loads(copy.keepsake("doctor", "--json").stdout)
    (found,) = [each for each in told if each["subject"] == subject]
    return found


def test_players_stay_connected_over_a_reload(world):
    player = Player.new(world, "Anneke")
    player.see("Here:")
    player.type("say I count twenty boats.", "I count twenty boats")
    before = processes.newest(world.here, Component.SERVER)
    reloaded = world.keepsake("reload")
    assert reloaded.returncode == 0, reloaded.stderr
    assert processes.newest(world.here, Component.SERVER) != before
    player.type("look", r"Exits|exits")
    player.leave()
    found = finding(world, "Database")
    assert found["well"], found
    assert re.search(r"PostgreSQL \d+\.\d+", found["what"])
    assert not world.here.database.exists()
    assert world.here.elsewhere.read_text().strip() == address(world.here)


def test_a_database_in_use_by_another_copy_is_refused(world, tmp_path):
    other = make_copy(tmp_path, **{DATABASE_URL: world.environ[DATABASE_URL]})
    refused = other.keepsake("start")
    assert refused.returncode == 1
    assert "is in use by another copy" in " ".join(refused.stderr.split())
    assert processes.running(other.here) == []


@pytest.fixture(scope="module")
def backup(world, tmp_path_factory) -> Path:
    """A backup of the running world."""
    file = tmp_path_factory.mktemp("backup") / "world.tar.gz"
    kept = world.keepsake("backup", str(file))
    assert kept.returncode == 0, kept.stderr
    return file


@pytest.fixture(scope="module")
def restored(backup, database, tmp_path_factory) -> Copy:
    """Another copy, with another database, into which the backup was restored."""
    folder = tmp_path_factory.mktemp("restored")
    other = make_copy(folder, **{DATABASE_URL: database("kept")})
    done = other.keepsake("restore", str(backup))
    assert done.returncode == 0, done.stderr
    return other


def test_a_backup_of_the_running_world_is_restored_into_another_database(restored):
    assert "Anneke" in str(rows_of(restored.environ[DATABASE_URL])["objects_objectdb"])
    files = restored.here.agents.glob("Mira/archive/*.jsonl")
    archive = "".join(path.read_text() for path in files)
    assert "I count twenty boats" in archive


def test_a_second_restore_is_refused_unless_it_is_to_replace_the_world(restored, backup):
    assert "--replace" in restored.keepsake("restore", str(backup)).stderr
    restored_once = rows_of(restored.environ[DATABASE_URL])
    assert restored.keepsake("restore", str(backup), "--replace").returncode == 0
    (aside,) = restored.here.home.glob("before-restore-*/database.dump")
    assert aside.read_bytes().startswith(b"PGDMP"), "the world before it is kept"
    assert rows_of(restored.environ[DATABASE_URL]) == restored_once


def test_a_restore_changes_nothing_if_the_database_refuses_the_tables(restored, backup):
    import psycopg  # noqa: PLC0415 - only with PostgreSQL

    with psycopg.connect(restored.environ[DATABASE_URL]) as connection:
        connection.execute("CREATE VIEW of_another_program AS SELECT * FROM objects_objectdb")
    before = rows_of(restored.environ[DATABASE_URL])
    with pytest.raises(KeepsakeError, match=r"pg_restore .* failed.*of_another_program"):
        backups.restore(restored.here, backup, replace=True)
    assert rows_of(restored.environ[DATABASE_URL]) == before


def test_a_copy_on_sqlite_refuses_a_backup_of_postgresql(backup, tmp_path):
    refused = make_copy(tmp_path).keepsake("restore", str(backup))
    assert refused.returncode == 1
    assert "is of a world on PostgreSQL, but this copy is not" in " ".join(refused.stderr.split())


def test_the_world_survives_closed_database_connections(world):
    import psycopg  # noqa: PLC0415 - only with PostgreSQL

    def can_speak():  # speaking queries the database
        player.look_up()
        player.line.text = ""
        player.line.send("say I am here still.")
        return player.line.wait_for("I am here still", 5.0)

    player = Player.back(world, "Anneke")
    player.see("Here:")
    with psycopg.connect(world.environ[DATABASE_URL], autocommit=True) as connection:
        cut = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchall()
    assert cut
    until(can_speak)
    player.leave()


@pytest.mark.parametrize(
    ("address", "told"), table("addresses that are none")
)  # a message about some could show the password
def test_a_wrong_address_is_refused_without_showing_its_password(address, told):
    with pytest.raises(KeepsakeError) as refused:
        places({DATABASE_URL: address})
    assert told in str(refused.value)
    assert "postgresql://user@host/database" in refused.value.cure
    assert "hush" not in str(refused.value)


def test_an_unreachable_database_is_reported_and_nothing_starts(copy):
    away = Copy({**copy.environ, DATABASE_URL: ABSENT})
    prepare(away.here)
    for told in (away.keepsake("start").stderr, json.dumps(finding(away, "Database"))):
        assert "postgresql://127.0.0.1:1/world cannot be reached" in " ".join(told.split())
        assert "createdb" in told
        assert "hush" not in told
    assert processes.running(away.here) == []


def test_no_world_starts_if_home_and_shell_name_different_databases(copy, tmp_path):
    prepare(copy.here)
    copy.here.elsewhere.write_text("postgresql://127.0.0.1:1/world\n")
    for told in (copy.keepsake("start").stderr, json.dumps(finding(copy, "Database"))):
        assert "is in postgresql://127.0.0.1:1/world, and" in " ".join(told.split())
        assert f"{DATABASE_URL} is not set" in " ".join(told.split())
    assert not copy.here.database.exists()
    copy.here.database.touch()  # as in a copy of a world, in the shell of the original
    other = Copy({**copy.environ, DATABASE_URL: ABSENT})
    for command in (["backup", str(tmp_path / "world.tar.gz")], ["start"]):
        refused = other.keepsake(*command)
        assert refused.returncode == 1
        assert f"Unset {DATABASE_URL}" in " ".join(refused.stderr.split())
    assert not (tmp_path / "world.tar.gz").exists()


def test_django_gets_all_parts_of_the_address():
    url = "postgresql://anneke:hush@db.example:6432/world?sslmode=require"
    given = database_settings(places({DATABASE_URL: url}))
    assert [given[key] for key in ("USER", "PASSWORD", "HOST", "PORT", "NAME")] == [
        "anneke",
        "hush",
        "db.example",
        "6432",
        "world",
    ]
    assert given["OPTIONS"]["sslmode"] == "require"
    assert address(places({DATABASE_URL: url})) == "postgresql://db.example:6432/world"
