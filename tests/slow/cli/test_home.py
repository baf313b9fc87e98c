"""The folders of a copy, its lock, ports, secrets, settings and processes."""

import json
import os
import re
import socket
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from keepsake.cli import processes
from keepsake.cli.world import keep_zone
from keepsake.errors import KeepsakeError
from keepsake.paths import (
    REPOSITORY,
    SHIPPED_CONFIG,
    ZONE_FILE,
    earlier_zones,
    exposed,
    kept_zone,
    places,
    prepare,
    protect,
    read_or_create,
    time_zone,
    world_zone,
)
from tests.sentences import table
from tests.slow.cli.conftest import make_copy

SLEEP = "import time; print('up', flush=True); time.sleep(600)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"


def here_in(tmp_path):
    return places(
        {"KEEPSAKE_HOME": str(tmp_path / "home"), "KEEPSAKE_VAULT": str(tmp_path / "vault")}
    )


@pytest.mark.parametrize(("environ", "cure"), table("environments that cannot be"))
def test_wrong_environment_variables_are_refused_with_the_cure(environ, cure):
    with pytest.raises(KeepsakeError, match=cure):
        places(environ)


@pytest.mark.parametrize("given", ["VIL-11:35", "CET-1CEST", "Europe/Nowhere"])
def test_a_time_zone_without_a_name_is_refused_with_the_cure(given):
    with pytest.raises(KeepsakeError, match=f"TZ is '{given}'.*such as Europe/Berlin"):
        time_zone({"TZ": given})


@pytest.mark.parametrize("given", ["Asia/Tokyo", ":Asia/Tokyo", "/usr/share/zoneinfo/Asia/Tokyo"])
def test_a_time_zone_is_known_by_its_name(given):
    assert time_zone({"TZ": given}) == "Asia/Tokyo"


def test_a_world_keeps_its_time_zone_on_another_machine(tmp_path):
    agents = here_in(tmp_path).agents
    assert world_zone(agents, {}) == time_zone({})
    agents.mkdir(parents=True)
    (agents / ZONE_FILE).write_text("Asia/Tokyo\n")
    assert world_zone(agents, {}) == "Asia/Tokyo"
    assert world_zone(agents, {"TZ": "Europe/Berlin"}) == "Europe/Berlin"
    (agents / ZONE_FILE).write_text("../../etc/passwd\n")
    assert world_zone(agents, {}) == time_zone({}), "no zone: the machine's"


def test_a_start_notes_the_time_zone_and_says_when_it_is_another(tmp_path, monkeypatch):
    here = here_in(tmp_path)
    machine = time_zone({})
    zone, other = [z for z in ("Asia/Tokyo", "Europe/Berlin", "Asia/Dubai") if z != machine][:2]
    told: list[str] = []
    monkeypatch.setenv("TZ", zone)
    keep_zone(here, told.append)
    monkeypatch.delenv("TZ")
    keep_zone(here, told.append)
    assert kept_zone(here.agents) == zone
    said = f"The world lives by {zone}; this machine's zone is {machine}. TZ sets another"
    assert told == [said, said]
    monkeypatch.setenv("TZ", other)
    keep_zone(here, told.append)
    assert f"what agents remember speaks of hours of {zone}" in told[-1]
    assert kept_zone(here.agents) == other
    assert [name for name, _ in earlier_zones(here.agents)] == [zone]
    monkeypatch.setenv("TZ", zone)
    keep_zone(here, told.append)
    assert kept_zone(here.agents) == zone
    assert [name for name, _ in earlier_zones(here.agents)] == [zone, other]


def test_a_damaged_file_of_the_time_zone_names_none(tmp_path):
    (tmp_path / ZONE_FILE).write_text("Asia/Tokyo\nNowhere until 2026-05-01\nUTC until noon\n\n")
    assert kept_zone(tmp_path) == "Asia/Tokyo"
    assert earlier_zones(tmp_path) == []
    (tmp_path / ZONE_FILE).write_text("Nowhere")
    assert kept_zone(tmp_path) == ""


def test_a_vault_gets_the_shipped_configuration_and_keeps_existing_files(tmp_path, monkeypatch):
    here = here_in(tmp_path)
    here.config.mkdir(parents=True)
    mine = here.config / "memory_compaction.md"
    mine.write_text("**immediate_window**: 5\n")

    def fail_halfway(source, target):
        target.write_bytes(source.read_bytes()[:10])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("keepsake.shipped_config.shutil.copyfile", fail_halfway)
        with pytest.raises(KeepsakeError, match=r"No space left on device.*Free some"):
            prepare(here)
    prepare(here)
    shipped = {path.name: path.read_text() for path in SHIPPED_CONFIG.glob("*.md")}
    there = {path.name: path.read_text() for path in here.config.glob("*.md")}
    assert there == shipped | {mine.name: "**immediate_window**: 5\n"}


def test_only_one_command_runs_on_a_home(tmp_path):
    here = here_in(tmp_path)
    with (
        processes.command_lock(here),
        pytest.raises(KeepsakeError, match="Another keepsake command"),
        processes.command_lock(here),
    ):
        pass
    with processes.command_lock(here):
        pass


def test_a_secret_is_created_once_and_readable_by_its_owner_alone(tmp_path):
    path = tmp_path / "home" / "secret"
    with ThreadPoolExecutor(8) as many:
        found = set(many.map(lambda _: read_or_create(path, nbytes=24), range(16)))
    assert found == {path.read_text().strip()}
    path.chmod(0o644)
    read_or_create(path, nbytes=24)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (tmp_path / "file").touch()
    with pytest.raises(KeepsakeError, match="KEEPSAKE_HOME"):
        read_or_create(tmp_path / "file" / "secret", nbytes=24)


