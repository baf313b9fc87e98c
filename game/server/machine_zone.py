"""The machine's own time zone, by its name.

Django puts the whole process into the zone of its settings. Agents live by the clock on the wall:
they sleep at night, and a day of their journal is a day there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FALLBACK = "UTC"
_ZONES = Path("/usr/share/zoneinfo")


def machine_zone(environ: Mapping[str, str], localtime: Path = Path("/etc/localtime")) -> str:
    """The name of the zone, such as ``Europe/Berlin``; UTC where the machine does not say."""
    named = (environ.get("TZ", "").removeprefix(":"), str(localtime.resolve()))
    zones = (each.rpartition("zoneinfo/")[2] for each in named)
    return next((each for each in zones if each and _is_zone(each)), FALLBACK)


def _is_zone(name: str) -> bool:
    """Whether there is a file of that name, as Django looks for it."""
    path = (_ZONES / name).resolve()
    return path.is_file() and path.is_relative_to(_ZONES.resolve())
