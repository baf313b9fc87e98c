"""The zone in which agents live is the machine's, not Django's."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from game.paths import REPOSITORY
from game.server.machine_zone import FALLBACK, machine_zone
from tests.cli.conftest import make_copy

HOUR = """
import json, django
django.setup()
from datetime import datetime
print(json.dumps(datetime(2026, 1, 5, 12).astimezone().utcoffset().total_seconds() / 3600))
"""


@pytest.fixture
def nowhere(tmp_path):
    """Files that are not there."""
    return tmp_path / "localtime", tmp_path / "timezone"


def test_the_environment_comes_first(nowhere):
    assert machine_zone({"TZ": "Europe/Berlin"}, *nowhere) == "Europe/Berlin"
    assert machine_zone({"TZ": ":Asia/Tokyo"}, *nowhere) == "Asia/Tokyo"


def test_else_what_localtime_points_at(nowhere):
    localtime, timezone = nowhere
    localtime.symlink_to("/usr/share/zoneinfo/America/New_York")
    timezone.write_text("Asia/Tokyo\n")
    assert machine_zone({}, localtime, timezone) == "America/New_York"


def test_else_what_is_written_down(nowhere):
    localtime, timezone = nowhere
    localtime.write_bytes(b"TZif2")  # a copy, as on some machines: its name is not known
    timezone.write_text("Asia/Tokyo\n")
    assert machine_zone({}, localtime, timezone) == "Asia/Tokyo"


@pytest.mark.parametrize("said", ["", "Nowhere/At All", "CET-1CEST", "../../etc/passwd", "/etc"])
def test_what_is_no_zone_is_passed_over(nowhere, said):
    assert machine_zone({"TZ": said}, *nowhere) == FALLBACK


def test_the_game_lives_in_it(tmp_path):
    copy = make_copy(tmp_path)
    copy.here.home.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", HOUR],
        cwd=REPOSITORY,
        env={
            **os.environ,
            **copy.environ,
            "DJANGO_SETTINGS_MODULE": "game.server.conf.settings",
            "PYTHONPATH": str(REPOSITORY),
            "TZ": "Asia/Tokyo",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == 9
