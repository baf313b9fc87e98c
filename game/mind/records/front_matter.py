"""What stands between the two `---` at the head of a markdown file."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any

FRONT = re.compile(r"\A---[ \t]*\r?\n(?P<head>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def time_of(given: Any, default: datetime | None) -> datetime:
    """A time with time zone, UTC if it names none; ``default`` for None.

    Raises:
        ValueError: It is no time.
    """
    if isinstance(given, str):
        given = datetime.fromisoformat(given)
    if isinstance(given, date) and not isinstance(given, datetime):
        given = datetime(given.year, given.month, given.day, tzinfo=UTC)
    given = default if given is None else given
    if not isinstance(given, datetime):
        raise ValueError(f"{given!r} is no time")
    return given if given.tzinfo else given.replace(tzinfo=UTC)
