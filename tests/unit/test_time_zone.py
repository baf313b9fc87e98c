"""Tests see the same hours on every machine."""

from __future__ import annotations

import os
import subprocess
import sys

ASKED = "import tests.conftest, time; print(*time.tzname, time.localtime(0).tm_hour)"


def test_tests_do_not_live_by_the_zone_of_the_machine():
    asked = [sys.executable, "-c", ASKED]
    elsewhere = {**os.environ, "TZ": "Pacific/Auckland"}
    told = subprocess.run(asked, env=elsewhere, capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["UTC", "UTC", "0"]