def test_open_permissions_are_reported_and_mended(copy):
    here = copy.here
    prepare(here)
    here.database.touch()
    mended = {here.home: 0o700, here.database: 0o700, here.agents: 0o750}
    for path in mended:
        path.chmod(0o755)
    assert {path for path, _ in exposed(here)} == set(mended)
    assert "chmod go-rwx" in copy.keepsake("doctor").stdout
    protect(here)
    assert {path: stat.S_IMODE(path.stat().st_mode) for path in mended} == mended
    assert not exposed(here)


def test_a_port_in_use_is_reported_with_its_holder_and_a_free_base(copy):
    assert processes.taken_ports(copy.here) == []
    with socket.create_server(("127.0.0.1", copy.here.ports.web)):
        refused = copy.keepsake("start")
    assert refused.returncode == 1
    told = " ".join(refused.stderr.split())
    assert f"Port {copy.here.ports.web} (web) on 127.0.0.1 is in use" in told
    assert f"(process {os.getpid()})" in told
    base = re.search(r"KEEPSAKE_PORT_BASE=(\d+)", told)[1]
    assert processes.taken_ports(places(copy.environ | {"KEEPSAKE_PORT_BASE": base})) == []
    assert not copy.here.database.exists()


@contextmanager
def child(*arguments, code=SLEEP):
    with subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE) as it:
        try:
            it.stdout.readline()
            yield it
        finally:
            it.kill()


def test_a_process_with_a_reused_pid_is_left_alone(copy):
    with child() as stranger:
        copy.here.home.mkdir()
        copy.here.server_pid.write_text(str(stranger.pid))
        copy.here.model_pid.write_text(str(stranger.pid))
        assert processes.running(copy.here) == []
        assert "was not running" in copy.keepsake("stop").stdout
        assert stranger.poll() is None
        assert not copy.here.server_pid.exists()
        assert not copy.here.model_pid.exists()


def test_stop_ends_a_leftover_model_server_and_kills_a_deaf_process(copy):
    with child(f"--pid-file={copy.here.model_pid}") as model:
        assert "Keepsake has stopped." in copy.keepsake("stop").stdout
        model.wait(60)
    with child(f"--pidfile={copy.here.portal_pid}", code=DEAF) as deaf:
        processes.end(processes.running(copy.here), patience=0.3)
        deaf.wait(60)


def test_without_a_world_the_command_says_what_to_do(copy):
    asked = copy.process("reload")
    assert (asked.returncode, asked.stdout) == (1, "")
    assert asked.stderr.strip() == "Keepsake is not running here. Start it with `make run`"
    status = copy.keepsake("status", "--json")
    assert (status.returncode, json.loads(status.stdout)["ready"]) == (1, False)


def test_nothing_starts_on_a_full_disk_and_the_cure_is_said(copy):
    prepare(copy.here)
    (copy.here.home / ".room").symlink_to("/dev/full")
    refused = copy.keepsake("start")
    assert refused.returncode == 1
    assert "has no room for the files of a start (No space left on device)" in refused.stderr
    assert "Free some disk space, or set KEEPSAKE_HOME to" in refused.stderr
    assert not copy.here.database.exists(), "Evennia's launcher was not run"
    assert sorted(each.name for each in copy.here.home.glob(".room")) == []


# -- Evennia's settings: all files that a run writes are in the home


REPORT = """
import json, django
django.setup()
from datetime import datetime
from django.conf import settings
from django.db import connection
def pragma(name):
    return connection.cursor().execute(f"PRAGMA {name}").fetchone()[0]
print(json.dumps({
    "telnet": settings.TELNET_PORTS, "interfaces": settings.TELNET_INTERFACES,
    "amp": [settings.AMP_INTERFACE, settings.AMP_PORT],
    "hosts": settings.ALLOWED_HOSTS,
    "offset": datetime(2026, 1, 5, 12).astimezone().utcoffset().total_seconds() / 3600,
    "journal": pragma("journal_mode"), "synchronous": pragma("synchronous"),
    "written": [settings.LOG_DIR, settings.SERVER_LOG_FILE, settings.PORTAL_LOG_FILE,
                settings.HTTP_LOG_FILE, settings.LOCKWARNING_LOG_FILE, settings.CACHE_DIR,
                settings.STATIC_ROOT, settings.MEDIA_ROOT,
                settings.DATABASES["default"]["NAME"]],
}))
"""


@pytest.mark.parametrize("listen", ["127.0.0.1", "0.0.0.0"])
def test_a_copy_uses_its_own_home_ports_and_time_zone(tmp_path, listen):
    copy = make_copy(tmp_path, TZ="Asia/Tokyo", KEEPSAKE_LISTEN=listen)
    copy.here.home.mkdir()
    ours = {"DJANGO_SETTINGS_MODULE": "game.server.conf.settings", "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", REPORT]
    environ = copy.environ | ours
    told = json.loads(subprocess.check_output(command, cwd=REPOSITORY, env=environ))
    assert all(Path(path).is_relative_to(copy.here.home) for path in told["written"])
    assert told["telnet"] == [copy.here.ports.telnet]
    assert told["interfaces"] == [listen]
    assert told["amp"] == ["127.0.0.1", 0], "no port: a Unix socket in the home"
    assert ("*" in told["hosts"]) == (listen == "0.0.0.0")
    assert told["offset"] == 9
    assert (told["journal"], told["synchronous"]) == ("wal", 1)  # NORMAL: survives a power cut
