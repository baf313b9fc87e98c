"""The machine's own time zone, by its name.

Django puts the whole process into the zone of its settings, which is UTC unless they say
otherwise. Agents live by the clock on the wall: they sleep at night, and a day of their journal
is a day there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

FALLBACK = "UTC"
_ZONES = Path("/usr/share/zoneinfo")


def machine_zone(
    environ: Mapping[str, str],
    localtime: Path = Path("/etc/localtime"),
    timezone: Path = Path("/etc/timezone"),
) -> str:
    """The name of the zone, such as ``Europe/Berlin``; UTC where the machine does not say."""
    return next(filter(_is_zone, _named(environ, localtime, timezone)), FALLBACK)


def _named(environ: Mapping[str, str], localtime: Path, timezone: Path) -> Iterator[str]:
    yield environ.get("TZ", "").removeprefix(":")
    yield str(localtime.resolve()).partition("zoneinfo/")[2]
    try:
        yield timezone.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return


def _is_zone(name: str) -> bool:
    """Whether Python knows it, and Django, which looks for a file of that name."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return not _ZONES.is_dir() or (_ZONES / name).is_file()
