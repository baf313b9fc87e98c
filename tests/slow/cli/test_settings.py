"""Evennia's settings: usable under both names, all run-time files in the home."""

import json
import subprocess
import sys
from pathlib import Path

from keepsake.paths import REPOSITORY
from tests.slow.cli.conftest import make_copy

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
    "key": len(settings.SECRET_KEY),
    "offset": datetime(2026, 1, 5, 12).astimezone().utcoffset().total_seconds() / 3600,
    "journal": pragma("journal_mode"), "synchronous": pragma("synchronous"),
    "written": [settings.LOG_DIR, settings.SERVER_LOG_FILE, settings.PORTAL_LOG_FILE,
                settings.HTTP_LOG_FILE, settings.LOCKWARNING_LOG_FILE, settings.CACHE_DIR,
                settings.STATIC_ROOT, settings.MEDIA_ROOT,
                settings.DATABASES["default"]["NAME"]],
}))
"""


def report(copy):
    copy.here.home.mkdir(exist_ok=True)
    ours = {"DJANGO_SETTINGS_MODULE": "game.server.conf.settings", "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-c", REPORT],
        cwd=REPOSITORY,
        env=copy.environ | ours,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_copy_keeps_to_its_home_its_ports_and_its_zone(tmp_path):
    plain = make_copy(tmp_path, TZ="Asia/Tokyo")
    told = report(plain)
    assert all(Path(path).is_relative_to(plain.here.home) for path in told["written"])
    assert told["telnet"] == [plain.here.ports.telnet]
    assert told["interfaces"] == ["127.0.0.1"]
    assert told["amp"] == ["127.0.0.1", plain.here.ports.amp]
    assert "*" not in told["hosts"]
    assert told["offset"] == 9
    assert (told["journal"], told["synchronous"]) == ("wal", 1)  # NORMAL: survives a power cut


def test_other_machines_reach_only_what_players_need(copy):
    copy.environ["KEEPSAKE_LISTEN"] = "0.0.0.0"
    told = report(copy)
    assert told["interfaces"] == ["0.0.0.0"]
    assert told["amp"][0] == "127.0.0.1"
    assert told["hosts"] == ["*"]
