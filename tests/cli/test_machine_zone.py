"""The zone in which agents live is the machine's, not Django's."""

from __future__ import annotations

import pytest

from game.server.machine_zone import FALLBACK, machine_zone


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
