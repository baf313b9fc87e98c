"""Evennia's settings: usable under both names, all run-time files in the home."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

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
    "offset": datetime(2026, 1, 5, 12).astimezone().utcoffset().total_seconds() / 3600,
    "journal": pragma("journal_mode"), "synchronous": pragma("synchronous"),
    "written": [settings.LOG_DIR, settings.SERVER_LOG_FILE, settings.PORTAL_LOG_FILE,
                settings.HTTP_LOG_FILE, settings.LOCKWARNING_LOG_FILE, settings.CACHE_DIR,
                settings.STATIC_ROOT, settings.MEDIA_ROOT,
                settings.DATABASES["default"]["NAME"]],
}))
"""


@pytest.mark.parametrize("listen", ["127.0.0.1", "0.0.0.0"])
def test_a_copy_keeps_to_its_home_its_ports_and_its_zone(tmp_path, listen):
    copy = make_copy(tmp_path, TZ="Asia/Tokyo", KEEPSAKE_LISTEN=listen)
    copy.here.home.mkdir()
    ours = {"DJANGO_SETTINGS_MODULE": "game.server.conf.settings", "PYTHONPATH": str(REPOSITORY)}
    command, environ = [sys.executable, "-c", REPORT], copy.environ | ours
    told = json.loads(subprocess.check_output(command, cwd=REPOSITORY, env=environ))
    assert all(Path(path).is_relative_to(copy.here.home) for path in told["written"])
    assert told["telnet"] == [copy.here.ports.telnet]
    assert told["interfaces"] == [listen]
    assert told["amp"] == ["127.0.0.1", copy.here.ports.amp]
    assert ("*" in told["hosts"]) == (listen == "0.0.0.0")
    assert told["offset"] == 9
    assert (told["journal"], told["synchronous"]) == ("wal", 1)  # NORMAL: survives a power cut
